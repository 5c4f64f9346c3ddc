#include "cli/status/status.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/time.h"
#include "cli/deploy/deploy.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/environment.h"
#include "support/golden.h"

namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using ::mindgate::testing::Cli;
using ::mindgate::testing::ExpectGolden;
namespace resources = kube::resources;

struct StatusTest : ::testing::Test {
  FakeApiServer server;
  const Time now = SystemClock().WallNow();

  void PutRule() {
    server.Put(resources::kConfigMaps, {{"metadata", {{"namespace", "serving"}, {"name", "rule"}}},
                                        {"data",
                                         {{"elastic_scaling.json",
                                           R"({"version": "1.0", "elastic_scaling_list": [
                     {"group_list": [{"group_name": "g0", "group_num": "2", "server_num_per_group": "1"},
                                     {"group_name": "g1", "group_num": "1", "server_num_per_group": "1"}]},
                     {"group_list": [{"group_name": "g0", "group_num": "1", "server_num_per_group": "1"},
                                     {"group_name": "g1", "group_num": "1", "server_num_per_group": "1"}]}]})"}}}});
  }
  void PutPod(const std::string& name, const std::string& group, bool gated,
              const std::string& phase, const std::string& service = "chat") {
    Json pod = {{"metadata",
                 {{"namespace", "serving"},
                  {"name", name},
                  {"labels",
                   {{"jobID", service},
                    {"app", service + "-app"},
                    {"mind-cluster/scaling-rule", "rule"},
                    {"mind-cluster/group-name", group}}}}},
                {"spec", Json::object()},
                {"status", {{"phase", phase}}}};
    if (gated) {
      pod["spec"]["schedulingGates"] = {{{"name", "mindgate.io/elastic-scaling"}}};
    }
    server.Put(resources::kPods, pod);
  }
  // What the chart makes of an installation, as far as it is read.
  void Install(const std::string& mode) {
    server.Put(
        resources::kMutatingWebhooks,
        {{"metadata", {{"name", "gate"}, {"labels", {{"app.kubernetes.io/name", "mindgate"}}}}},
         {"webhooks",
          {{{"name", "a"},
            {"clientConfig", {{"service", {{"namespace", "ops"}, {"name", "gate"}}}}}}}}});
    server.Put(
        resources::kPods,
        {{"metadata",
          {{"namespace", "ops"},
           {"name", "gate-watcher-0"},
           {"labels",
            {{"app.kubernetes.io/name", "mindgate"}, {"app.kubernetes.io/component", "watcher"}}}}},
         {"spec",
          {{"volumes", {{{"name", "config"}, {"configMap", {{"name", "gate-config"}}}}}}}}});
    server.Put(resources::kConfigMaps,
               {{"metadata", {{"namespace", "ops"}, {"name", "gate-config"}}},
                {"data", {{"mindgate.yaml", "elasticScaling: {mode: " + mode + "}\n"}}}});
  }
  void Lead(std::chrono::seconds since, std::chrono::seconds renewed = std::chrono::seconds(0)) {
    const auto micro = [](Time time) {
      const std::string text = FormatTime(time);
      return text.substr(0, text.size() - 1) + ".000000Z";
    };
    server.Put(resources::kLeases, {{"metadata", {{"namespace", "ops"}, {"name", "gate-watcher"}}},
                                    {"spec",
                                     {{"holderIdentity", "gate-watcher-0_1"},
                                      {"acquireTime", micro(now - since)},
                                      {"renewTime", micro(now - renewed)}}}});
  }
  auto Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "status");
    arguments.insert(arguments.end(), {"--server", server.url()});
    return Cli(arguments);
  }
  // Two instances to be granted, and one that waits for them.
  void PutWaiting() {
    PutRule();
    PutPod("p0", "g0", true, "Pending");
    PutPod("p1", "g0", true, "Pending");
    PutPod("d0", "g1", true, "Pending");
  }
};

// Who acts, and what comes below it.
std::string HeadOf(const std::string& printed) { return printed.substr(0, printed.find("\n\n")); }
std::string TableOf(const std::string& printed) { return printed.substr(printed.find("\n\n") + 2); }

