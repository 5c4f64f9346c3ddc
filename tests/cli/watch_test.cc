// The watcher as a process: what it says of its configuration, and of what it decided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/servers/servers.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/eventually.h"
#include "support/process.h"

namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using ::mindgate::testing::Eventually;
using ::mindgate::testing::Running;
using ::mindgate::testing::Shell;
using ::mindgate::testing::TempFolder;
using ::testing::HasSubstr;
namespace resources = kube::resources;

std::string Arguments(const FakeApiServer& server, const std::string& config) {
  return "watch --probe-listen 127.0.0.1:0 -s " + server.url() + " --config " + config;
}

TEST(Watch, AConfigurationThatWasNeverGoodIsReportedAsNone) {
  FakeApiServer server;
  TempFolder folder;
  Running watch(Arguments(server, folder / "mindgate.yaml"));
  EXPECT_THAT(
      watch.ReadUntil("\"watching\""),
      HasSubstr(
          "no valid configuration has been loaded: the watcher does nothing until there is one"));
  folder.Write("mindgate.yaml", "gangRepair: off\n");
  EXPECT_THAT(watch.ReadUntil("configuration"), HasSubstr("\"loaded\""));
  folder.Write("mindgate.yaml", "gangRepair: off\nelasticScaling: {mode: off}\n");
  EXPECT_THAT(watch.ReadUntil("configuration"), HasSubstr("\"reloaded\""));
  folder.Write("mindgate.yaml", "gangRepair: perhaps\n");
  EXPECT_THAT(watch.ReadUntil("configuration"),
              HasSubstr("configuration rejected, the last valid one stays in use"));
  watch.Signal(SIGTERM);
  EXPECT_EQ(watch.ExitCode(), 0);
}

TEST(Watch, IsReadyOncePoliciesInConfigMapsAreKnown) {
  FakeApiServer server;
  server.Forbid("list", "configmaps");
  TempFolder folder;
  folder.Write("mindgate.yaml",
               "policies: {configMaps: true}\nelasticScaling: {mode: \"off\"}\ngangRepair: off\n"
               "rescheduling: {mode: \"off\"}\n");
  Running watch(Arguments(server, folder / "mindgate.yaml") + " -n mindgate-system");
  const std::string printed = watch.ReadUntil("\"watching\"");
  const size_t port = printed.find("\"probe_port\":") + 13;
  const std::string probes =
      "http://127.0.0.1:" +
      printed.substr(port, printed.find_first_not_of("0123456789", port) - port);
  const auto ready = [&](const std::string& query = "") {
    return Shell("curl --silent '" + probes + "/readyz" + query + "'").out;
  };
  EXPECT_THAT(ready(), HasSubstr("no valid configuration yet: policies.configMaps is true, and the "
                                 "ConfigMaps of namespace mindgate-system cannot be listed: "));
  server.AllowAll();
  EXPECT_THAT(watch.ReadUntil("configuration"), HasSubstr("\"loaded\""));
  EXPECT_THAT(ready("?verbose"), ::testing::MatchesRegex("ok: [a-z ]+\n"));
  server.Put(resources::kConfigMaps, {{"metadata",
                                       {{"namespace", "mindgate-system"},
                                        {"name", "site"},
                                        {"labels", {{"mindgate.io/policies", "enabled"}}}}},
                                      {"data", {{"a.yaml", "kind: [\n"}}}});
  EXPECT_THAT(watch.ReadUntil("configuration"), HasSubstr("the last valid one stays in use"));
  EXPECT_THAT(ready(), ::testing::MatchesRegex("ok: [a-z ]+\n"));
  EXPECT_THAT(ready("?verbose"), HasSubstr("refused, the last valid one stays in use: ConfigMap "
                                           "mindgate-system/site, key a.yaml:"));
  watch.Signal(SIGTERM);
  EXPECT_EQ(watch.ExitCode(), 0);
}

TEST(Watch, DecisionsReportWhetherTheyWereCarriedOut) {
  FakeApiServer server;
  TempFolder folder;
  folder.Write("mindgate.yaml", "elasticScaling: {mode: observe}\n");
  server.Put(resources::kPods,
             {{"metadata",
               {{"namespace", "serving"},
                {"name", "p0"},
                {"labels",
                 {{"jobID", "chat"},
                  {"mind-cluster/scaling-rule", "rule"},
                  {"mind-cluster/group-name", "g0"}}}}},
              {"spec", {{"schedulingGates", {{{"name", "mindgate.io/elastic-scaling"}}}}}},
              {"status", {{"phase", "Pending"}}}});
  server.Put(resources::kConfigMaps,
             {{"metadata", {{"namespace", "serving"}, {"name", "rule"}}},
              {"data",
               {{"elastic_scaling.json",
                 R"({"version": "1.0", "elastic_scaling_list": [{"group_list": [
                   {"group_name": "g0", "group_num": "1", "server_num_per_group": "1"}]}]})"}}}});
  Running watch(Arguments(server, folder / "mindgate.yaml"));
  const std::string printed = watch.ReadUntil("\"watching\"");
  const size_t port = printed.find("\"probe_port\":") + 13;
  const std::string url =
      "http://127.0.0.1:" +
      printed.substr(port, printed.find_first_not_of("0123456789", port) - port) + "/decisions";
  Json decisions;
  ASSERT_TRUE(Eventually([&] {
    decisions = Json::parse(Shell("curl --silent '" + url + "'").out).at("decisions");
    return decisions.size() == 1;
  })) << printed;
  decisions[0].erase("time");
  EXPECT_EQ(
      decisions,
      Json::parse(
          R"([{"controller": "scaling", "namespace": "serving", "rule": "rule", "jobID": "chat",
    "instance": "Pod/p0", "group": "g0", "decision": "would be granted", "enforced": false,
    "reason": "shape 1 of 1 wants 1 of g0, and none runs or starts"}])"));
  watch.Signal(SIGTERM);
  EXPECT_EQ(watch.ExitCode(), 0);
}

}  // namespace
}  // namespace mindgate::cli
