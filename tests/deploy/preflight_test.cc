#include <gmock/gmock.h>

#include "deploy/cluster_fixture.h"
#include "deploy/plan.h"

namespace mindgate::deploy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kNoTable =
    "no pod of MindIE Motor becomes ready before ConfigMap motor-global-ranktable holds the rank "
    "tables of all instances, which neither mindgate nor ClusterD writes | docs/deploy.md says who "
    "can, and what they look like";

struct PreflightTest : ClusterTest {
  Preflight Ahead(std::string_view text) {
    const Configuration configuration = Read(text);
    return Value(
        RunPreflight(client, configuration.application, Render(configuration.application), {}));
  }
  std::vector<std::string> Texts(const std::vector<Problem>& blockers) {
    std::vector<std::string> texts;
    for (const Problem& each : blockers) {
      texts.push_back(each.what + (each.hint.empty() ? "" : " | " + each.hint));
    }
    return texts;
  }
};

TEST_F(PreflightTest, NothingIsInTheWay) {
  for (const auto config : {kOmeConfig, kAibrixConfig, kMindieConfig}) {
    const Preflight found = Ahead(config);
    EXPECT_THAT(Texts(found.blockers), IsEmpty()) << config;
    EXPECT_EQ(found.notes.size(), config == kMindieConfig ? 1u : 0u) << config;
  }
}

// Somebody else must write it, and no server starts before.
TEST_F(PreflightTest, TheRankTableOfMindie) {
  EXPECT_THAT(Texts(Ahead(kMindieConfig).notes), ElementsAre(kNoTable));
  Json table = {{"metadata", {{"namespace", "mindie"}, {"name", "motor-global-ranktable"}}},
                {"data", {{"global_ranktable.json", R"({"status":"initializing"})"}}}};
  server.Put(kube::resources::kConfigMaps, table);
  EXPECT_THAT(Texts(Ahead(kMindieConfig).notes), ElementsAre(kNoTable));
  table["data"]["global_ranktable.json"] = R"({"version":"1.0","status":"completed"})";
  server.Put(kube::resources::kConfigMaps, table);
  EXPECT_THAT(Texts(Ahead(kMindieConfig).notes), IsEmpty());
}

// Model, runtime and namespace, all at once.
TEST_F(PreflightTest, WhatIsMissingIsNamed) {
  EXPECT_THAT(
      Texts(Ahead(With(With(With(kOmeConfig, "model_name: m1", "model_name: m9"),
                            "runtime_name: rt1", "runtime_name: rt9"),
                       "app_namespace: llm", "app_namespace: nowhere"))
                .blockers),
      ElementsAre(
          "namespace nowhere does not exist | create it: kubectl create namespace nowhere",
          "there is no BaseModel m9 in namespace nowhere and no ClusterBaseModel of that "
          "name | create the model, or correct model_name",
          "there is no ServingRuntime rt9 in namespace nowhere and no ClusterServingRuntime "
          "of that name | create the runtime, or correct runtime_name; without it OME "
          "chooses one for the model"));
}

