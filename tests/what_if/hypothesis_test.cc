// What people suppose, and manifests that count as applied.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/objects.h"
#include "support/reported_forecast.h"
#include "support/small_cluster.h"
#include "what_if/forecast.h"

namespace mindgate::what_if {
namespace {

using ::mindgate::testing::Json;
using ::mindgate::testing::Reported;
using ::mindgate::testing::SmallCluster;
using ::mindgate::testing::YamlDocument;

SmallCluster Nodes(int count) {
  SmallCluster cluster;
  for (int i = 0; i < count; ++i) {
    cluster.Node("npu-" + std::to_string(i), {{"metadata", {{"labels", {{"pool", "blue"}}}}}});
  }
  return cluster;
}

TEST(ReadQuestion, ReportsOfEveryPartWhatIsWrong) {
  const struct {
    Question question;
    const char* what;
    const char* hint;
  } cases[] = {
      {{.nodes = {"npu-12"}},
       "--node npu-12: the cluster has no node \"npu-12\"",
       "did you mean \"npu-1\"?"},
      {{.nodes = {"x"}},
       "--node x: the cluster has no node \"x\"",
       "its nodes are npu-0, npu-1, npu-2, npu-3, npu-4 and 6 more"},
      {{.cards = {"npu-0/8"}},
       "--card npu-0/8: npu-0 has no card \"8\"",
       "its cards are Ascend910-0 to Ascend910-7"},
      {{.cards = {"npu-0"}},
       "--card npu-0: this is not a card of a node",
       "write NODE/CARD, as in npu-3/5"},
      {{.cards = {"npu-77/0"}},
       "--card npu-77/0: the cluster has no node \"npu-77\"",
       "did you mean \"npu-7\"?"},
      {{.faults = {"80E1800@npu-0/0"}},
       "--fault 80E1800@npu-0/0: MindCluster 26.1 ships no level for fault code \"80E1800\"",
       "did you mean \"80E18400\"?"},
      {{.faults = {"80E18005@npu-0"}},
       "--fault 80E18005@npu-0: 80E18005 is a fault of a chip, and no chip is named",
       "write 80E18005@npu-0/0 for the first"},
      {{.faults = {"2C000031@npu-0/1"}},
       "--fault 2C000031@npu-0/1: 2C000031 is a fault of the whole node, not of one chip",
       "write 2C000031@npu-0"},
      {{.faults = {"80E18005"}},
       "--fault 80E18005: this is not a fault code with its place",
       "write CODE@NODE/CARD, as in 80E18005@npu-3/5, or CODE@NODE for a fault of the node or its "
       "switches"},
      {{.drains = {"pool=red"}},
       "--drain \"pool=red\": no node has such labels",
       "`kubectl get nodes --show-labels` shows the labels of all nodes"},
      {{.drains = {"a in b"}},
       "--drain \"a in b\": \"a in b\" is not the key of a label: write key=value",
       "write names of nodes, as in npu-3,npu-4, or a label selector of them, as in pool=blue or "
       "'zone in (a,b)'"},
      {{.drains = {""}},
       "--drain \"\": a requirement is empty: write key=value",
       "write names of nodes, as in npu-3,npu-4, or a label selector of them, as in pool=blue or "
       "'zone in (a,b)'"},
  };
  const ClusterSnapshot snapshot = Nodes(11).Snapshot();
  const Inventory inventory = TakeInventory(snapshot);
  for (const auto& each : cases) {
    const auto read = ReadQuestion(each.question, snapshot, inventory);
    ASSERT_FALSE(read);
    ASSERT_EQ(read.error().size(), 1u);
    EXPECT_EQ(read.error()[0].what, each.what);
    EXPECT_EQ(read.error()[0].hint, each.hint);
  }
  const auto all = ReadQuestion({.nodes = {"x"}, .cards = {"y"}, .faults = {"z"}, .drains = {"!"}},
                                snapshot, inventory);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().size(), 4u) << "all faults at once";
}

TEST(ReadQuestion, ANodeThatIsGoneIsNotSupposedToBeLost) {
  SmallCluster cluster = Nodes(2);
  cluster.Pod({.name = "p", .node = "npu-7", .chips = "0-3"});
  const ClusterSnapshot snapshot = cluster.Snapshot();
  const Inventory inventory = TakeInventory(snapshot);
  const auto read = ReadQuestion({.nodes = {"npu-7"}}, snapshot, inventory);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error()[0].what,
            "--node npu-7: the Node \"npu-7\" is no longer in the cluster, and a pod is still "
            "bound to it");
  EXPECT_EQ(read.error()[0].hint, "leave it out: every forecast counts such pods as lost");
}

