#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "doctor/installed.h"

namespace mindgate::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What the dry run expects is what the configuration says, which need not be the default.
struct DryRun : testing::InstalledFixture {
  // The API server's answer to the Pod: `spec` over what was sent.
  void AnswerPod(const Json& spec) {
    kube::testing::HttpResponse answer;
    answer.status = 201;
    answer.body = Json{{"kind", "Pod"}, {"spec", spec}}.dump();
    server.AnswerNext(1, kPod, answer);
  }
  void Deny() {
    const std::string message = "admission webhook denied the request: MG035";
    server.AnswerNext(1, {.method = "POST", .target_part = "/configmaps"},
                      kube::testing::StatusAnswer(403, "Forbidden", message));
  }
  // The scheduler of the Pod that was sent last; "none sent" when there is none.
  std::string SentScheduler() {
    const auto sent = server.Requests(kPod);
    return sent.empty() ? "none sent"
                        : Json::parse(sent.back().body).at("spec").value("schedulerName", "");
  }
  static Json WithDevices() {
    return {{"containers", {{{"name", "probe"}, {"env", {{{"name", "ASCEND_VISIBLE_DEVICES"}}}}}}}};
  }
  const kube::testing::When kPod{.method = "POST", .target_part = "/pods"};
  const std::string injected = "a Pod that asks for NPUs is injected";
  const std::string denied = "an invalid object is denied by mindgate";
};

TEST_F(DryRun, TakesTheSchedulerOfTheConfigurationForInjected) {
  PutWebhook("scheduler: volcano-next\n");
  Deny();
  AnswerPod({{"schedulerName", "volcano-next"}});
  EXPECT_EQ(Of("dry-run", Status::kOk), (Texts{denied, injected}));
  EXPECT_EQ(SentScheduler(), "");
}

TEST_F(DryRun, TakesAnyInjectedMemberWhereTheConfigurationIsNotKnown) {
  PutWebhook("scheduler: volcano-next\n");
  server.Forbid("get", "configmaps");
  for (const Json& spec : {Json{{"schedulerName", "volcano-next"}}, WithDevices()}) {
    Deny();
    AnswerPod(spec);
    EXPECT_EQ(Of("dry-run", Status::kOk), (Texts{denied, injected})) << spec;
  }
  Deny();
  AnswerPod({{"schedulerName", "default-scheduler"}});
  EXPECT_EQ(Of("dry-run", Status::kFailed).size(), 1);
}

// Without scheduler-name, the Pod names the scheduler, so that visible-devices is injected.
TEST_F(DryRun, NamesTheSchedulerWhereNothingElseDoes) {
  PutWebhook("scheduler: volcano-next\nmutators: {scheduler-name: false}\n");
  Deny();
  AnswerPod(WithDevices());
  EXPECT_EQ(Of("dry-run", Status::kOk), (Texts{denied, injected}));
  EXPECT_EQ(SentScheduler(), "volcano-next");
  Deny();
  AnswerPod({{"schedulerName", "volcano-next"}});
  EXPECT_EQ(Of("dry-run", Status::kFailed).size(), 1) << "what was sent is not injected";
}

TEST_F(DryRun, SkipsAnInjectionThatIsSwitchedOff) {
  const auto skipped = [](const std::string& why) {
    return Texts{"whether a Pod is injected could not be tried: it is switched off by " + why};
  };
  PutWebhook("mutators: {scheduler-name: false, visible-devices: false}\n");
  Deny();
  EXPECT_EQ(Of("dry-run", Status::kSkipped),
            skipped("`mutators` of mindgate.yaml (scheduler-name and visible-devices)"));
  PutConfig("namespaces: [{name: def*, inject: disabled}]\n");
  Deny();
  EXPECT_EQ(Of("dry-run", Status::kSkipped),
            skipped("`namespaces` of mindgate.yaml, for namespace default"));
  PutConfig("");
  PutNamespace({{"mindgate.io/inject", "disabled"}});
  Deny();
  EXPECT_EQ(Of("dry-run", Status::kSkipped),
            skipped("the label mindgate.io/inject of namespace default"));
  EXPECT_EQ(SentScheduler(), "none sent");
}

TEST_F(DryRun, SkipsADenialThatIsSwitchedOff) {
  const auto skipped = [](const std::string& mode) {
    return Texts{
        "whether an invalid object is denied could not be tried: in namespace default "
        "rule MG035 has mode " +
        mode + " in mindgate.yaml (`rules`, `namespaces` or maxMode)"};
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"rules: {scaling-rule-readable: \"off\"}\n", "off"},
      {"rules: {MG035: warn}\n", "warn"},
      {"maxMode: audit\n", "audit"},
      {"namespaces: [{name: default, rules: {MG035: warn}}]\n", "warn"},
      {"maxMode: audit\nnamespaces: [{name: default, rules: {MG035: warn}}]\n", "audit"},
  };
  for (const auto& [config, mode] : cases) {
    PutWebhook(config);
    AnswerPod({{"schedulerName", "volcano"}});
    EXPECT_EQ(Of("dry-run", Status::kSkipped), skipped(mode)) << config;
  }
  PutWebhook("rules: {MG035: warn}\nnamespaces: [{name: default, rules: {MG035: enforce}}]\n");
  AnswerPod({{"schedulerName", "volcano"}});
  EXPECT_EQ(Of("dry-run", Status::kFailed).size(), 1) << "it is enforced here";
}

// The webhook is reached by the same Service for both.
TEST_F(DryRun, BlamesNoNetworkOnceTheWebhookHasAnswered) {
  PutWebhook("");
  const auto fault = [&] {
    AnswerPod(Json::object());
    const Report report = Diagnose(client, options, clock.WallNow());
    for (const Finding& finding : report.findings()) {
      if (finding.check == "dry-run" && finding.message.find("without") != std::string::npos) {
        return finding.message + " | " + finding.fix;
      }
    }
    return std::string();
  };
  Deny();
  EXPECT_THAT(fault(), HasSubstr("the webhook answers, but the mutating one was not called"));
  Deny();
  EXPECT_THAT(fault(), Not(HasSubstr("webhook_fail_open")));
  EXPECT_THAT(fault(), HasSubstr("webhook_fail_open")) << "nothing was denied";
}

TEST_F(DryRun, ReadsWhyAReplicaIsNotReadyFromItsOwnProbePort) {
  PutWebhook("", {{{"name", "https"}, {"containerPort", 9444}},
                  {{"name", "probe"}, {"containerPort", 8088}}});
  server.AnswerNext(1, {.method = "GET", .target_part = "/pods/webhook-0:8088/proxy/readyz"},
                    kube::testing::StatusAnswer(503, "ServiceUnavailable", "no certificate"));
  const auto failed = Of("endpoints", Status::kFailed);
  ASSERT_FALSE(failed.empty());
  EXPECT_THAT(failed.front(), HasSubstr("no certificate"));
}

}  // namespace
}  // namespace mindgate::doctor
