#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/servers/servers.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/environment.h"

namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using ::mindgate::testing::Cli;
using ::testing::HasSubstr;
using ::testing::Not;
namespace resources = kube::resources;

struct DoctorTest : ::testing::Test {
  FakeApiServer server;

  // The webhook configurations of a release, as the chart labels them.
  void Install(const std::string& ns, const std::string& name, const std::string& release) {
    for (const auto& resource : {resources::kMutatingWebhooks, resources::kValidatingWebhooks}) {
      server.Put(
          resource,
          {{"metadata",
            {{"name", name},
             {"labels",
              {{"app.kubernetes.io/name", "mindgate"}, {"app.kubernetes.io/instance", release}}}}},
           {"webhooks",
            {{{"name", "all.mindgate.io"},
              {"failurePolicy", "Fail"},
              {"timeoutSeconds", 2},
              {"clientConfig",
               {{"service", {{"namespace", ns}, {"name", name + "-webhook"}}}}}}}}});
    }
  }
  auto Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "doctor");
    arguments.insert(arguments.end(), {"-s", server.url()});
    return Cli(arguments);
  }
};

TEST_F(DoctorTest, FindsTheReleaseWhateverItIsCalled) {
  Install("gates", "prod-mindgate", "prod");
  const std::string printed = Run({}).out;
  EXPECT_THAT(printed, HasSubstr("MutatingWebhookConfiguration prod-mindgate has 1 webhooks"));
  EXPECT_THAT(printed, HasSubstr("ValidatingWebhookConfiguration prod-mindgate has 1 webhooks"));
  EXPECT_THAT(printed, HasSubstr("there is no Lease gates/prod-mindgate-watcher"));
  EXPECT_THAT(printed, Not(HasSubstr("pass --name")));
}

TEST_F(DoctorTest, OfSeveralReleasesOneMustBeChosen) {
  Install("gates", "prod-mindgate", "prod");
  Install("canary", "canary-mindgate", "canary");
  const auto reported = Run({});
  EXPECT_EQ(reported.code, 2);
  EXPECT_EQ(reported.out, "");
  EXPECT_EQ(reported.err,
            "error: found several installations: canary-mindgate in namespace canary, "
            "prod-mindgate in namespace gates\n"
            "hint: choose one: -n NAMESPACE, or -l app.kubernetes.io/instance=RELEASE\n");
  EXPECT_THAT(Run({"-n", "gates"}).out, HasSubstr("Configuration prod-mindgate has"));
  EXPECT_THAT(Run({"-l", "app.kubernetes.io/instance=canary"}).out,
              HasSubstr("Configuration canary-mindgate has"));
  EXPECT_THAT(Run({"-n", "canary", "--name", "prod-mindgate", "--lease", "other"}).out,
              HasSubstr("there is no Lease canary/other"));
}

// In the watcher's Pod, whose account may not list webhook configurations.
TEST_F(DoctorTest, LooksAtTheInstallationOfItsOwnPod) {
  Install("gates", "prod-mindgate", "prod");
  const ::mindgate::testing::ChangedEnvironment own(
      ::mindgate::testing::Variables{{"MINDGATE_INSTALLATION", "gates/prod-mindgate"}});
  server.Forbid("list", "mutatingwebhookconfigurations");
  EXPECT_THAT(Run({}).out, HasSubstr("there is no Lease gates/prod-mindgate-watcher"));
  EXPECT_THAT(Run({"-n", "canary"}).out, HasSubstr("there is no Lease canary/mindgate-watcher"));
}

// What the dry run expects is what mindgate.yaml says of rules and mutators that exist.
TEST_F(DoctorTest, ExpectsWhatIsConfigured) {
  Install("mindgate-system", "mindgate", "mindgate");
  const Json labels = {{"app", "webhook"}};
  server.Put(resources::kServices,
             {{"metadata", {{"namespace", "mindgate-system"}, {"name", "mindgate-webhook"}}},
              {"spec", {{"selector", labels}}}});
  server.Put(
      resources::kPods,
      {{"metadata", {{"namespace", "mindgate-system"}, {"name", "w"}, {"labels", labels}}},
       {"spec", {{"volumes", {{{"name", "config"}, {"configMap", {{"name", "settings"}}}}}}}}});
  server.Put(resources::kConfigMaps,
             {{"metadata", {{"namespace", "mindgate-system"}, {"name", "settings"}}},
              {"data",
               {{"mindgate.yaml",
                 "mutators: {scheduler-name: false, visible-devices: false}\n"
                 "rules: {scaling-rule-readable: warn}\n"}}}});
  const std::string printed = Run({}).out;
  EXPECT_THAT(printed, HasSubstr("rule MG035 has mode warn in mindgate.yaml"));
  EXPECT_THAT(printed, HasSubstr("switched off by `mutators` of mindgate.yaml"));
}

