// `mindgate why`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "audit/collections.h"
#include "cli/status/status.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "schemas/site_kinds.h"
#include "support/cli.h"
#include "support/golden.h"
#include "support/installed.h"

namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using kube::testing::FakeSleeper;
using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::PutWatcher;
using ::testing::HasSubstr;
using ::testing::Not;
namespace resources = kube::resources;

struct WhyCommand : ::testing::Test {
  FakeApiServer server;

  WhyCommand() {
    server.Register({.resource = resources::kPodGroups, .custom = true});
    server.Register({.resource = resources::kReplicaSets});
    server.Register({.resource = {"scheduling.volcano.sh", "v1beta1", "queues", "Queue", false},
                     .custom = true});
    server.Put(resources::kNodes, {{"metadata", {{"name", "npu-0"}}},
                                   {"status",
                                    {{"allocatable", {{"huawei.com/Ascend910", "8"}}},
                                     {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
    server.Put(resources::kDeployments, {{"metadata", {{"namespace", "infer"}, {"name", "chat"}}},
                                         {"spec", {{"replicas", 1}}}});
    server.Put(resources::kReplicaSets,
               {{"metadata",
                 {{"namespace", "infer"},
                  {"name", "chat-7d"},
                  {"ownerReferences", Json::array({Owner(resources::kDeployments, "chat")})}}}});
    server.Put({"scheduling.volcano.sh", "v1beta1", "queues", "Queue", false},
               {{"metadata", {{"name", "default"}}}, {"status", {{"state", "Open"}}}});
    server.Put(resources::kPodGroups, {{"metadata", {{"namespace", "infer"}, {"name", "pg"}}},
                                       {"spec", {{"minMember", 1}, {"queue", "default"}}},
                                       {"status", {{"phase", "Inqueue"}}}});
  }

  Json Owner(const kube::Resource& resource, const std::string& name) const {
    const Json owner = server.Find(resource, "infer", name);
    return {{"apiVersion", "apps/v1"},
            {"kind", resource.kind},
            {"name", name},
            {"uid", owner["metadata"]["uid"]},
            {"controller", true}};
  }

  static Json Condition(const std::string& type, const std::string& status,
                        const std::string& message = "") {
    return {{"type", type}, {"status", status}, {"message", message}};
  }

  // The pod of the Deployment, which finds no node.
  Json PodWith(int npus, const std::string& message = "0/1 nodes are available") const {
    Json pod;
    pod["metadata"] = {{"namespace", "infer"}, {"name", "chat-7d-a"}};
    pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = "pg";
    pod["metadata"]["ownerReferences"] = Json::array({Owner(resources::kReplicaSets, "chat-7d")});
    Json container = {{"name", "main"}};
    container["resources"]["limits"]["huawei.com/Ascend910"] = std::to_string(npus);
    pod["spec"] = {{"schedulerName", "volcano"}};
    pod["spec"]["containers"] = Json::array({container});
    pod["status"]["phase"] = "Pending";
    pod["status"]["conditions"] = Json::array({Condition("PodScheduled", "False", message)});
    return pod;
  }
  void PutPod(int npus) { server.Put(resources::kPods, PodWith(npus)); }
  void RunPod() {
    Json pod = PodWith(8);
    pod["spec"]["nodeName"] = "npu-0";
    pod["status"]["phase"] = "Running";
    pod["status"]["conditions"] =
        Json::array({Condition("PodScheduled", "True"), Condition("Ready", "True")});
    server.Put(resources::kPods, pod);
  }

  CliResult Why(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "why");
    arguments.insert(arguments.end(), {"-n", "infer", "-s", server.url()});
    return Cli(arguments);
  }
};

TEST_F(WhyCommand, ShowsOneScreen) {
  PutPod(16);
  for (const char* format : {"text", "json"}) {
    const CliResult result = Why({"deployment/chat", "-o", format});
    EXPECT_EQ(result.code, kExitDenied);
    EXPECT_EQ(result.err, "");
    ExpectGolden(std::string("tests/cli/why/pending.") + format, result.out);
  }
  EXPECT_EQ(Why({"deployment/chat", "-o", "name"}).out,
            "more-than-a-node-has\nscheduler-message\n");
}

TEST_F(WhyCommand, TakesKindsAsKubectlDoesAndPods) {
  RunPod();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"deploy/chat"},
                                                {"Deployment", "chat"},
                                                {"chat-7d-a"},
                                                {"po/chat-7d-a"},
                                                {"rs", "chat-7d"},
                                                {"pg/pg"}}) {
    const CliResult result = Why(words);
    EXPECT_EQ(result.code, kExitDone) << words.front() << result.err;
    EXPECT_THAT(result.out, HasSubstr("in namespace infer: running\n"));
    EXPECT_THAT(result.out, HasSubstr("[nothing-wrong]"));
  }
}

// Of kinds of the site, which the configuration of the running mindgate has.
TEST_F(WhyCommand, TakesKindsOfTheSite) {
  const schemas::SiteKinds ray(schemas::ShippedKindsNamed("ray"));
  const kube::Resource clusters = audit::ResourceOf(*ray.Find("ray.io", "RayCluster"));
  server.Register({.resource = clusters, .custom = true});
  server.Put(clusters, {{"metadata", {{"namespace", "infer"}, {"name", "train"}}}});
  Json pod = PodWith(16);
  pod["metadata"]["ownerReferences"] = Json::array({Owner(clusters, "train")});
  server.Put(resources::kPods, pod);
  EXPECT_EQ(Why({"raycluster/train"}).err,
            "error: \"raycluster\" is not a kind with pods that mindgate knows\n"
            "hint: `mindgate kinds` lists all of them\n");
  PutWatcher(server, "kinds: [{use: ray}]\n");
  const CliResult result = Why({"raycluster/train"});
  EXPECT_EQ(result.code, kExitDenied) << result.err;
  EXPECT_THAT(result.out, HasSubstr("RayCluster/train in namespace infer: pending\n"));
  EXPECT_THAT(result.out, HasSubstr("[more-than-a-node-has]"));
  EXPECT_EQ(Why({"rayclusters", "trian"}).err,
            "error: there is no rayclusters \"trian\" in namespace infer\nhint: there are train\n");
}

TEST_F(WhyCommand, NamesWhatMayNotBeRead) {
  PutPod(16);
  server.Forbid("list", "nodes");
  server.Forbid("list", "events");
  const CliResult result = Why({"deployment/chat"});
  EXPECT_EQ(result.code, kExitDenied);
  EXPECT_THAT(result.out, HasSubstr("[scheduler-message]"));
  EXPECT_THAT(result.out, HasSubstr("\nNot read:\n- Events of namespace infer: "));
  EXPECT_THAT(result.out, HasSubstr("\n- nodes, pods of all namespaces and fault reports: "));
}

TEST_F(WhyCommand, ReportsWhatIsWrongWithItsArguments) {
  const CliResult kind = Why({"deploymnt/chat"});
  EXPECT_EQ(kind.code, kExitUnusable);
  EXPECT_EQ(kind.err,
            "error: \"deploymnt\" is not a kind with pods that mindgate knows\n"
            "hint: did you mean \"deployments\"? `mindgate kinds` lists all of them\n");
  const CliResult name = Why({"deployment/chatt"});
  EXPECT_EQ(name.code, kExitNotFound);
  EXPECT_EQ(name.err,
            "error: there is no deployment \"chatt\" in namespace infer\n"
            "hint: did you mean \"chat\"?\n");
  EXPECT_EQ(Why({"statefulset/chat"}).err,
            "error: there is no statefulset \"chat\" in namespace infer\n"
            "hint: the namespace has no statefulset; name another one with -n\n");
  EXPECT_EQ(Why({"deployment/"}).err,
            "error: \"\" is not the name of an object\n"
            "hint: write KIND/NAME, KIND NAME, or the name of a pod\n");
  EXPECT_EQ(Why({"configmap/chat"}).code, kExitUnusable);
  server.Forbid("get", "deployments");
  const CliResult forbidden = Why({"deployment/chat"});
  EXPECT_EQ(forbidden.code, kExitUnusable);
  EXPECT_THAT(forbidden.err, HasSubstr("deployment/chat cannot be read: "));
}

// What a tenant writes reaches no terminal as it is.
TEST_F(WhyCommand, EscapesTexts) {
  server.Put(resources::kPods, PodWith(8, "\033]0;owned\a"));
  const CliResult result = Why({"deployment/chat"});
  EXPECT_THAT(result.out, Not(HasSubstr("\033")));
}

struct WhyWait : WhyCommand {
  FakeSleeper sleeper;

  CliResult Wait() {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    Streams io{in, out, err};
    WhyOptions options{.object = {"deployment/chat"}, .wait = true, .output = "name"};
    options.cluster.server = server.url();
    options.cluster.default_namespace = "infer";
    CliResult result;
    result.code = RunWhy(options, io, &sleeper);
    result.out = out.str();
    result.err = err.str();
    return result;
  }
};

TEST_F(WhyWait, PrintsChangesUntilItRuns) {
  PutPod(16);
  int pause = 0;
  sleeper.Then([&] {
    ++pause;
    if (pause == 2) PutPod(8);
    if (pause == 4) RunPod();
  });
  const CliResult result = Wait();
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.code, kExitDone);
  EXPECT_EQ(result.out,
            "more-than-a-node-has\nscheduler-message\nscheduler-message\nnothing-wrong\n");
  EXPECT_EQ(sleeper.pauses().size(), 4u);
}

TEST_F(WhyWait, EndsWhenTheObjectGoes) {
  PutPod(16);
  sleeper.Then([&] { server.Remove(resources::kDeployments, "infer", "chat"); });
  EXPECT_EQ(Wait().code, kExitNotFound);
}

}  // namespace
}  // namespace mindgate::cli