// By the device plugin's list, which may have holes.
TEST(ReadQuestion, CardsAreThoseThatTheDevicePluginLists) {
  SmallCluster cluster;
  cluster.Node("n0", {{"metadata",
                       {{"annotations",
                         {{"baseDeviceInfos",
                           R"({"Ascend910-0":{"IP":""},"Ascend910-10":{},"Ascend910-2":{}})"}}}}}});
  const ClusterSnapshot snapshot = cluster.Snapshot();
  const Inventory inventory = TakeInventory(snapshot);
  EXPECT_TRUE(ReadQuestion({.cards = {"n0/10"}}, snapshot, inventory));
  EXPECT_TRUE(ReadQuestion({.cards = {"n0/Ascend910-2"}}, snapshot, inventory));
  const auto missing = ReadQuestion({.cards = {"n0/1"}}, snapshot, inventory);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error()[0].hint, "its cards are Ascend910-0 to Ascend910-10");
}

TEST(Sentences, StateWhatIsSupposed) {
  const ClusterSnapshot snapshot = Nodes(2).Snapshot();
  const auto read = ReadQuestion({.nodes = {"npu-1"},
                                  .cards = {"npu-0/3"},
                                  .faults = {"80E18005@npu-0/1", "2C000031@npu-1"},
                                  .drains = {"pool=blue"}},
                                 snapshot, TakeInventory(snapshot));
  ASSERT_TRUE(read);
  EXPECT_EQ(Sentences(*read),
            (std::vector<std::string>{
                "npu-1 is lost (NotReady)", "Ascend910-3 of npu-0 is unhealthy",
                "Ascend910-1 of npu-0 has fault 80E18005 (RestartNPU): the pods that use it are "
                "faulty",
                "npu-1 has fault 2C000031 (SeparateNPU): all pods of the node are faulty",
                "the nodes with pool=blue are drained: npu-0, npu-1"}));
}

// --- manifests -----------------------------------------------------------------------------------

// What `applied` and `happens` report of the manifest, and of the question after it.
std::string WithManifest(const SmallCluster& cluster, const std::vector<std::string>& manifests,
                         const Question& question = {}, const schemas::ViewOptions& options = {}) {
  const ClusterSnapshot snapshot = cluster.Snapshot();
  std::vector<json::Document> documents;
  for (const std::string& text : manifests) documents.push_back(YamlDocument(text));
  std::vector<ManifestObject> objects;
  for (const json::Document& document : documents) objects.push_back({&document.root(), "infer"});
  const auto hypothesis = ReadQuestion(question, snapshot, TakeInventory(snapshot));
  EXPECT_TRUE(hypothesis);
  const Answer answer = AnswerOf(snapshot, objects, *hypothesis, options);
  std::string text = Reported(*answer.applied);
  if (answer.happens) text += "then: " + Reported(*answer.happens);
  for (const std::string& problem : answer.problems) text += problem + "\n";
  return text;
}

constexpr const char* kContainer =
    "containers: [{name: m, resources: {limits: {huawei.com/Ascend910: 8}}}]";

std::string Template(const std::string& labels = "") {
  return "template: {metadata: {labels: {" + labels + "}}, spec: {" + kContainer + "}}";
}

