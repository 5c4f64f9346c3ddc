// What would become of a cluster: who loses pods, what is done about it, where they go.
#include "what_if/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/reported_forecast.h"
#include "support/small_cluster.h"

namespace mindgate::what_if {
namespace {

using ::mindgate::testing::Json;
using ::mindgate::testing::PodSpec;
using ::mindgate::testing::Reported;
using ::mindgate::testing::SmallCluster;

Forecast ForecastFor(const SmallCluster& cluster, const Question& question) {
  const ClusterSnapshot snapshot = cluster.Snapshot();
  const auto hypothesis = ReadQuestion(question, snapshot, TakeInventory(snapshot));
  EXPECT_TRUE(hypothesis) << hypothesis.error().front().what;
  return hypothesis ? ForecastOf(snapshot, *hypothesis) : Forecast();
}

std::string Asked(const SmallCluster& cluster, const Question& question) {
  return Reported(ForecastFor(cluster, question));
}

const Json kForce = {{"fault-scheduling", "force"}};
const Json kForcePods = {{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}};
const Json kK1 = {{"huawei.com/schedule_minAvailable", "1"}};

// Two replicas with four NPUs each, on n0 and n1, and as many free there.
SmallCluster TwoReplicas(const Json& labels, const Json& annotations = kK1) {
  SmallCluster cluster;
  cluster.Node("n0").Node("n1");
  cluster.Group("pg", "ReplicaSet/chat-7d", 1);
  for (const char* number : {"0", "1"}) {
    Json all = labels;
    all["pod-template-hash"] = "7d";
    cluster.Pod({.name = std::string("chat-") + number,
                 .node = std::string("n") + number,
                 .chips = "0-3",
                 .group = "pg",
                 .owner = "ReplicaSet/chat-7d",
                 .labels = all,
                 .annotations = annotations});
  }
  return cluster;
}

// One job of three pods with eight NPUs each, on n0 to n2; n3 is free.
SmallCluster Job(const std::string& owner, const Json& labels) {
  SmallCluster cluster;
  for (const char* node : {"n0", "n1", "n2", "n3"}) cluster.Node(node);
  cluster.Group("pg", owner, 3, labels);
  for (const char* number : {"0", "1", "2"}) {
    cluster.Pod({.name = std::string("w") + number,
                 .node = std::string("n") + number,
                 .chips = "0-7",
                 .group = "pg",
                 .owner = owner,
                 .labels = labels,
                 .annotations = {{"hccl/rankIndex", number}}});
  }
  return cluster;
}

// --- owners --------------------------------------------------------------------------------------

TEST(WhatIfOwners, ADeploymentLosesTheFaultyPod) {
  // On the chips of the same node that still work.
  EXPECT_EQ(
      Asked(TwoReplicas(kForcePods), {.cards = {"n0/0"}}),
      "Deployment/chat pg: moves; hit chat-0@n0 CardUnhealthy; deleted chat-0; chat-0 n0>n0\n");
  EXPECT_EQ(
      Asked(TwoReplicas(kForcePods), {.nodes = {"n0"}}),
      "Deployment/chat pg: moves; hit chat-0@n0 NodeUnhealthy; deleted chat-0; chat-0 n0>n1\n");
  // A card that it does not use.
  EXPECT_EQ(Asked(TwoReplicas(kForcePods), {.cards = {"n0/5"}}), "");
  // Without pod-rescheduling all pods of the PodGroup go.
  EXPECT_EQ(Asked(TwoReplicas(kForce), {.nodes = {"n0"}}),
            "Deployment/chat pg: moves; hit chat-0@n0 NodeUnhealthy; deleted chat-0,chat-1; "
            "chat-0 n0>n1; chat-1 n1>n1\n");
}

// Without K the plugin takes the replicas for a gang: what fits alone stays out.
TEST(WhatIfOwners, ADeploymentWithoutKIsAGangOfItsReplicas) {
  const Question all = {.cards = {"n0/0", "n0/1", "n0/2", "n0/3", "n0/4", "n1/0"}};
  EXPECT_EQ(Asked(TwoReplicas(kForcePods), all),
            "Deployment/chat pg: partly; hit chat-0@n0 CardUnhealthy; hit chat-1@n1 CardUnhealthy; "
            "deleted chat-0,chat-1; chat-0 n0>n1; chat-1 n1>?; "
            "fix: room for 1 more pod with 4 huawei.com/Ascend910\n");
  EXPECT_EQ(Asked(TwoReplicas(kForcePods, Json::object()), all),
            "Deployment/chat pg: noRoom; hit chat-0@n0 CardUnhealthy; hit chat-1@n1 CardUnhealthy; "
            "deleted chat-0,chat-1; chat-0 n0>?; chat-1 n1>?; "
            "fix: room for 1 more pod with 4 huawei.com/Ascend910\n");
}

TEST(WhatIfOwners, AJobGoesWholeAndComesBackWhole) {
  for (const char* owner : {"Job/train", "AscendJob/train"}) {
    EXPECT_EQ(Asked(Job(owner, kForce), {.nodes = {"n1"}}),
              std::string(owner) +
                  " pg: moves; hit w1@n1 NodeUnhealthy; deleted w0,w1,w2; w0 n0>n0; w1 n1>n2; "
                  "w2 n2>n3\n");
    EXPECT_EQ(Asked(Job(owner, kForce), {.nodes = {"n1", "n3"}}),
              std::string(owner) +
                  " pg: noRoom; hit w1@n1 NodeUnhealthy; deleted w0,w1,w2; w0 n0>?; w1 n1>?; "
                  "w2 n2>?; fix: room for 1 more pod with 8 huawei.com/Ascend910\n");
  }
  EXPECT_EQ(Asked(Job("Job/train", {{"fault-scheduling", "grace"}}), {.cards = {"n1/7"}}),
            "Job/train pg: moves; hit w1@n1 CardUnhealthy; evicted w0,w1,w2; w0 n0>n0; w1 n1>n2; "
            "w2 n2>n3\n");
}

// Rank 0 takes the whole job, whatever pod-rescheduling says; another rank only itself.
TEST(WhatIfOwners, TheMasterTakesTheWholeJob) {
  EXPECT_EQ(Asked(Job("Job/train", kForcePods), {.cards = {"n1/0"}}),
            "Job/train pg: moves; hit w1@n1 CardUnhealthy; deleted w1; w1 n1>n3\n");
  EXPECT_EQ(Asked(Job("Job/train", kForcePods), {.cards = {"n0/0"}}),
            "Job/train pg: moves; hit w0@n0 CardUnhealthy; deleted w0,w1,w2; w0 n0>n1; w1 n1>n2; "
            "w2 n2>n3\n");
}

// What did not run again without its faulty pods goes whole, and then it finds room or none.
TEST(WhatIfOwners, AJobThatStaysIncompleteGoesWhole) {
  EXPECT_EQ(Asked(Job("Job/train", kForcePods), {.nodes = {"n1", "n3"}}),
            "Job/train pg: noRoom; hit w1@n1 NodeUnhealthy; deleted w1; deleted w0,w2; w0 n0>?; "
            "w1 n1>?; w2 n2>?; fix: room for 1 more pod with 8 huawei.com/Ascend910\n");
  // Whose pods are always limited to the faulty ones keeps the others.
  Json limited = kForcePods;
  limited["app"] = "mindie-ms-controller";
  EXPECT_EQ(Asked(Job("Job/train", limited), {.nodes = {"n1", "n3"}}),
            "Job/train pg: noRoom; hit w1@n1 NodeUnhealthy; deleted w1; w1 n1>?; "
            "fix: room for 1 more pod with 8 huawei.com/Ascend910\n");
}

// OME's pods are always limited to the faulty ones.
TEST(WhatIfOwners, AnInferenceServiceLosesTheFaultyPodAlone) {
  const Json labels = {{"fault-scheduling", "force"}, {"ome.io/inferenceservice", "llama"}};
  EXPECT_EQ(Asked(TwoReplicas(labels), {.nodes = {"n1"}}),
            "InferenceService/llama pg: moves; hit chat-1@n1 NodeUnhealthy; deleted chat-1; "
            "chat-1 n1>n0\n");
}

// LeaderWorkerSet recreates a group whenever one of its pods goes: the leaders share a
// PodGroup, and the other group keeps its pods.
TEST(WhatIfOwners, ALeaderWorkerSetRecreatesTheGroup) {
  SmallCluster cluster;
  for (const char* node : {"n0", "n1", "n2"}) cluster.Node(node);
  cluster.Group("leaders", "StatefulSet/lws", 1);
  for (const char* group : {"0", "1"}) {
    const std::string name = std::string("lws-") + group;
    cluster.Group("workers-" + std::string(group), "StatefulSet/" + name, 1);
    Json labels = kForcePods;
    labels["leaderworkerset.sigs.k8s.io/name"] = "lws";
    labels["leaderworkerset.sigs.k8s.io/group-index"] = group;
    const std::string node = std::string("n") + group;
    cluster.Pod({name, node, "0-3", "leaders", "StatefulSet/lws", labels});
    cluster.Pod(
        {name + "-1", node, "4-7", "workers-" + std::string(group), "StatefulSet/" + name, labels});
  }
  EXPECT_EQ(Asked(cluster, {.cards = {"n0/5"}}),
            "LeaderWorkerSet/lws leaders: moves; recreated lws-0; lws-0 n0>n0\n"
            "LeaderWorkerSet/lws workers-0: moves; hit lws-0-1@n0 CardUnhealthy; deleted lws-0-1; "
            "lws-0-1 n0>n2\n");
}

TEST(WhatIfOwners, NobodyMakesABarePodAgain) {
  SmallCluster cluster;
  cluster.Node("n0").Node("n1");
  cluster.Group("pg", "Pod/p", 1, kForce);
  cluster.Pod({.name = "p", .node = "n0", .chips = "0", .group = "pg", .labels = kForce});
  EXPECT_EQ(Asked(cluster, {.cards = {"n0/0"}}),
            "Pod/p pg: lost; hit p@n0 CardUnhealthy; deleted p; fix: a controller that makes it "
            "again, such as a Deployment\n");
}

TEST(WhatIfOwners, WithoutAPodGroupNobodyActs) {
  SmallCluster cluster;
  cluster.Node("n0").Node("n1");
  cluster.Pod({.name = "p", .node = "n0", .chips = "0", .labels = kForce});
  EXPECT_EQ(Asked(cluster, {.cards = {"n0/0"}}),
            "Pod/p: broken; hit p@n0 CardUnhealthy; untouched p; fix: schedulerName: volcano and "
            "the label fault-scheduling: force in its pod template\n");
}

// Each task of a Volcano Job counts its pods from 0, and the launcher has no NPU.
TEST(WhatIfOwners, WithoutItsLauncherAJobGoesAsAWhole) {
  SmallCluster cluster;
  cluster.Node("n0").Node("n1").Node("n2");
  cluster.Group("pg", "Job/train", 2, kForcePods);
  cluster.Pod({.name = "launcher",
               .node = "n0",
               .group = "pg",
               .owner = "Job/train",
               .annotations = {{"hccl/rankIndex", "0"}}});
  cluster.Pod({.name = "w0", .node = "n1", .chips = "0-7", .group = "pg", .owner = "Job/train"});
  EXPECT_EQ(Asked(cluster, {.nodes = {"n0"}}),
            "Job/train pg: moves; hit launcher@n0 NodeUnhealthy; deleted launcher,w0; "
            "launcher n0>n1; w0 n1>n1\n");
}

// A job that recovers its processes loses its rack block when there is no room for the faulty pod
// alone, and nothing outside it.
TEST(WhatIfOwners, AJobThatRecoversItsProcessesWidensToItsRackBlock) {
  SmallCluster cluster;
  cluster.Group("pg", "Job/train", 4,
                {{"fault-scheduling", "force"}, {"process-recover-enable", "on"}},
                {{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "16"}});
  for (int i = 0; i < 4; ++i) {
    const std::string number = std::to_string(i);
    cluster.Node("n" + number);
    cluster.Pod({.name = "w" + number,
                 .node = "n" + number,
                 .chips = "0-7",
                 .group = "pg",
                 .owner = "Job/train",
                 .annotations = {{"hccl/rankIndex", number}}});
  }
  EXPECT_EQ(Asked(cluster, {.nodes = {"n3"}}),
            "Job/train pg: noRoom; hit w3@n3 NodeUnhealthy; deleted w3; deleted w2; w2 n2>?; "
            "w3 n3>?; fix: room for 1 more pod with 8 huawei.com/Ascend910\n");
}

// infer-operator replaces what the plugin annotates.
TEST(WhatIfOwners, WhatIsLeftToInferOperatorIsAnnotated) {
  EXPECT_EQ(Asked(TwoReplicas({{"fault-scheduling", "external-force"}}), {.nodes = {"n0"}}),
            "Deployment/chat pg: moves; hit chat-0@n0 NodeUnhealthy; annotated chat-0; "
            "chat-0 n0>n1\n");
}

// --- nobody acts ---------------------------------------------------------------------------------

TEST(WhatIfNobodyActs, ReportsWhichLabelWouldFixIt) {
  const struct {
    Json labels;
    std::string want;
  } cases[] = {
      {Json::object(),
       "untouched chat-0; fix: the label fault-scheduling: force (or grace) in its pod template"},
      {{{"fault-scheduling", "off"}},
       "untouched chat-0; fix: the label fault-scheduling: force (or grace) in its pod template"},
      {{{"fault-scheduling", "Force"}},
       "fails chat-0; fix: fault-scheduling: force (or grace) instead of \"Force\" in its pod "
       "template"},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(Asked(TwoReplicas(each.labels), {.cards = {"n0/3"}}),
              "Deployment/chat pg: broken; hit chat-0@n0 CardUnhealthy; " + each.want + "\n");
  }
}

// From a node that is lost Kubernetes evicts the pods, and only a ReplicaSet does not wait for
// their end.
TEST(WhatIfNobodyActs, KubernetesMovesPodsOfAReplicaSetFromANodeThatIsLost) {
  EXPECT_EQ(Asked(TwoReplicas(Json::object()), {.nodes = {"n0"}}),
            "Deployment/chat pg: moves; hit chat-0@n0 NodeUnhealthy; movedByKubernetes chat-0; "
            "chat-0 n0>n1\n");
  EXPECT_EQ(Asked(Job("Job/train", Json::object()), {.nodes = {"n0"}}),
            "Job/train pg: broken; hit w0@n0 NodeUnhealthy; untouched w0; fix: the label "
            "fault-scheduling: force (or grace) in its pod template\n");
}

// Kubernetes deletes pods that are bound to a Node which is not there, whoever owns them.
TEST(WhatIfNobodyActs, PodsOfANodeThatIsGoneGo) {
  SmallCluster job = Job("Job/train", Json::object());
  job.nodes.erase(job.nodes.begin());
  EXPECT_EQ(Reported(ForecastOf(job.Snapshot(), {})),
            "Job/train pg: already moves; hit w0@n0 NodeGone; deletedByKubernetes w0; w0 n0>n3\n");
  SmallCluster restarted = Job("Job/train", kForcePods);
  restarted.nodes.erase(restarted.nodes.begin() + 2);
  EXPECT_EQ(Reported(ForecastOf(restarted.Snapshot(), {})),
            "Job/train pg: already moves; hit w2@n2 NodeGone; deleted w2; w2 n2>n3\n");
  SmallCluster bare;
  bare.Node("n1").Pod({.name = "p", .node = "n0", .chips = "0-3"});
  EXPECT_EQ(Reported(ForecastOf(bare.Snapshot(), {})),
            "Pod/p: already lost; hit p@n0 NodeGone; deletedByKubernetes p; fix: a controller "
            "that makes it again, such as a Deployment\n");
}

TEST(WhatIfNobodyActs, AnotherPlatformDecides) {
  SmallCluster cluster = TwoReplicas(kForce);
  cluster.pod_groups[0]["metadata"]["annotations"]["ProcessRecoverStrategy"] = "retry";
  EXPECT_EQ(Asked(cluster, {.cards = {"n0/0"}}),
            "Deployment/chat pg: broken; hit chat-0@n0 CardUnhealthy; untouched chat-0; fix: the "
            "platform that wrote ProcessRecoverStrategy has to act\n");
}

// --- hypotheses ----------------------------------------------------------------------------------

TEST(WhatIfHypotheses, EachKind) {
  const std::string moved = "deleted chat-0; chat-0 n0>";
  const struct {
    const char* name;
    Question question;
    std::string want;
  } cases[] = {
      {"a chip", {.faults = {"80E18005@n0/0"}}, "hit chat-0@n0 CardUnhealthy; " + moved + "n0"},
      {"its name",
       {.faults = {"80e18005@n0/Ascend910-0"}},
       "hit chat-0@n0 CardUnhealthy; " + moved + "n0"},
      {"recorded only", {.faults = {"80E21007@n0/0"}}, ""},
      {"a link that stays down: what runs stays", {.faults = {"81078603@n0/0"}}, ""},
      {"of chips of another product",
       {.faults = {"8F180200@n0/0"}},
       "hit chat-0@n0 CardUnhealthy; " + moved + "n0"},
      {"a machine", {.faults = {"2C000031@n0"}}, "hit chat-0@n0 NodeUnhealthy; " + moved + "n1"},
      {"to be separated: what runs stays", {.faults = {"0000001D@n0"}}, ""},
      {"a switch",
       {.faults = {"[0x08520003,na,npu,na]@n0"}},
       "hit chat-0@n0 NodeUnhealthy; " + moved + "n1"},
      {"a switch that works less well: ignored", {.faults = {"[0x00f103b6,155908,na,na]@n0"}}, ""},
      {"a public fault of all chips",
       {.faults = {"220001001@n0"}},
       "hit chat-0@n0 CardUnhealthy; " + moved + "n1"},
      {"a public fault of a chip",
       {.faults = {"220001001@n0/1"}},
       "hit chat-0@n0 CardUnhealthy; " + moved + "n0"},
      {"a drain", {.drains = {"pool=blue"}}, "hit chat-0@n0 Drained; drained chat-0; chat-0 n0>n1"},
  };
  for (const auto& each : cases) {
    SmallCluster cluster = TwoReplicas(kForcePods);
    cluster.nodes[0]["metadata"]["labels"] = {{"pool", "blue"}};
    EXPECT_EQ(Asked(cluster, each.question),
              each.want.empty() ? "" : "Deployment/chat pg: moves; " + each.want + "\n")
        << each.name;
  }
}

// The strategy decides, and a node with such hardware takes no new pod of a job that has one.
TEST(WhatIfHypotheses, SubHealth) {
  Json labels = kForcePods;
  labels["subHealthyStrategy"] = "forceExit";
  EXPECT_EQ(Asked(TwoReplicas(labels), {.faults = {"80DE0207@n0/0"}}),
            "Deployment/chat pg: moves; hit chat-0@n0 SubHealthFault; deleted chat-0; "
            "chat-0 n0>n1\n");
  labels["subHealthyStrategy"] = "graceExit";
  EXPECT_EQ(Asked(TwoReplicas(labels), {.faults = {"[0x00f103b6,155908,na,na]@n0"}}),
            "Deployment/chat pg: moves; hit chat-0@n0 SubHealthFault; evicted chat-0; "
            "chat-0 n0>n1\n");
}

// Where no pod uses NPUs, ClusterD takes a node that is to be separated away.
TEST(WhatIfHypotheses, PreSeparateTakesAnIdleNodeAway) {
  SmallCluster cluster;
  cluster.Node("n0").Node("n1");
  cluster.Group("pg", "ReplicaSet/c-7d", 1);
  cluster.Pod({"c", "n0", "", "pg", "ReplicaSet/c-7d", kForce});
  EXPECT_EQ(Asked(cluster, {.faults = {"0000001D@n0"}}),
            "ReplicaSet/c-7d pg: moves; hit c@n0 NodeUnhealthy; deleted c; c n0>n1\n");
}

TEST(WhatIfHypotheses, SeveralAtOnce) {
  EXPECT_EQ(Asked(TwoReplicas(kForcePods), {.nodes = {"n1"}, .cards = {"n0/0"}}),
            "Deployment/chat pg: partly; hit chat-0@n0 CardUnhealthy; hit chat-1@n1 NodeUnhealthy; "
            "deleted chat-0,chat-1; chat-0 n0>n0; chat-1 n1>?; fix: room for 1 more pod with 4 "
            "huawei.com/Ascend910\n");
}

// Every pod goes but those of DaemonSets and of the node itself; what needs no NPUs is counted.
TEST(WhatIfHypotheses, ADrainEmptiesNodes) {
  SmallCluster cluster = Job("Job/train", Json::object());
  cluster.nodes[0]["metadata"]["labels"] = {{"pool", "blue"}};
  cluster.Pod({.name = "agent", .node = "n0", .owner = "DaemonSet/agent"});
  cluster.Pod({.name = "proxy", .node = "n0", .owner = "Node/n0"});
  cluster.Pod({.name = "dns", .node = "n0", .owner = "ReplicaSet/dns-1"});
  cluster.Pod({.name = "alone", .node = "n0", .chips = ""});
  EXPECT_EQ(Asked(cluster, {.drains = {"pool in (blue)"}}),
            "Job/train pg: moves; hit w0@n0 Drained; drained w0; w0 n0>n3\nothers: 2\n");
}

// --- placement -----------------------------------------------------------------------------------

TEST(WhatIfPlacement, NodesThatTakeNoNewPods) {
  const struct {
    const char* name;
    Json more;
    Json device_list;
  } cases[] = {
      {"cordoned", {{"spec", {{"unschedulable", true}}}}, {}},
      {"not Ready", {{"status", {{"conditions", {{{"type", "Ready"}, {"status", "False"}}}}}}}, {}},
      {"tainted", {{"spec", {{"taints", {{{"key", "a"}, {"effect", "NoSchedule"}}}}}}}, {}},
      {"other labels", {{"metadata", {{"labels", {{"accelerator", "other"}}}}}}, {}},
      {"unhealthy chips", Json::object(), {{"huawei.com/Ascend910-Unhealthy", "Ascend910-0"}}},
      {"chips without a network",
       Json::object(),
       {{"huawei.com/Ascend910-NetworkUnhealthy", "Ascend910-0"}}},
      {"chips that are being reset",
       Json::object(),
       {{"huawei.com/Ascend910-Recovering", "Ascend910-0"}}},
  };
  const Json npu = {{"metadata", {{"labels", {{"accelerator", "npu"}}}}}};
  for (const auto& each : cases) {
    SmallCluster cluster;
    Json more = npu;
    more.merge_patch(each.more);
    cluster.Node("n0", npu).Node("n1", more).Node("n2", npu);
    if (!each.device_list.is_null()) cluster.Devices("n1", each.device_list);
    cluster.Group("pg", "ReplicaSet/chat-7d", 1, kForce);
    cluster.Pod({.name = "c",
                 .node = "n0",
                 .chips = "0-7",
                 .group = "pg",
                 .owner = "ReplicaSet/chat-7d",
                 .spec = {{"nodeSelector", {{"accelerator", "npu"}}}}});
    EXPECT_EQ(Asked(cluster, {.nodes = {"n0"}}),
              "ReplicaSet/chat-7d pg: moves; hit c@n0 NodeUnhealthy; deleted c; c n0>n2\n")
        << each.name;
    EXPECT_EQ(Asked(cluster, {.nodes = {"n0", "n2"}}),
              "ReplicaSet/chat-7d pg: noRoom; hit c@n0 NodeUnhealthy; deleted c; c n0>?; fix: "
              "room for 1 more pod with 8 huawei.com/Ascend910 on a node with accelerator=npu\n")
        << each.name;
  }
}

TEST(WhatIfPlacement, ATolerationOpensATaintedNode) {
  SmallCluster cluster = TwoReplicas(kForcePods);
  const Json taint = {
      {"spec", {{"taints", {{{"key", "a"}, {"value", "b"}, {"effect", "NoSchedule"}}}}}}};
  cluster.nodes[1].merge_patch(taint);
  cluster.pods[0]["spec"]["tolerations"] = {{{"key", "a"}, {"operator", "Equal"}, {"value", "b"}}};
  EXPECT_EQ(
      Asked(cluster, {.nodes = {"n0"}}),
      "Deployment/chat pg: moves; hit chat-0@n0 NodeUnhealthy; deleted chat-0; chat-0 n0>n1\n");
  cluster.pods[0]["spec"]["tolerations"][0]["value"] = "c";
  EXPECT_EQ(Asked(cluster, {.nodes = {"n0"}}),
            "Deployment/chat pg: partly; hit chat-0@n0 NodeUnhealthy; deleted chat-0; chat-0 n0>?; "
            "fix: room for 1 more pod with 4 huawei.com/Ascend910\n");
}

// The kubelet offers no chip that its device plugin calls unhealthy: it must not be taken twice.
TEST(WhatIfPlacement, AChipThatIsMissingAlreadyIsCountedOnce) {
  SmallCluster cluster = TwoReplicas(kForcePods);
  cluster.nodes[1]["status"]["allocatable"]["huawei.com/Ascend910"] = "7";
  cluster.Devices("n1", {{"huawei.com/Ascend910-Unhealthy", "Ascend910-7"}});
  SmallCluster small = cluster;
  for (Json& pod : small.pods) {
    pod["spec"]["containers"][0]["resources"]["limits"]["huawei.com/Ascend910"] = "3";
  }
  EXPECT_EQ(
      Asked(small, {.nodes = {"n0"}}),
      "Deployment/chat pg: moves; hit chat-0@n0 NodeUnhealthy; deleted chat-0; chat-0 n0>n1\n");
  EXPECT_EQ(ForecastFor(cluster, {.nodes = {"n0"}}).instances[0].outcome, Outcome::kPartly);
}

// One block of sp-block chips stays in one super pod.
TEST(WhatIfPlacement, ASuperPodIsNotLeft) {
  const auto node = [](const char* super_pod) {
    return Json{{"metadata", {{"annotations", {{"superPodID", super_pod}}}}}};
  };
  SmallCluster cluster;
  cluster.Node("n0", node("0")).Node("n1", node("0")).Node("n2", node("1")).Node("n3", node("0"));
  cluster.Group("pg", "Job/train", 2, kForcePods, {{"sp-block", "16"}});
  for (const char* number : {"0", "1"}) {
    cluster.Pod({.name = std::string("w") + number,
                 .node = std::string("n") + number,
                 .chips = "0-7",
                 .group = "pg",
                 .owner = "Job/train"});
  }
  EXPECT_EQ(Asked(cluster, {.nodes = {"n1"}}),
            "Job/train pg: moves; hit w1@n1 NodeUnhealthy; deleted w1; w1 n1>n3\n");
  EXPECT_EQ(Asked(cluster, {.nodes = {"n1", "n3"}}),
            "Job/train pg: noRoom; hit w1@n1 NodeUnhealthy; deleted w1; deleted w0; w0 n0>?; "
            "w1 n1>?; fix: room for 1 more pod with 8 huawei.com/Ascend910, in one super pod\n");
}

// Each node counts once, for the first that is so in the order of kube-scheduler's filters.
TEST(WhatIfPlacement, ReportsWhyNodesTakeNoPod) {
  SmallCluster cluster;
  cluster.Node("n0", {{"metadata", {{"labels", {{"pool", "blue"}}}}}});
  cluster.Node("n1", {{"spec", {{"unschedulable", true}}}});
  cluster.Node("n2", {{"spec", {{"taints", {{{"key", "llm"}, {"effect", "NoSchedule"}}}}}}});
  cluster.Node("n3", {{"metadata", {{"labels", {{"pool", "green"}}}}}});
  cluster.Node("n4", {{"metadata", {{"labels", {{"pool", "blue"}}}}}});
  cluster.Node("n5", {{"status", {{"conditions", {{{"type", "Ready"}, {"status", "False"}}}}}}});
  cluster.Group("pg", "Job/a", 1, kForce);
  cluster.Pod({.name = "a",
               .node = "n0",
               .chips = "0-7",
               .group = "pg",
               .owner = "Job/a",
               .labels = kForce,
               .spec = {{"nodeSelector", {{"pool", "blue"}}}}});
  cluster.Group("rest", "Job/b", 1, kForce);
  cluster.Pod({.name = "b", .node = "n4", .chips = "0-3", .group = "rest", .owner = "Job/b"});
  const auto nodes = [&](const Question& question) {
    const Forecast forecast = ForecastFor(cluster, question);
    return LeftOutText(forecast.instances.at(0).shortage.value());
  };
  EXPECT_EQ(nodes({.nodes = {"n0"}}),
            "not Ready on 2, cordoned on 1, full on 1, label pool=blue on 1, taint llm on 1");
  EXPECT_EQ(
      nodes({.drains = {"n0"}}),
      "cordoned on 1, drained on 1, full on 1, label pool=blue on 1, not Ready on 1, taint llm "
      "on 1");
  cluster.pods[0]["spec"]["nodeSelector"]["pool"] = "red";
  EXPECT_EQ(nodes({.cards = {"n0/0"}}),
            "label pool=red on 3, cordoned on 1, not Ready on 1, taint llm on 1; no node has "
            "pool=red: they have blue, green");
  cluster.pods[0]["spec"]["nodeSelector"] = {{"row", "1"}};
  EXPECT_EQ(
      nodes({.cards = {"n0/0"}}),
      "label row=1 on 3, cordoned on 1, not Ready on 1, taint llm on 1; no node has row=1, nor "
      "row at all");
}

// Room goes to the higher priority, then to the older PodGroup.
TEST(WhatIfPlacement, ThePriorityComesFirst) {
  SmallCluster cluster;
  cluster.Node("n0").Node("n1").Node("n2");
  for (const char* name : {"a", "b"}) {
    cluster.Group(name, std::string("Job/") + name, 1, kForce);
    cluster.Pod({.name = name,
                 .node = std::string(name) == "a" ? "n0" : "n1",
                 .chips = "0-7",
                 .group = name,
                 .owner = std::string("Job/") + name,
                 .spec = {{"priority", std::string(name) == "b" ? 10 : 0}}});
  }
  const auto outcome = [](const Forecast& forecast) {
    return std::string(OutcomeName(forecast.instances[0].outcome)) + " " +
           std::string(OutcomeName(forecast.instances[1].outcome));
  };
  EXPECT_EQ(outcome(ForecastFor(cluster, {.nodes = {"n0", "n1"}})), "noRoom moves");
  cluster.pods[1]["spec"]["priority"] = 0;
  EXPECT_EQ(outcome(ForecastFor(cluster, {.nodes = {"n0", "n1"}})), "moves noRoom");
  cluster.pod_groups[1]["metadata"]["creationTimestamp"] = "2026-02-01T08:00:00Z";
  EXPECT_EQ(outcome(ForecastFor(cluster, {.nodes = {"n0", "n1"}})), "noRoom moves");
}

// --- what is there already -----------------------------------------------------------------------

TEST(WhatIfAlready, AFaultThatIsThereDoesNotCount) {
  SmallCluster cluster = TwoReplicas(Json::object());
  cluster.Devices("n0", {{"huawei.com/Ascend910-Unhealthy", "Ascend910-0"}});
  const std::string broken =
      "Deployment/chat pg: already broken; hit chat-0@n0 CardUnhealthy; untouched chat-0; fix: "
      "the "
      "label fault-scheduling: force (or grace) in its pod template\n";
  const Forecast forecast = ForecastFor(cluster, {.cards = {"n1/7"}});
  EXPECT_EQ(Reported(forecast), broken);
  EXPECT_TRUE(forecast.fine());
  EXPECT_FALSE(ForecastFor(cluster, {.cards = {"n1/0"}}).fine());
}

// What waits for room before it takes part, and is reported when it loses the room that it would
// get.
TEST(WhatIfAlready, AJobThatWaitsLosesItsRoom) {
  SmallCluster cluster;
  cluster.Node("n0").Node("n1");
  cluster.Group("pg", "Job/a", 1, kForce);
  cluster.Pod({.name = "a", .node = "n0", .chips = "0-7", .group = "pg", .owner = "Job/a"});
  cluster.Group("next", "Job/b", 1);
  cluster.Pod({.name = "b", .group = "next", .owner = "Job/b", .npus = 8});
  cluster.pod_groups[1]["metadata"]["creationTimestamp"] = "2026-03-02T11:59:59Z";
  EXPECT_EQ(Asked(cluster, {.nodes = {"n0"}}),
            "Job/a pg: moves; hit a@n0 NodeUnhealthy; deleted a; a n0>n1\n"
            "Job/b next: noRoom; b >?; fix: room for 1 more pod with 8 huawei.com/Ascend910\n");
  cluster.nodes.pop_back();
  EXPECT_EQ(Asked(cluster, {.cards = {"n0/7"}}),
            "Job/a pg: noRoom; hit a@n0 CardUnhealthy; deleted a; a n0>?; fix: room for 1 more pod "
            "with 8 huawei.com/Ascend910\n")
      << "b waits with and without";
}

TEST(WhatIfAlready, NothingHappensToAHealthyClusterWithoutAHypothesis) {
  const ClusterSnapshot snapshot = TwoReplicas(kForce).Snapshot();
  EXPECT_EQ(Reported(ForecastOf(snapshot, {})), "");
  EXPECT_TRUE(ForecastOf(snapshot, {}).fine());
}

// --- who acts when
// --------------------------------------------------------------------------------

// Three replicas, of which chat-0 was restarted a minute ago and has found no place yet.
SmallCluster WaitsForAReplacement(schemas::ReschedulingMode mode) {
  SmallCluster cluster;
  cluster.Node("n0", {{"status", {{"conditions", {{{"type", "Ready"}, {"status", "False"}}}}}}});
  cluster.Node("n1").Node("n2");
  cluster.Group("pg", "ReplicaSet/chat-7d", 3, kForcePods);
  Json labels = kForcePods;
  labels["pod-template-hash"] = "7d";
  cluster.Pod({"chat-0", "", "", "pg", "ReplicaSet/chat-7d", labels, Json::object(), 8});
  for (const char* number : {"1", "2"}) {
    cluster.Pod({std::string("chat-") + number, std::string("n") + number, "0-7", "pg",
                 "ReplicaSet/chat-7d", labels});
  }
  cluster.Restarted("pg", 60, {"chat-x"});
  cluster.watcher.rescheduling = mode;
  return cluster;
}

// The plugin does not examine a job again for 20 minutes, unless it gets its pods before.
TEST(WhatIfActors, ASecondFaultOfAJobWaitsForThePluginOrForTakeover) {
  const Question question = {.cards = {"n1/0"}};
  const std::string before = "Deployment/chat pg: noRoom; hit chat-1@n1 CardUnhealthy; deleted ";
  const std::string after =
      "; deleted chat-2; chat-0 >?; chat-1 n1>?; chat-2 n2>?; "
      "fix: room for 2 more pods with 8 huawei.com/Ascend910 each\n";
  using Mode = schemas::ReschedulingMode;
  for (const Mode mode : {Mode::kOff, Mode::kObserve}) {
    EXPECT_EQ(Asked(WaitsForAReplacement(mode), question),
              before + "chat-1 (plugin within 1140 s)" + after);
  }
  EXPECT_EQ(Asked(WaitsForAReplacement(Mode::kTakeover), question),
            before + "chat-1 (watcher within 30 s)" + "; deleted chat-2 (watcher within 42 s)" +
                after.substr(std::string("; deleted chat-2").size()));
  SmallCluster complete = WaitsForAReplacement(Mode::kObserve);
  complete.pods[0]["spec"]["nodeName"] = "n0";
  EXPECT_THAT(Asked(complete, question), ::testing::HasSubstr("deleted chat-0,chat-1;"))
      << "the plugin has forgotten it";
}

// Retries that the plugin has left count, and not those of the label.
TEST(WhatIfActors, RetriesThatAreUsedUpAreNotPromised) {
  SmallCluster cluster;
  cluster.Node("n0").Node("n1");
  const Json labels = {{"fault-scheduling", "force"}, {"fault-retry-times", "3"}};
  cluster.Group("pg", "AscendJob/train", 1, labels);
  cluster.Pod({"w0", "n0", "0-7", "pg", "AscendJob/train", labels});
  cluster.pods[0]["status"]["containerStatuses"] = {
      {{"lastState", {{"terminated", {{"exitCode", 1}}}}}}};
  const auto survey = [&] {
    const ClusterSnapshot snapshot = cluster.Snapshot();
    return SurveyOf(snapshot, FaultsIn(snapshot)).jobs.at(0).response.why;
  };
  EXPECT_EQ(survey(), "fault-scheduling is force");
  cluster.retries["infer/pg"] = {{"Times", 0}};
  EXPECT_EQ(survey(), "fault-retry-times is used up");
}

// --- elastic scaling -----------------------------------------------------------------------------

// One prefill and two decode instances with eight NPUs each, on n0 to n2.
SmallCluster ServiceOf(const std::vector<std::string>& more_nodes) {
  SmallCluster cluster;
  for (const char* node : {"n0", "n1", "n2"}) cluster.Node(node);
  for (const std::string& node : more_nodes) cluster.Node(node);
  cluster.Rule("rule", {{{"p", 1}, {"d", 2}}, {{"p", 1}, {"d", 1}}});
  const char* names[] = {"p0", "d0", "d1"};
  for (size_t i = 0; i < 3; ++i) {
    const std::string name = names[i];
    const std::string owner = "AscendJob/" + name;
    const Json labels = {{"fault-scheduling", "force"},
                         {"jobID", "chat"},
                         {"mind-cluster/scaling-rule", "rule"},
                         {"mind-cluster/group-name", name.substr(0, 1)}};
    cluster.Group(name, owner, 1, labels);
    cluster.Pod({name, "n" + std::to_string(i), "0-7", name, owner, labels});
  }
  return cluster;
}

constexpr const char* kNoRoomFix = "fix: room for 1 more pod with 8 huawei.com/Ascend910\n";

TEST(WhatIfScaling, AServiceShrinks) {
  EXPECT_EQ(Asked(ServiceOf({}), {.nodes = {"n2"}}),
            "AscendJob/d1 d1: noRoom; hit d1@n2 NodeUnhealthy; deleted d1; d1 n2>?; " +
                std::string(kNoRoomFix) + "chat: 1>2 d 2>1 p 1>1\n");
  EXPECT_EQ(Asked(ServiceOf({}), {.nodes = {"n0"}}),
            "AscendJob/p0 p0: noRoom; hit p0@n0 NodeUnhealthy; deleted p0; p0 n0>?; " +
                std::string(kNoRoomFix) + "chat: 1>none d 2>2 p 1>0\n");
  const Forecast spare = ForecastFor(ServiceOf({"n3"}), {.nodes = {"n2"}});
  EXPECT_EQ(Reported(spare),
            "AscendJob/d1 d1: moves; hit d1@n2 NodeUnhealthy; deleted d1; d1 n2>n3\n");
  EXPECT_TRUE(spare.fine());
}

// With one place for two, the instance that the smaller shape wants comes first: d1 waits behind
// the gate until p0 runs, and finds nothing then.
TEST(WhatIfScaling, TheRuleDecidesWhoGetsTheRoom) {
  EXPECT_EQ(Asked(ServiceOf({"n3"}), {.nodes = {"n0", "n2"}}),
            "AscendJob/d1 d1: noRoom; hit d1@n2 NodeUnhealthy; deleted d1; d1 n2>?; " +
                std::string(kNoRoomFix) +
                "AscendJob/p0 p0: moves; hit p0@n0 NodeUnhealthy; deleted p0; p0 n0>n3\n"
                "chat: 1>2 d 2>1 p 1>1\n");
}

// Without a rule nothing that comes back is let in.
TEST(WhatIfScaling, WithoutARuleAllWait) {
  SmallCluster cluster = ServiceOf({"n3"});
  cluster.scaling_rules.clear();
  const Forecast forecast = ForecastFor(cluster, {.nodes = {"n2"}});
  EXPECT_EQ(Reported(forecast),
            "AscendJob/d1 d1: held; hit d1@n2 NodeUnhealthy; deleted d1; d1 n2>?\n"
            "chat: none>none d 2>1 p 1>1\n");
  EXPECT_EQ(forecast.instances[0].why,
            "there is no ConfigMap \"rule\" with the key elastic_scaling.json in namespace infer");
}

// Two prefill instances and a decode instance, and no spare node: without d0 nothing serves.
SmallCluster ServiceWithASurplus() {
  SmallCluster cluster;
  for (const char* node : {"n0", "n1", "n2"}) cluster.Node(node);
  cluster.Rule("rule", {{{"p", 2}, {"d", 1}}, {{"p", 1}, {"d", 1}}});
  const char* names[] = {"p0", "p1", "d0"};
  for (size_t i = 0; i < 3; ++i) {
    const std::string name = names[i];
    const std::string owner = "AscendJob/" + name;
    const Json labels = {{"fault-scheduling", "force"},
                         {"jobID", "chat"},
                         {"mind-cluster/scaling-rule", "rule"},
                         {"mind-cluster/group-name", name.substr(0, 1)}};
    cluster.Group(name, owner, 1, labels);
    cluster.Pod({name, "n" + std::to_string(i), "0-7", name, owner, labels});
  }
  cluster.pods[1]["metadata"]["creationTimestamp"] = "2026-03-01T09:00:00Z";
  return cluster;
}

// Where the watcher gives instances up for others, the service shrinks instead of going down.
TEST(WhatIfScaling, AnInstanceIsGivenUpForOneThatTheServiceNeedsMore) {
  SmallCluster cluster = ServiceWithASurplus();
  EXPECT_EQ(Asked(cluster, {.nodes = {"n2"}}),
            "AscendJob/d0 d0: noRoom; hit d0@n2 NodeUnhealthy; deleted d0; d0 n2>?; " +
                std::string(kNoRoomFix) + "chat: 1>none d 1>0 p 2>2\n");
  cluster.watcher.rebalances = true;
  const Forecast forecast = ForecastFor(cluster, {.nodes = {"n2"}});
  EXPECT_EQ(Reported(forecast),
            "AscendJob/d0 d0: moves; hit d0@n2 NodeUnhealthy; deleted d0; d0 n2>n1\n"
            "AscendJob/p1 p1: noRoom; givenUp p1 (watcher within 60 s); p1 n1>?; " +
                std::string(kNoRoomFix) + "chat: 1>2 d 1>1 p 2>1\n");
  EXPECT_EQ(forecast.instances.at(1).steps.at(0).why,
            "shape 2 of 2 needs AscendJob/d0 of d but there is no room for it; it wants 1 of p, "
            "and 2 run");
  // Nothing is given up where that would not help: both prefill instances are on lost nodes.
  EXPECT_EQ(Asked(cluster, {.nodes = {"n0", "n1", "n2"}}),
            "AscendJob/d0 d0: noRoom; hit d0@n2 NodeUnhealthy; deleted d0; d0 n2>?; " +
                std::string(kNoRoomFix) +
                "AscendJob/p0 p0: held; hit p0@n0 NodeUnhealthy; deleted p0; p0 n0>?\n"
                "AscendJob/p1 p1: noRoom; hit p1@n1 NodeUnhealthy; deleted p1; p1 n1>?; " +
                std::string(kNoRoomFix) + "chat: 1>none d 1>0 p 2>0\n");
}

// An instance that no shape wants takes the place of one that is lost.
TEST(WhatIfScaling, AHeldInstanceStepsIn) {
  SmallCluster cluster = ServiceOf({"n3"});
  const Json labels = cluster.pods[2]["metadata"]["labels"];
  cluster.Group("d2", "AscendJob/d2", 1, labels);
  cluster.Pod({.name = "d2",
               .group = "d2",
               .owner = "AscendJob/d2",
               .labels = labels,
               .npus = 8,
               .spec = {{"schedulingGates", {{{"name", "mindgate.io/elastic-scaling"}}}}}});
  EXPECT_EQ(Asked(cluster, {.nodes = {"n2"}}),
            "AscendJob/d1 d1: held; hit d1@n2 NodeUnhealthy; deleted d1; d1 n2>?\n")
      << "d2 waits for longer, and the service does not shrink";
}

}  // namespace
}  // namespace mindgate::what_if