TEST_F(StatusTest, TheHeaderReportsWhetherAnybodyActs) {
  PutWaiting();
  Install("observe");
  Lead(std::chrono::hours(75));
  const std::string observed = Run({"-A"}).out;
  ExpectGolden("tests/golden/status/observed.txt", observed);
  Install("enforce");
  ExpectGolden("tests/golden/status/enforced.txt", Run({"-A"}).out);
  Lead(std::chrono::hours(75), std::chrono::hours(1));
  const std::string none = "mode:   enforce\nleader: none, so decisions are not carried out: ";
  const std::string late = Run({"-A"}).out;
  EXPECT_EQ(HeadOf(late),
            none + "Lease ops/gate-watcher was last renewed at " +
                server.Find(resources::kLeases, "ops", "gate-watcher")["spec"]["renewTime"]
                    .get<std::string>());
  EXPECT_EQ(TableOf(late), TableOf(observed));
  server.Remove(resources::kLeases, "ops", "gate-watcher");
  const std::string alone = Run({"-A"}).out;
  EXPECT_EQ(HeadOf(alone), none + "there is no Lease ops/gate-watcher");
  EXPECT_EQ(TableOf(alone), TableOf(observed));
  server.Forbid("get", "configmaps");
  EXPECT_EQ(Run({"-A"}).out.substr(0, 67),
            "mode:   unknown: ConfigMap ops/gate-config cannot be read: GET /api");
}

TEST_F(StatusTest, WithoutAnInstallation) {
  PutWaiting();
  EXPECT_EQ(HeadOf(Run({"-A"}).out),
            "mode:   off, so decisions are not carried out (there is no webhook configuration of "
            "mindgate: it is not installed)\n"
            "leader: none, so decisions are not carried out: mindgate is not installed");
}

// As `kubectl exec` in the watcher's Pod, whose account may not list webhook configurations.
TEST_F(StatusTest, WithTheRightsOfTheWatcher) {
  PutWaiting();
  Install("enforce");
  Lead(std::chrono::hours(75));
  const std::string seen = Run({"-A"}).out;
  server.Forbid("list", "mutatingwebhookconfigurations");
  server.Forbid("list", "validatingwebhookconfigurations");
  {
    const ::mindgate::testing::ChangedEnvironment own(
        ::mindgate::testing::Variables{{"MINDGATE_INSTALLATION", "ops/gate"}});
    EXPECT_EQ(Run({"-A"}).out, seen);
  }
  const std::string guessed = HeadOf(Run({"-A"}).out);
  EXPECT_EQ(guessed,
            "mode:   unknown: no Pod of a watcher is in namespace mindgate-system, and it is not "
            "known whether one runs elsewhere\n"
            "leader: unknown: mindgate may be installed elsewhere than in namespace "
            "mindgate-system: there is no Lease mindgate-system/mindgate-watcher");
}

// Whoever bypasses the webhook deletes its configurations; the watcher goes on.
TEST_F(StatusTest, WithoutTheWebhook) {
  const std::string renewed = FormatTime(now);
  server.Put(resources::kLeases,
             {{"metadata", {{"namespace", "mindgate-system"}, {"name", "mindgate-watcher"}}},
              {"spec", {{"holderIdentity", "watcher-0"}, {"renewTime", renewed}}}});
  EXPECT_EQ(HeadOf(Run({"-A"}).out),
            "mode:   unknown: watcher-0 leads, but no Pod in namespace mindgate-system has its "
            "labels (app.kubernetes.io/component=watcher)\n"
            "leader: watcher-0");
}

TEST_F(StatusTest, ATableOfServices) {
  Install("enforce");
  Lead(std::chrono::seconds(90));
  PutRule();
  PutPod("p0", "g0", false, "Running");
  PutPod("p1", "g0", true, "Pending");
  PutPod("d0", "g1", false, "Pending");
  const auto reported = Run({"-A"});
  EXPECT_EQ(reported.code, 0) << reported.err;
  ExpectGolden("tests/golden/status/services.txt", TableOf(reported.out));
  ExpectGolden("tests/golden/status/services-wide.txt", TableOf(Run({"-A", "-o", "wide"}).out));
}