// As many pods as its controller makes, in as many PodGroups.
TEST(Manifests, EachKindMakesItsPods) {
  const struct {
    std::string text;
    std::string want;
  } cases[] = {
      {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" + std::string(kContainer) + "}}",
       "Pod/a a: new moves; a >npu-0\n"},
      {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 2, " +
           Template() + "}}",
       "Deployment/a a: new moves; a-0 >npu-0; a-1 >npu-1\n"},
      {"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {" + Template() + "}}",
       "StatefulSet/a a: new moves; a-0 >npu-0\n"},
      {"{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: a}, spec: "
       "{minAvailable: 2, tasks: [{name: w, replicas: 2, " +
           Template() + "}]}}",
       "Job/a a: new moves; a-w-0 >npu-0; a-w-1 >npu-1\n"},
      {"{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a}, spec: "
       "{replicaSpecs: {Master: {replicas: 1, " +
           Template() + "}, Worker: {replicas: 1, " + Template() + "}}}}",
       "AscendJob/a a: new moves; a-Master-0 >npu-0; a-Worker-0 >npu-1\n"},
      {"{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: a}, "
       "spec: "
       "{replicas: 2, leaderWorkerTemplate: {size: 2, worker" +
           Template().replace(0, 1, "T") + "}}}",
       "LeaderWorkerSet/a a-0: new moves; a-0-worker-0 >npu-0; a-0-worker-1 >npu-1\n"
       "LeaderWorkerSet/a a-1: new noRoom; a-1-worker-0 >?; a-1-worker-1 >?; fix: room for 1 more "
       "pod with 8 huawei.com/Ascend910\n"},
      {"{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: a}, "
       "spec: {replicas: 1, template: {spec: {roles: [{name: p, replicas: 2, " +
           Template() + "}]}}}}",
       "StormService/a a: new moves; a-p-0 >npu-0; a-p-1 >npu-1\n"},
      {"{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: a}, "
       "spec: {replicas: 1, template: {spec: {roles: [{name: p, replicas: 3, podGroupSize: 1, " +
           Template() + "}]}}}}",
       "StormService/a a: new moves; a-p-0 >npu-0; a-p-1 >npu-1; a-p-2 >npu-2\n"},
      {"{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: a}, "
       "spec: {replicas: 1, template: {spec: {roles: [{name: p, replicas: 2, podGroupSize: 2, " +
           Template() + "}]}}}}",
       "StormService/a a-0: new moves; a-0-p-0 >npu-0; a-0-p-1 >npu-1\n"
       "StormService/a a-1: new partly; a-1-p-0 >npu-2; a-1-p-1 >?; fix: room for 1 more pod with "
       "8 huawei.com/Ascend910\n"},
      {"{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: a}, spec: {engine: "
       "{minReplicas: 2, runner: {name: r, resources: {limits: {huawei.com/Ascend910: 8}}}}}}",
       "InferenceService/a a: new moves; a-engine-0 >npu-0; a-engine-1 >npu-1\n"},
      {"{apiVersion: mindcluster.huawei.com/v1, kind: InferService, metadata: {name: a}, spec: "
       "{roles: [{name: p, replicas: 2, metadata: {labels: {infer.huawei.com/gang-schedule: "
       "'true'}}, workload: {kind: Deployment}, spec: {replicas: 1, " +
           Template() + "}}]}}",
       "InferService/a a-0: new moves; a-0-p-0 >npu-0\n"
       "InferService/a a-1: new moves; a-1-p-0 >npu-1\n"},
      {"{apiVersion: v1, kind: Service, metadata: {name: a}}", ""},
  };
  for (const auto& each : cases) EXPECT_EQ(WithManifest(Nodes(3), {each.text}), each.want);
}

