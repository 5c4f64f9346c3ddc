#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "watcher/fail_closed/controller.h"
#include "watcher/fail_closed/fixture.h"

namespace mindgate::watcher::fail_closed {
namespace {

using json::Json;
using kube::Reason;
using kube::testing::StatusAnswer;
namespace resources = kube::resources;

struct RegistrationFixture : ::testing::Test, OpenRegistration {
  LeaderClient leader{client, Term(clock.WallNow(), [] { return true; }, {})};
  Registration registration{logger, "mindgate-system", webhooks};

  // The failurePolicy of each webhook that was applied, by name, one call after the other.
  std::vector<Json> Applied() {
    std::vector<Json> calls;
    for (const auto& request : server.Requests({.method = "PATCH"})) {
      Json policies = Json::object();
      const Json body = Json::parse(request.body);
      for (const Json& webhook : body.at("webhooks")) {
        policies[webhook.at("name").get<std::string>()] = webhook.at("failurePolicy");
      }
      calls.push_back(std::move(policies));
    }
    return calls;
  }
};

TEST_F(RegistrationFixture, NothingIsChangedBeforeTheWebhookAnswers) {
  EXPECT_EQ(registration.Reconcile(leader), false);
  EXPECT_EQ(Applied(), std::vector<Json>());
  const auto probes = server.Requests(Probe());
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_NE(probes[0].target.find("dryRun=All"), std::string::npos) << probes[0].target;
  EXPECT_EQ(server.size(resources::kConfigMaps), 0U);
}

TEST_F(RegistrationFixture, AnAnswerClosesWhatIsToFailClosed) {
  WebhookAnswers();
  EXPECT_EQ(registration.Reconcile(leader), true);
  // The second call gives the fields up, and leaves their default.
  EXPECT_EQ(Applied(), (std::vector<Json>{{{"jobs.example", "Fail"}, {"pods.example", "Fail"}},
                                          Json::object()}));
}

// Once Fail, a webhook that does not answer is what failurePolicy is for.
TEST_F(RegistrationFixture, WhatFailsClosedIsNotAskedAgain) {
  WebhookAnswers();
  ASSERT_EQ(registration.Reconcile(leader), true);
  Put("Fail", "pods.example,jobs.example");
  server.ForgetRequests();
  EXPECT_EQ(registration.Reconcile(leader), true);
  EXPECT_EQ(server.Count({.method = "POST"}) + server.Count({.method = "PATCH"}), 0U);
}

TEST_F(RegistrationFixture, WithoutTheAnnotationIgnoreStays) {
  Put("Ignore", "");
  EXPECT_EQ(registration.Reconcile(leader), true);
  EXPECT_EQ(server.Count(Probe()) + server.Count({.method = "PATCH"}), 0U);
}

// A policy, a quota or another webhook that refuses the dry run says nothing about this webhook.
TEST_F(RegistrationFixture, WhatOthersRefuseIsNoAnswer) {
  for (const char* message :
       {"admission webhook \"validate.example\" denied the request: no",
        "configmaps \"mindgate-probe\" is forbidden: exceeded quota: one",
        "failed calling webhook \"probe.validate.mindgate.io\": context deadline exceeded"}) {
    server.AnswerNext(1, Probe(), StatusAnswer(403, "Forbidden", message));
    const auto closed = registration.Reconcile(leader);
    ASSERT_FALSE(closed) << message;
    EXPECT_EQ(closed.error().reason, Reason::kForbidden);
  }
  EXPECT_EQ(Applied(), std::vector<Json>());
}

TEST_F(RegistrationFixture, AFaultOfOneConfigurationLeavesTheOther) {
  server.Forbid("get", "mutatingwebhookconfigurations");
  WebhookAnswers();
  EXPECT_FALSE(registration.Reconcile(leader));
  EXPECT_EQ(Applied().size(), 2U);
}

}  // namespace
}  // namespace mindgate::watcher::fail_closed