TEST_F(StatusTest, NamesAndSelectorsChooseServices) {
  PutRule();
  PutPod("p0", "g0", false, "Running");
  PutPod("q0", "g0", false, "Running", "code");
  PutPod("q1", "g1", false, "Running", "code");
  EXPECT_EQ(Run({"-n", "serving", "-o", "name"}).out, "chat\ncode\n");
  EXPECT_EQ(Run({"-n", "serving", "-o", "name", "code"}).out, "code\n");
  EXPECT_EQ(Run({"-n", "serving", "-o", "name", "code", "chat"}).out, "chat\ncode\n");
  EXPECT_EQ(Run({"-A", "-o", "name", "-l", "app=code-app"}).out, "code\n");
  // All pods of the service count, matching or not.
  EXPECT_EQ(Run({"-A", "-l", "mind-cluster/group-name=g1", "-o",
                 "jsonpath={.services[*].jobID} {.services[0].groups[*].running}"})
                .out,
            "code 1 1");
  const auto missing = Run({"-n", "serving", "-o", "name", "code", "chta"});
  EXPECT_EQ(missing.code, kExitNotFound);
  EXPECT_EQ(missing.out, "code\n");
  EXPECT_EQ(missing.err,
            "error: no pod in namespace serving is under a scaling rule with jobID \"chta\"\n"
            "hint: `mindgate status -A -o name` lists all services\n");
  const auto everywhere = Run({"-A", "code"});
  EXPECT_EQ(everywhere.code, 2);
  EXPECT_EQ(
      everywhere.err,
      "error: names cannot be combined with -A: the same name may exist in several namespaces\n"
      "hint: replace -A with -n NAMESPACE\n");
}

TEST_F(StatusTest, JsonForMachines) {
  Install("enforce");
  Lead(std::chrono::seconds(90));
  PutRule();
  for (const char* name : {"p0", "p1"}) PutPod(name, "g0", false, "Running");
  PutPod("d0", "g1", false, "Running");
  const auto reported = Run({"-n", "serving", "-o", "json"});
  EXPECT_EQ(reported.code, 0) << reported.err;
  Json printed = Json::parse(reported.out);
  EXPECT_EQ(printed["watcher"]["leader"]["since"], FormatTime(now - std::chrono::seconds(90)));
  printed["watcher"]["leader"].erase("since");
  ExpectGolden("tests/golden/status/services.json", printed.dump(2) + "\n");
  EXPECT_EQ(Run({"-n", "serving", "-o", "jsonpath={.enforced} {.watcher.mode}"}).out,
            "true enforce");
}

TEST_F(StatusTest, ARuleThatIsMissingIsReported) {
  Install("enforce");
  Lead(std::chrono::seconds(90));
  PutPod("p0", "g0", true, "Pending");
  ExpectGolden("tests/golden/status/missing-rule.txt", TableOf(Run({"-A"}).out));
}

TEST_F(StatusTest, NothingIsThere) {
  Install("off");
  Lead(std::chrono::hours(9 * 24 + 1));  // an age that stays the same while the test runs
  EXPECT_EQ(Run({"-A"}).out,
            "mode:   off, so decisions are not carried out\nleader: gate-watcher-0_1, for 9d\n\n"
            "no pods are under a scaling rule\n");
}

TEST_F(StatusTest, WhatMayNotBeReadIsAnError) {
  server.Forbid("list", "pods");
  const auto reported = Run({"-A"});
  EXPECT_EQ(reported.code, 2);
  EXPECT_EQ(reported.out, "");
  EXPECT_NE(reported.err.find("pods cannot be read: "), std::string::npos) << reported.err;
}

TEST(Status, AgesAsKubectlWritesThem) {
  const std::vector<std::pair<int64_t, std::string>> cases = {
      {-5, "0s"},        {0, "0s"},       {119, "119s"},          {120, "2m"},
      {599, "9m59s"},    {600, "10m"},    {10'799, "179m"},       {10'800, "3h"},
      {11'580, "3h13m"}, {28'800, "8h"},  {172'799, "47h"},       {172'800, "2d"},
      {270'000, "3d3h"}, {691'200, "8d"}, {86'400 * 400, "400d"},
  };
  for (const auto& [seconds, text] : cases) {
    EXPECT_EQ(AgeText(std::chrono::seconds(seconds)), text) << seconds;
  }
}

}  // namespace
}  // namespace mindgate::cli