// No node could ever take them: that is not the same as full nodes.
TEST(Manifests, ADeviceThatNoNodeOffersFitsNowhere) {
  const auto pod = [](const std::string& resource) {
    return "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: m, "
           "resources: {limits: {" +
           resource + "}}}]}}";
  };
  const struct {
    std::string asks;
    std::string nodes;  // empty: it fits
  } cases[] = {
      {"huawei.com/Ascend910B4-1: 1",
       "no huawei.com/Ascend910B4-1 on 2; no node offers huawei.com/Ascend910B4-1: they offer "
       "huawei.com/Ascend910"},
      {"huawei.com/ascend-1980: 8",
       "no huawei.com/ascend-1980 on 2; no node offers huawei.com/ascend-1980: they offer "
       "huawei.com/Ascend910"},
      {"nvidia.com/gpu: 1",
       "no nvidia.com/gpu on 2; no node offers nvidia.com/gpu: they offer huawei.com/Ascend910"},
      {"huawei.com/Ascend910: 8, rdma/hca: 1",
       "no rdma/hca on 2; no node offers rdma/hca: they offer huawei.com/Ascend910"},
      {"huawei.com/Ascend910: 8, cpu: 400, hugepages-2Mi: 1Gi", ""},
      {"huawei.com/Ascend910B3: 0", ""},
  };
  for (const auto& each : cases) {
    const json::Document object = YamlDocument(pod(each.asks));
    const auto answer = AnswerOf(Nodes(2).Snapshot(), {{&object.root(), "default"}}, {});
    ASSERT_TRUE(answer.applied);
    ASSERT_EQ(answer.applied->instances.size(), 1u) << each.asks;
    const auto& instance = answer.applied->instances.front();
    EXPECT_EQ(instance.outcome, each.nodes.empty() ? Outcome::kMoves : Outcome::kNoRoom);
    EXPECT_EQ(instance.shortage ? LeftOutText(*instance.shortage) : "", each.nodes) << each.asks;
  }
}

TEST(Manifests, ThenTheyAreHitLikeTheRest) {
  const std::string job =
      "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: a, labels: "
      "{fault-scheduling: force}}, spec: {minAvailable: 2, tasks: [{name: w, replicas: 2, " +
      Template() + "}]}}";
  EXPECT_EQ(WithManifest(Nodes(3), {job}, {.cards = {"npu-0/5"}}),
            "Job/a a: new moves; a-w-0 >npu-0; a-w-1 >npu-1\n"
            "then: Job/a a: moves; hit a-w-0@npu-0 CardUnhealthy; deleted a-w-0,a-w-1; "
            "a-w-0 npu-0>npu-1; a-w-1 npu-1>npu-2\n");
}

// What the cluster has of it already goes.
TEST(Manifests, AnObjectThatIsThereIsReplaced) {
  SmallCluster cluster = Nodes(2);
  cluster.Group("pg", "ReplicaSet/a-7d", 1);
  for (const char* number : {"0", "1"}) {
    cluster.Pod({std::string("a-7d-") + number,
                 std::string("npu-") + number,
                 "0-7",
                 "pg",
                 "ReplicaSet/a-7d",
                 {{"pod-template-hash", "7d"}}});
  }
  EXPECT_EQ(
      WithManifest(cluster, {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: "
                             "{replicas: 2, " +
                             Template() + "}}"}),
      "Deployment/a a: new moves; a-0 >npu-0; a-1 >npu-1\n");
}

// With the rule beside it: only what its shape wants gets past the gate.
TEST(Manifests, ARuleHoldsInstancesBack) {
  const std::string rule =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: rule}, data: {elastic_scaling.json: "
      "'{\"version\":\"1.0\",\"elastic_scaling_list\":[{\"group_list\":[{\"group_name\":\"d\","
      "\"group_num\":\"1\",\"server_num_per_group\":\"1\"}]}]}'}}";
  const auto job = [](const std::string& name) {
    return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: " + name +
           ", labels: {jobID: chat, mind-cluster/scaling-rule: rule, mind-cluster/group-name: d}}, "
           "spec: {replicaSpecs: {Master: {replicas: 1, " +
           Template() + "}}}}";
  };
  EXPECT_EQ(WithManifest(Nodes(3), {rule, job("d0"), job("d1")}),
            "AscendJob/d0 d0: new moves; d0-Master-0 >npu-0\n"
            "AscendJob/d1 d1: new held; d1-Master-0 >?\n"
            "chat: none>1 d 0>1\n");
}

