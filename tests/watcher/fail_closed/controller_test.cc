#include "watcher/fail_closed/controller.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/eventually.h"
#include "watcher/fail_closed/fixture.h"

namespace mindgate::watcher::fail_closed {
namespace {

using mindgate::testing::Eventually;

struct ControllerFixture : ::testing::Test, OpenRegistration {
  std::atomic<bool> leading = true;
  Controller controller{client,
                        clock,
                        logger,
                        {.ns = "mindgate-system",
                         .webhooks = webhooks,
                         .term = [this]() -> std::optional<Term> {
                           if (!leading) return std::nullopt;
                           return Term(clock.WallNow(), [this] { return leading.load(); }, {});
                         },
                         .seed = 1}};
  // Last: it ends first.
  std::jthread thread{[this](const std::stop_token& stop) { controller.Run(stop); }};

  bool BecomesUnready(const std::string& why) {
    return Eventually([&] { return controller.unready() == why; });
  }
};

const std::string kUnanswered = "the API server has had no answer from the webhook yet";

TEST_F(ControllerFixture, IsNotReadyBeforeTheWebhookAnswers) {
  ASSERT_TRUE(BecomesUnready(kUnanswered));
  ASSERT_TRUE(server.WaitForRequests(Probe(), 2)) << "it asks again";
  WebhookAnswers();
  EXPECT_TRUE(BecomesUnready(""));
  EXPECT_EQ(server.Count({.method = "PATCH"}), 2U);
}

TEST_F(ControllerFixture, AReplicaThatNoLongerLeadsIsReady) {
  ASSERT_TRUE(BecomesUnready(kUnanswered));
  leading = false;
  controller.EnqueueAll();
  EXPECT_TRUE(BecomesUnready(""));
}

TEST_F(ControllerFixture, WhatCannotBeReadIsTriedAgain) {
  server.Forbid("get", "validatingwebhookconfigurations");
  ASSERT_TRUE(BecomesUnready("failurePolicy cannot be set to Fail"));
  server.AllowAll();
  WebhookAnswers();
  EXPECT_TRUE(BecomesUnready(""));
}

}  // namespace
}  // namespace mindgate::watcher::fail_closed