// The webhook warns of the object that the dry run sends on purpose.
TEST_F(DoctorTest, WarningsOfTheApiServerAreNotPrinted) {
  Install("mindgate-system", "mindgate", "mindgate");
  kube::testing::HttpResponse answer;
  answer.body = R"({"kind": "ConfigMap", "apiVersion": "v1"})";
  answer.headers = {{"Warning", "299 - \"MG035 scaling-rule-readable: not valid JSON\""}};
  server.AnswerNext(1, {.method = "POST", .target_part = "/configmaps"}, answer);
  const auto reported = Run({});
  EXPECT_EQ(reported.err, "");
  EXPECT_THAT(reported.out, HasSubstr("an invalid object passed the validating webhook"));
}

// The chart puts files of policies beside mindgate.yaml; those of ConfigMaps are one set with them.
TEST_F(DoctorTest, ReadsPoliciesInConfigMaps) {
  const auto store = [&](const std::string& name, const Json& labels, const Json& data) {
    server.Put(
        resources::kConfigMaps,
        {{"metadata", {{"namespace", "mindgate-system"}, {"name", name}, {"labels", labels}}},
         {"data", data}});
  };
  const std::string policy =
      ::mindgate::testing::ReadSource("examples/policies/whole-machines.yaml");
  Install("mindgate-system", "mindgate", "mindgate");
  server.Put(
      resources::kPods,
      {{"metadata",
        {{"namespace", "mindgate-system"},
         {"name", "watcher-0"},
         {"labels",
          {{"app.kubernetes.io/component", "watcher"},
           {"app.kubernetes.io/instance", "mindgate"}}}}},
       {"spec", {{"volumes", {{{"name", "config"}, {"configMap", {{"name", "settings"}}}}}}}}});
  store("settings", Json::object(),
        {{"mindgate.yaml", "policies: {files: [a.yaml], configMaps: true}\n"}, {"a.yaml", policy}});
  EXPECT_THAT(Run({}).out, HasSubstr("the policies in ConfigMaps can be loaded"));
  store("site", {{"mindgate.io/policies", "enabled"}}, {{"b.yaml", policy}});
  EXPECT_THAT(Run({}).out, HasSubstr("ConfigMap mindgate-system/site, key b.yaml:"));
  EXPECT_THAT(Run({}).out, HasSubstr("policy \"whole-machines\" is also in ConfigMap "
                                     "mindgate-system/settings, key a.yaml:"));
  // Files alone, without ConfigMaps.
  store("settings", Json::object(),
        {{"mindgate.yaml", "policies: {files: [a.yaml]}\n"}, {"a.yaml", "spec: {}\n"}});
  EXPECT_THAT(Run({}).out, HasSubstr("ConfigMap mindgate-system/settings, key a.yaml:1:1"));
}

TEST_F(DoctorTest, InAllFormats) {
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "default"}}}});
  EXPECT_EQ(Run({}).code, 1);
  const Json document = Json::parse(Run({"-o", "json"}).out);
  EXPECT_EQ(document["healthy"], false);
  EXPECT_EQ(document["findings"][1]["check"], "registration");
  EXPECT_EQ(Run({"-o", "jsonpath={.healthy} {.findings[?(@.status==\"failed\")].check}"}).out,
            "false registration registration");
  EXPECT_THAT(Run({"-o", "name"}).out, HasSubstr("check/api-server\ncheck/registration\n"));
  EXPECT_THAT(Run({"-o", "yaml"}).out, HasSubstr("- check: registration\n"));
  const std::string wide = Run({"-o", "wide"}).out;
  EXPECT_THAT(wide, HasSubstr("STATUS    CHECK"));
  EXPECT_THAT(wide, HasSubstr("failed    registration   there is no MutatingWebhookConfiguration "
                              "mindgate: nothing is injected"));
  EXPECT_EQ(Run({"-o", "jsonpath={.findings[99]}"}).code, 2);
}

}  // namespace
}  // namespace mindgate::cli