TEST(Manifests, AMissingRuntimeIsReported) {
  EXPECT_EQ(WithManifest(Nodes(1), {"{apiVersion: ome.io/v1beta1, kind: InferenceService, "
                                    "metadata: {name: a}, spec: {runtime: {name: r}, engine: "
                                    "{minReplicas: 1}}}"}),
            "InferenceService/a a: new moves; a-engine-0 >npu-0\n"
            "InferenceService a names a runtime that is not in the manifest: what its pods need is "
            "not known\n");
}

// A name that mindgate.yaml gives to another product is not MindCluster's to serve, and its own
// name for Volcano is Volcano.
TEST(Manifests, AreReadByTheConfiguration) {
  const std::string deployment =
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 2, " +
      Template() + "}}";
  EXPECT_EQ(WithManifest(Nodes(1), {deployment}),
            "Deployment/a a: new noRoom; a-0 >?; a-1 >?; fix: room for 1 more pod with 8 "
            "huawei.com/Ascend910\n");
  const std::vector<schemas::NpuResourceRow> given_away = {
      {"huawei.com/Ascend910", schemas::NpuServer::kOther}};
  EXPECT_EQ(WithManifest(Nodes(1), {deployment}, {}, {.npu_resources = given_away}),
            "Deployment/a a: new moves; a-0 >npu-0; a-1 >npu-0\n");
}

// Init containers run before, on the same chips.
TEST(Manifests, CountWhatControllersCount) {
  const auto limits = [](const char* count) {
    return std::string("resources: {limits: {huawei.com/Ascend910: ") + count + "}}";
  };
  EXPECT_EQ(WithManifest(Nodes(1),
                         {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, "
                          "spec: {replicas: 2, template: {spec: {initContainers: [{name: "
                          "i, " +
                          limits("8") + "}], containers: [{name: m, " + limits("4") + "}]}}}}"}),
            "Deployment/a a: new moves; a-0 >npu-0; a-1 >npu-0\n");
}

TEST(Manifests, PodsOfADaemonSetAreNotPlanned) {
  EXPECT_EQ(WithManifest(Nodes(1), {"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}, "
                                    "spec: {" +
                                    Template() + "}}"}),
            "DaemonSet a makes a pod on every node that takes it: its pods are not planned\n");
}

TEST(Manifests, KindsWhosePodsAreNotKnownAreListed) {
  const auto object = [](const char* version, const char* kind) {
    return std::string("{apiVersion: ") + version + ", kind: " + kind + ", metadata: {name: a}}";
  };
  EXPECT_EQ(WithManifest(Nodes(1), {object("ray.io/v1", "RayCluster"), object("v1", "Service"),
                                    object("policy/v1", "PodDisruptionBudget"),
                                    object("networking.k8s.io/v1", "Ingress"),
                                    object("serving.kserve.io/v1beta1", "InferenceService")}),
            "not considered, as the pods of such kinds are not known: RayCluster a, "
            "InferenceService a\n");
}

TEST(Manifests, AReplicationController) {
  EXPECT_EQ(WithManifest(Nodes(1), {"{apiVersion: v1, kind: ReplicationController, metadata: "
                                    "{name: a}, spec: {replicas: 1, " +
                                    Template() + "}}"}),
            "ReplicationController/a a: new moves; a-0 >npu-0\n");
}

TEST(Manifests, AreBounded) {
  const std::string text = WithManifest(
      Nodes(1), {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: "
                 "1000000000, " +
                 Template() + "}}"});
  EXPECT_TRUE(text.ends_with("the manifests make more than 10000 pods: the rest is left out\n"))
      << text.substr(text.size() - 200);
}

}  // namespace
}  // namespace mindgate::what_if
