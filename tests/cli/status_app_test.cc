#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/deploy/deploy.h"
#include "cli/status/status.h"
#include "json/decode.h"
#include "json/yaml.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/deploy_cluster.h"
#include "support/deploy_configs.h"

// `mindgate status APP`: what of the cluster it shows besides the objects of the application.
namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using kube::testing::FakeSleeper;
using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
namespace resources = kube::resources;

struct StatusApp : ::testing::Test {
  FakeApiServer server;
  FakeSleeper sleeper;

  StatusApp() { mindgate::testing::Install(server); }

  void Deploy(std::string_view config) {
    const CliResult deployed = Cli({"deploy", "-f", "-", "-s", server.url()}, std::string(config));
    EXPECT_EQ(deployed.code, kExitDone) << deployed.err;
  }
  CliResult Status(const std::string& app, const std::string& ns,
                   std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"status", app, "-n", ns, "-s", server.url()});
    return Cli(more);
  }
  // Of a decode instance of motor that is in group 1 of its rule.
  void PutMotorPod() {
    server.Put(resources::kPodGroups,
               {{"metadata", {{"namespace", "mindie"}, {"name", "motor-d0-1"}}}});
    Json pod = mindgate::testing::PodOf("mindie", "motor-d0-master-0",
                                        {{"app", "mindie-ms-server"},
                                         {"jobID", "motor"},
                                         {"mind-cluster/scaling-rule", "motor-scaling-rule"},
                                         {"mind-cluster/group-name", "group1"}});
    pod["metadata"]["annotations"] = {{"scheduling.k8s.io/group-name", "motor-d0-1"},
                                      {"huawei.com/AscendReal", "Ascend910-3"}};
    server.Put(resources::kPods, pod);
  }
  void PutNodeNotReady(const std::string& name) {
    server.Put(resources::kNodes,
               {{"metadata", {{"name", name}}},
                {"status", {{"conditions", {{{"type", "Ready"}, {"status", "False"}}}}}}});
  }
};