// A pod and a leader with workers do not mix.
// One obstacle, and not one for each object that cannot be created.
TEST_F(PreflightTest, ANamespaceThatIsBeingDeleted) {
  Json ns = server.Find(kube::resources::kNamespaces, "", "llm");
  ns["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  server.Put(kube::resources::kNamespaces, ns);
  const Configuration configuration = Read(kAibrixConfig);
  const Preflight found =
      Value(RunPreflight(client, configuration.application, Render(configuration.application), {}));
  ASSERT_EQ(found.blockers.size(), 1u);
  EXPECT_EQ(found.blockers[0].what, "namespace llm is being deleted: nothing can be created in it");
}

TEST_F(PreflightTest, TheRuntimeMustHaveTheShape) {
  EXPECT_THAT(
      Texts(Ahead(With(kOmeConfig, "  decoder:\n", "  decoder:\n    pod_num: 2\n")).blockers),
      ElementsAre(
          "runtime rt1 makes the decoder of one pod, but pod_num is 2 | write pod_num: 1, or "
          "choose a runtime whose decoder has leader and worker"));
}

// A framework that is not installed.
TEST_F(PreflightTest, KindsThatTheClusterDoesNotServe) {
  FakeApiServer empty{{.clock = &clock}};
  empty.Put(kube::resources::kNamespaces, {{"metadata", {{"name", "llm"}}}});
  auto wire = kube::MakeTransport(AccessTo(empty.url()), "mindgate/test");
  kube::Client elsewhere{*wire, sleeper, {.retries = 0}};
  const Configuration configuration = Read(kAibrixConfig);
  const Preflight found = Value(
      RunPreflight(elsewhere, configuration.application, Render(configuration.application), {}));
  EXPECT_EQ(
      Texts(found.blockers)[0],
      "the cluster does not serve StormService (orchestration.aibrix.ai/v1alpha1): applications of "
      "framework aibrix cannot run there | install AIBrix v0.5.0 or newer "
      "(https://github.com/vllm-project/aibrix)");
}

TEST_F(PreflightTest, NpusOfTheNodes) {
  EXPECT_THAT(
      Texts(Ahead(With(With(kOmeConfig, "    image: r/s:1\n    npu_num: 8",
                            "    node_selector: {zone: a}\n    npu_num: 8"),
                       "  decoder:\n    npu_num: 8", "  decoder:\n    npu_num: 16"))
                .blockers),
      ElementsAre("no node with zone=a exists, which engine asks for | correct the node selector; "
                  "kubectl get nodes --show-labels lists the labels",
                  "no ready node has 16 huawei.com/Ascend910, which a pod of decoder asks for; the "
                  "largest has 8 | write npu_num: 8 or less"));
  EXPECT_THAT(
      Texts(Ahead(With(kOmeConfig, "  decoder:\n", "  decoder:\n    min_replicas: 7\n")).notes),
      ElementsAre(
          "the application has engine 1 pod of 8 NPUs and decoder 7 pods of 8 NPUs, and the ready "
          "nodes have room for 6 of 8 even when they are empty | the others stay Pending until "
          "there are more nodes"));
}

// Roles share the nodes, and a framework has node selectors of its own.
TEST_F(PreflightTest, RolesShareTheNodes) {
  EXPECT_THAT(
      Texts(Ahead(With(kMindieConfig, "  decode:\n", "  decode:\n    instances: 2\n")).notes),
      ElementsAre(kNoTable,
                  "the application has prefill 4 pods of 8 NPUs and decode 4 pods of 8 "
                  "NPUs, and the ready nodes have room for 6 of 8 even when they are empty "
                  "| the others stay Pending until there are more nodes"));
  for (const char* name : {"npu-0", "npu-1", "npu-2", "npu-3", "npu-4", "npu-5"}) {
    Json node = server.Find(kube::resources::kNodes, "", name);
    node["metadata"]["labels"] = {{"accelerator", "huawei-Ascend310P"}};
    server.Put(kube::resources::kNodes, node);
  }
  EXPECT_EQ(Texts(Ahead(kMindieConfig).blockers)[0],
            "no node with accelerator=huawei-Ascend910 exists, which prefill asks for | correct "
            "the node selector; kubectl get nodes --show-labels lists the labels");
}

TEST_F(PreflightTest, Quota) {
  server.Put(resources::kResourceQuotas,
             {{"metadata", {{"namespace", "llm"}, {"name", "npus"}}},
              {"spec", {{"hard", {{"requests.huawei.com/Ascend910", "8"}}}}}});
  EXPECT_THAT(Texts(Ahead(kOmeConfig).blockers),
              ElementsAre("ResourceQuota npus allows 8 requests.huawei.com/Ascend910 in namespace "
                          "llm, and the application needs 16 | ask for a larger quota, or write "
                          "fewer instances"));
}

// Every resource of every quota, by both of its names.
TEST_F(PreflightTest, QuotaOfEverything) {
  const auto put = [&](const std::string& name, const Json& hard, const Json& used = {}) {
    server.Put(resources::kResourceQuotas, {{"metadata", {{"namespace", "llm"}, {"name", name}}},
                                            {"spec", {{"hard", hard}}},
                                            {"status", {{"hard", hard}, {"used", used}}}});
  };
  put("counts", {{"pods", "3"},
                 {"count/services", "3"},
                 {"services", "4"},
                 {"count/stormservices.orchestration.aibrix.ai", "0"},
                 {"secrets", "1"}});
  put("amounts", {{"limits.cpu", "2"}, {"requests.memory", "1Gi"}});
  const std::string hint = " | ask for a larger quota, or write fewer instances";
  const std::string lack = " | they are refused unless a LimitRange of the namespace has a default";
  const Preflight found = Ahead(kAibrixConfig);
  EXPECT_THAT(
      Texts(found.blockers),
      ElementsAre(
          "ResourceQuota counts allows 3 count/services in namespace llm, and the application "
          "needs 4" +
              hint,
          "ResourceQuota counts allows 0 count/stormservices.orchestration.aibrix.ai in namespace "
          "llm, and the application needs 1" +
              hint,
          "ResourceQuota counts allows 3 pods in namespace llm, and the application needs 4" +
              hint));
  EXPECT_THAT(Texts(found.notes),
              ElementsAre("ResourceQuota amounts allows 2 limits.cpu in namespace llm, and pods of "
                          "the application state none of it" +
                              lack,
                          "ResourceQuota amounts allows 1Gi requests.memory in namespace llm, and "
                          "pods of the application state none of it" +
                              lack));
}

TEST_F(PreflightTest, QuotaOfProcessorsAndMemory) {
  const std::string config = With(
      kOmeConfig, "  image: r/store:1\n",
      "  image: r/store:1\n  resources: {requests: {cpu: 500m, memory: 2Gi}, limits: {cpu: 1500m, "
      "memory: 4Gi}}\n");
  const Json hard = {{"cpu", "0.25"}, {"limits.memory", "8Gi"}, {"limits.cpu", "2"}};
  server.Put(resources::kResourceQuotas,
             {{"metadata", {{"namespace", "llm"}, {"name", "q"}}},
              {"spec", {{"hard", hard}}},
              {"status",
               {{"used", {{"cpu", "100m"}, {"limits.memory", "6Gi"}, {"limits.cpu", "250m"}}}}}});
  const Preflight found = Ahead(config);
  EXPECT_THAT(Texts(found.blockers),
              ElementsAre("ResourceQuota q allows 0.25 cpu in namespace llm, and the application "
                          "needs 500m | ask for a larger quota, or write fewer instances"));
  EXPECT_THAT(
      Texts(found.notes),
      ElementsAre("ResourceQuota q allows 8Gi limits.memory in namespace llm and others use "
                  "6Gi; the application needs 4Gi"));
}

// What an application has already is its own.
TEST_F(PreflightTest, QuotaThatTheApplicationItselfUses) {
  Deploy(kAibrixConfig);
  const Json hard = {{"count/services", "4"}, {"requests.huawei.com/Ascend910", "24"}};
  server.Put(resources::kResourceQuotas, {{"metadata", {{"namespace", "llm"}, {"name", "q"}}},
                                          {"spec", {{"hard", hard}}},
                                          {"status", {{"used", hard}}}});
  EXPECT_THAT(Ahead(kAibrixConfig).notes, IsEmpty());
}

// Which pods a quota with scopes is about depends on what is added to them.
TEST_F(PreflightTest, QuotaOfSomePods) {
  server.Put(resources::kResourceQuotas,
             {{"metadata", {{"namespace", "llm"}, {"name", "q"}}},
              {"spec", {{"hard", {{"pods", "1"}}}, {"scopes", {"Terminating"}}}}});
  EXPECT_THAT(Ahead(kAibrixConfig).blockers, IsEmpty());
  EXPECT_THAT(Ahead(kAibrixConfig).notes, ::testing::SizeIs(1));
}

TEST_F(PreflightTest, ConfigMapsOfMindie) {
  server.Remove(kube::resources::kConfigMaps, "mindie", "common-env");
  EXPECT_THAT(
      Texts(Ahead(kMindieConfig).blockers),
      ElementsAre("there is no ConfigMap common-env in namespace mindie, which the "
                  "containers read | create it from the files that come with the framework, "
                  "or write its name"));
}

// Without rights nothing is said to be missing.
TEST_F(PreflightTest, WhatMayNotBeReadIsANote) {
  server.Forbid("*", "*");
  const Preflight found = Ahead(kOmeConfig);
  EXPECT_THAT(found.blockers, IsEmpty());
  EXPECT_EQ(found.notes.size(), 7u);
}

}  // namespace
}  // namespace mindgate::deploy
