#include "watcher/fail_closed/registration.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/fake_clock.h"

namespace mindgate::watcher::fail_closed {
namespace {

using json::Json;
using kube::Reason;
using kube::testing::AccessTo;
using kube::testing::FakeApiServer;
using kube::testing::FakeSleeper;
using kube::testing::StatusAnswer;
using kube::testing::When;
namespace resources = kube::resources;

const When kProbe = {.method = "POST", .target_part = "/configmaps?"};

// A configuration as the chart registers it: two webhooks are to fail closed, one is not.
struct RegistrationFixture : ::testing::Test {
  mindgate::testing::FakeClock clock;
  FakeApiServer server{{.clock = &clock}};
  std::vector<std::string> lines;
  log::Logger logger{log::Format::kText, log::Level::kInfo, clock,
                     [this](std::string_view line) { lines.emplace_back(line); }};
  FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};
  LeaderClient leader{client, Term(clock.WallNow(), [] { return true; }, {})};
  Registration registration{logger, "mindgate-system", {{"mindgate"}, {"mindgate"}}};

  RegistrationFixture() {
    server.Put(resources::kNamespaces, {{"metadata", {{"name", "mindgate-system"}}}});
    PutConfiguration("pods.example,jobs.example");
  }

  void PutConfiguration(const std::string& fail_closed) {
    Json metadata = {{"name", "mindgate"}};
    if (!fail_closed.empty()) {
      metadata["annotations"] = {{"mindgate.io/fail-closed", fail_closed}};
    }
    Json webhooks = Json::array();
    for (const char* name : {"pods.example", "jobs.example", "services.example"}) {
      webhooks.push_back({{"name", name}, {"failurePolicy", "Ignore"}, {"sideEffects", "None"}});
    }
    server.Put(resources::kValidatingWebhooks,
               {{"metadata", std::move(metadata)}, {"webhooks", std::move(webhooks)}});
  }

  // As the API server answers for a webhook that denies.
  void WebhookAnswers() {
    server.AnswerNext(1, kProbe,
                      StatusAnswer(403, "Forbidden",
                                   "admission webhook \"probe.validate.mindgate.io\" denied the "
                                   "request: mindgate answers"));
  }
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
  const auto probes = server.Requests(kProbe);
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
  Json closed = server.Find(resources::kValidatingWebhooks, "", "mindgate");
  for (Json& webhook : closed.at("webhooks")) webhook["failurePolicy"] = "Fail";
  server.Put(resources::kValidatingWebhooks, closed);
  server.ForgetRequests();
  EXPECT_EQ(registration.Reconcile(leader), true);
  EXPECT_EQ(server.Count({.method = "POST"}) + server.Count({.method = "PATCH"}), 0U);
}

TEST_F(RegistrationFixture, WithoutTheAnnotationIgnoreStays) {
  PutConfiguration("");
  EXPECT_EQ(registration.Reconcile(leader), true);
  EXPECT_EQ(server.Count(kProbe) + server.Count({.method = "PATCH"}), 0U);
}

// A policy, a quota or another webhook that refuses the dry run says nothing about this webhook.
TEST_F(RegistrationFixture, WhatOthersRefuseIsNoAnswer) {
  for (const char* message :
       {"admission webhook \"validate.example\" denied the request: no",
        "configmaps \"mindgate-probe\" is forbidden: exceeded quota: one",
        "failed calling webhook \"probe.validate.mindgate.io\": context deadline exceeded"}) {
    server.AnswerNext(1, kProbe, StatusAnswer(403, "Forbidden", message));
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
