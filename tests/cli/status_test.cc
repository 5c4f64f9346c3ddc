#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kube/fake_api_server.h"
#include "support/cli.h"

namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using ::mindgate::testing::Cli;
namespace resources = kube::resources;

struct StatusTest : ::testing::Test {
  FakeApiServer server;

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
              const std::string& phase) {
    Json pod = {{"metadata",
                 {{"namespace", "serving"},
                  {"name", name},
                  {"labels",
                   {{"jobID", "chat"},
                    {"mind-cluster/scaling-rule", "rule"},
                    {"mind-cluster/group-name", group}}}}},
                {"spec", Json::object()},
                {"status", {{"phase", phase}}}};
    if (gated) {
      pod["spec"]["schedulingGates"] = {{{"name", "mindgate.io/elastic-scaling"}}};
    }
    server.Put(resources::kPods, pod);
  }
  auto Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--server", server.url()});
    return Cli(arguments);
  }
};

TEST_F(StatusTest, ATableOfServices) {
  PutRule();
  PutPod("p0", "g0", false, "Running");
  PutPod("p1", "g0", true, "Pending");
  PutPod("d0", "g1", false, "Pending");
  const auto told = Run({"status", "-A"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.out,
            "NAMESPACE  SERVICE  RULE  SHAPE      GROUP  WANTED  RUNNING  STARTING  WAITING  WHY\n"
            "serving    chat     rule  none of 2  g0     1       1        0         1        "
            "shape 2 of 2 wants 1 of g0, and 1 runs; shape 1 waits for g1 (0 of 1 run)\n"
            "                                     g1     1       0        1         0\n");
}

TEST_F(StatusTest, JsonForMachines) {
  PutRule();
  for (const char* name : {"p0", "p1"}) PutPod(name, "g0", false, "Running");
  PutPod("d0", "g1", false, "Running");
  const auto told = Run({"status", "-n", "serving", "-o", "json"});
  EXPECT_EQ(told.code, 0) << told.err;
  const Json want = Json::parse(R"({"services": [{
    "namespace": "serving", "jobID": "chat", "rule": "rule", "shapes": 2, "shape": 1, "aim": null,
    "groups": [{"group": "g0", "wanted": 2, "running": 2, "starting": 0, "waiting": 0},
               {"group": "g1", "wanted": 1, "running": 1, "starting": 0, "waiting": 0}],
    "instances": [{"instance": "Pod/d0", "group": "g1", "verdict": "keep", "reason": "it runs"},
                  {"instance": "Pod/p0", "group": "g0", "verdict": "keep", "reason": "it runs"},
                  {"instance": "Pod/p1", "group": "g0", "verdict": "keep", "reason": "it runs"}]}]})");
  EXPECT_EQ(Json::parse(told.out), want);
}

TEST_F(StatusTest, ARuleThatIsMissingIsSaid) {
  PutPod("p0", "g0", true, "Pending");
  EXPECT_EQ(
      Run({"status", "-A"}).out,
      "NAMESPACE  SERVICE  RULE  SHAPE    GROUP  WANTED  RUNNING  STARTING  WAITING  WHY\n"
      "serving    chat     rule  no rule  g0     0       0        0         1        there is "
      "no ConfigMap \"rule\" with the key elastic_scaling.json in namespace serving\n");
}

TEST_F(StatusTest, NothingIsThere) {
  EXPECT_EQ(Run({"status", "-A"}).out, "no pods are under a scaling rule\n");
}

TEST_F(StatusTest, WhatMayNotBeReadIsAnError) {
  server.Forbid("list", "pods");
  const auto told = Run({"status", "-A"});
  EXPECT_EQ(told.code, 2);
  EXPECT_EQ(told.out, "");
  EXPECT_NE(told.err.find("pods cannot be read: "), std::string::npos) << told.err;
}

}  // namespace
}  // namespace mindgate::cli