// No pod is wanted any more, so that none is missing.
TEST_F(StatusApp, WhatIsBeingDeletedIsNotHealthy) {
  Deploy(::mindgate::testing::kAibrixConfig);
  Json storm = server.Find(deploy::resources::kStormServices, "llm", "q");
  storm["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  storm["metadata"]["finalizers"] = {"orchestration.aibrix.ai/hold"};
  server.Put(deploy::resources::kStormServices, storm);
  const CliResult reported = Status("q", "llm", {"-o", "json"});
  EXPECT_EQ(reported.code, kExitDenied);
  const Json document = *json::Decode(reported.out);
  EXPECT_EQ(document["verdict"], "Deleting");
  EXPECT_EQ(document["reason"],
            "StormService q is being deleted (finalizers: orchestration.aibrix.ai/hold)");
}

TEST_F(StatusApp, ShowsServicesUnderScalingRulesAndFaults) {
  Deploy(::mindgate::testing::kMindieConfig);
  PutMotorPod();
  PutNodeNotReady("npu-0");
  PutNodeNotReady("npu-5");  // no pod of the application is there
  const CliResult table = Status("motor", "mindie");
  EXPECT_EQ(table.code, kExitDenied);
  EXPECT_EQ(table.err, "");
  EXPECT_THAT(table.out, AllOf(HasSubstr("\nmode:   "), HasSubstr("mindie      motor     "),
                               HasSubstr("\nFaults. No fault reports found"),
                               HasSubstr("npu-0   node   NotReady"), Not(HasSubstr("npu-5"))));
  const Json document = *json::Decode(Status("motor", "mindie", {"-o", "json"}).out);
  ASSERT_EQ(document["scaling"]["services"].size(), 1u) << document["scaling"];
  EXPECT_EQ(document["scaling"]["services"][0]["jobID"], "motor");
  ASSERT_EQ(document["faults"]["nodes"].size(), 1u);
  EXPECT_EQ(document["faults"]["nodes"][0]["node"], "npu-0");
  EXPECT_EQ(document["faults"]["nodes"][0]["parts"][0]["faultyPods"][0]["name"],
            "motor-d0-master-0");
}

// An application that has nothing to do with rules and faults shows nothing of them.
TEST_F(StatusApp, WhatIsQuietIsLeftOut) {
  Deploy(::mindgate::testing::kAibrixConfig);
  PutNodeNotReady("npu-5");
  EXPECT_THAT(Status("q", "llm").out, AllOf(Not(HasSubstr("mode:")), Not(HasSubstr("Faults"))));
}

TEST_F(StatusApp, WhatMayNotBeReadIsReported) {
  Deploy(::mindgate::testing::kAibrixConfig);
  server.Forbid("list", "nodes");
  const CliResult result = Status("q", "llm", {"-o", "json"});
  EXPECT_EQ(result.code, kExitDenied);
  EXPECT_THAT(result.err, StartsWith("note: faults of nodes are not known: "));
  EXPECT_TRUE((*json::Decode(result.out))["faults"].is_null());
}

// The same document in both formats, the same verdict with each.
TEST_F(StatusApp, OutputFormats) {
  Deploy(::mindgate::testing::kAibrixConfig);
  server.Put(resources::kPods,
             mindgate::testing::PodOf("llm", "q-prefill-0-x",
                                      {{"storm-service-name", "q"}, {"role-name", "prefill"}}));
  const CliResult json = Status("q", "llm", {"-o", "json"});
  const CliResult yaml = Status("q", "llm", {"-o", "yaml"});
  EXPECT_EQ(json.code, kExitDenied);
  EXPECT_EQ(yaml.code, kExitDenied);
  const auto documents = json::DecodeCoreYaml(yaml.out);
  ASSERT_TRUE(documents && documents->size() == 1);
  EXPECT_EQ(documents->front().value, *json::Decode(json.out));
  EXPECT_EQ(Status("q", "llm", {"-o", "name"}).out, "q\n");
  EXPECT_THAT(Status("q", "llm", {"-o", "wide"}).out,
              AllOf(HasSubstr("NODE    IP         CREATED"), HasSubstr("npu-0   10.1.0.1")));
  EXPECT_THAT(Status("q", "llm").out, Not(HasSubstr("10.1.0.1")));
}

// -w prints what changes, survives an API server that does not answer, and ends with the
// application.
TEST_F(StatusApp, Watch) {
  Deploy(::mindgate::testing::kAibrixConfig);
  int pause = 0;
  sleeper.Then([&] {
    switch (++pause) {
      case 1:
        return;  // nothing changed
      case 2:
        server.AnswerNext(1, {.method = "GET", .target_part = "/stormservices?"}, {.status = 500});
        return;
      case 3:
        server.Put(resources::kPods, mindgate::testing::PodOf(
                                         "llm", "q-prefill-0-x",
                                         {{"storm-service-name", "q"}, {"role-name", "prefill"}}));
        return;
      default:
        Cli({"delete", "q", "-n", "llm", "-s", server.url(), "--yes", "--no-wait"});
        server.Remove(deploy::resources::kStormServices, "llm", "q");
    }
  });
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Streams io{in, out, err};
  StatusOptions options{.names = {"q"}, .watch = true};
  options.cluster.server = server.url();
  options.cluster.default_namespace = "llm";
  EXPECT_EQ(RunAppStatus(options, io, &sleeper), kExitNotFound);
  sleeper.Then(nullptr);
  EXPECT_EQ(pause, 4);
  const std::string text = out.str();
  const size_t second = text.find("Application q", 1);
  ASSERT_NE(second, std::string::npos);
  EXPECT_EQ(text.find("Application q", second + 1), std::string::npos);
  EXPECT_THAT(text.substr(0, second), HasSubstr("prefill has 0/1 pods ready"));
  EXPECT_THAT(text.substr(second), HasSubstr("decode has 0/2 pods ready"));
  EXPECT_THAT(err.str(), AllOf(HasSubstr("500"), HasSubstr("error: application q in namespace llm "
                                                           "is gone")));
}

}  // namespace
}  // namespace mindgate::cli
