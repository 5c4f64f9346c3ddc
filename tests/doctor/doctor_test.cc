#include "doctor/doctor.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/fake_clock.h"

namespace mindgate::doctor {
namespace {

using kube::testing::AccessTo;
using kube::testing::FakeApiServer;
using kube::testing::FakePauser;
namespace resources = kube::resources;
using Json = nlohmann::json;

// The end-to-end tests break real installations; here is what a cluster seldom shows.
struct DoctorFixture : ::testing::Test {
  mindgate::testing::FakeClock clock;
  FakeApiServer server{{.clock = &clock}};
  FakePauser pauser;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, pauser, {.retries = 0}};

  std::vector<std::string> Findings(Status status) {
    std::vector<std::string> texts;
    const Report report = Diagnose(client, {}, clock.WallNow());
    for (const Finding& finding : report.findings()) {
      if (finding.status == status) texts.push_back(finding.check + ": " + finding.message);
      const bool wrong = finding.status == Status::kFailed || finding.status == Status::kWarning;
      EXPECT_TRUE(!wrong || !finding.fix.empty()) << finding.message;
    }
    return texts;
  }
};

TEST_F(DoctorFixture, WhereNothingIsInstalled) {
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "default"}}}});
  EXPECT_EQ(
      Findings(Status::kFailed),
      (std::vector<std::string>{
          "registration: there is no MutatingWebhookConfiguration mindgate: nothing is injected",
          "registration: there is no ValidatingWebhookConfiguration mindgate: nothing is "
          "validated"}));
}

TEST_F(DoctorFixture, WhatMayNotBeReadIsSkippedAndNotGood) {
  server.Forbid("*", "*");
  const auto skipped = Findings(Status::kSkipped);
  ASSERT_FALSE(skipped.empty());
  EXPECT_TRUE(skipped.front().starts_with(
      "registration: MutatingWebhookConfiguration mindgate could not be looked at: "))
      << skipped.front();
  EXPECT_EQ(Findings(Status::kFailed), std::vector<std::string>());
}

TEST_F(DoctorFixture, AnApiServerThatIsAwayIsAllThatIsSaid) {
  server.Stop();
  const Report report = Diagnose(client, {}, clock.WallNow());
  ASSERT_EQ(report.findings().size(), 1);
  EXPECT_EQ(report.findings().front().check, "api-server");
  EXPECT_EQ(report.findings().front().status, Status::kFailed);
}

TEST_F(DoctorFixture, SystemNamespacesMustNotReachUs) {
  for (const char* name : {"default", "kube-system"}) {
    server.Put(resources::kNamespaces, {{"metadata", {{"name", name}}}});
  }
  server.Put(resources::kValidatingWebhooks,
             {{"metadata", {{"name", "mindgate"}}},
              {"webhooks",
               {{{"name", "all.example"},
                 {"failurePolicy", "Ignore"},
                 {"timeoutSeconds", 30},
                 {"clientConfig", {{"url", "https://127.0.0.1:9443/validate"}}}}}}});
  const auto failed = Findings(Status::kFailed);
  EXPECT_NE(std::find(failed.begin(), failed.end(),
                      "selectors: namespace kube-system is not excluded: what the cluster itself "
                      "runs on waits for the webhook"),
            failed.end());
  EXPECT_EQ(Findings(Status::kWarning),
            (std::vector<std::string>{
                "registration: all.example waits 30 s: while the webhook is away, every call takes "
                "so long",
                "registration: ValidatingWebhookConfiguration mindgate has failurePolicy Ignore: "
                "what is wrong passes while the webhook is away"}));
}

TEST_F(DoctorFixture, NobodyLeads) {
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "default"}}}});
  server.Put(resources::kLeases,
             {{"metadata", {{"name", "mindgate-watcher"}, {"namespace", "mindgate-system"}}}});
  EXPECT_EQ(Findings(Status::kFailed).back(),
            "watcher: nobody leads: Lease mindgate-system/mindgate-watcher was renewed last at no "
            "time, so pods that wait behind gates stay there, no gang is repaired, and with "
            "certs.mode managed certificates are not renewed and no CA is published");
}

}  // namespace
}  // namespace mindgate::doctor
