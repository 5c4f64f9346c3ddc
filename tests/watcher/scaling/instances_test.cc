// How pods become instances, and what of an instance counts.
#include "watcher/scaling/instances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "json/decode.h"
#include "support/scaling.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Json;
using mindgate::testing::RuleOf;

Json GatedPod(const std::string& name) {
  return {{"metadata",
           {{"namespace", "ns"},
            {"name", name},
            {"uid", "uid-" + name},
            {"creationTimestamp", "2026-01-01T00:00:00Z"},
            {"labels",
             {{"jobID", "s"},
              {"mind-cluster/scaling-rule", "rule"},
              {"mind-cluster/group-name", "p"}}}}},
          {"spec", {{"schedulingGates", {{{"name", "mindgate.io/elastic-scaling"}}}}}},
          {"status", {{"phase", "Pending"}}}};
}
Json RunningPod(const std::string& name, const std::string& node = "n1") {
  Json pod = GatedPod(name);
  pod["spec"] = {{"nodeName", node}};
  pod["status"] = {{"phase", "Running"}};
  return pod;
}
Json WaitingPod(const std::string& name) {
  Json pod = GatedPod(name);
  pod["spec"] = Json::object();
  return pod;
}
Json OwnedPod(Json pod, const std::string& api_version, const std::string& kind,
              const std::string& name) {
  pod["metadata"]["ownerReferences"] = {{{"apiVersion", api_version},
                                         {"kind", kind},
                                         {"name", name},
                                         {"uid", "uid-" + name},
                                         {"controller", true}}};
  return pod;
}
Json GroupPod(Json pod, int size) {
  pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/name"] = "chat";
  pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-index"] = "0";
  pod["metadata"]["annotations"]["leaderworkerset.sigs.k8s.io/size"] = std::to_string(size);
  return pod;
}
Json AskingPod(Json pod, const std::string& npus) {
  pod["spec"]["containers"] = {{{"resources", {{"limits", {{"huawei.com/Ascend910", npus}}}}}},
                               {{"resources", {{"limits", {{"cpu", "8"}}}}}}};
  return pod;
}

PodState StateOf(const Json& pod) { return PodOf(json::Document(pod).root()).value(); }

std::vector<PodPtr> PodsOf(const std::vector<Json>& pods) {
  std::vector<PodPtr> made;
  for (const Json& pod : pods) made.push_back(std::make_shared<const PodState>(StateOf(pod)));
  return made;
}

Instance TheOne(const std::vector<Json>& pods, const schemas::ScalingRule* rule = nullptr) {
  const auto made = PodsOf(pods);
  const auto observed = Observe(made, rule, nullptr);
  EXPECT_EQ(observed.size(), 1U);
  return observed.at(0).instance;
}

const auto kJob = [](Json pod) {
  return OwnedPod(std::move(pod), "mindxdl.gitee.com/v1", "AscendJob", "p0");
};

TEST(ScalingInstances, RunWithAsManyPodsAsTheyNeed) {
  schemas::ScalingRule of_two = RuleOf("p=2");
  of_two.tiers[0].groups[0].server_num_per_group = 2;
  struct Case {
    std::string name;
    std::vector<Json> pods;
    const schemas::ScalingRule* rule;
    Phase want;
  };
  const std::vector<Case> cases = {
      {"all run", {kJob(RunningPod("a")), kJob(RunningPod("b"))}, nullptr, Phase::kRunning},
      {"one of two", {kJob(RunningPod("a")), kJob(WaitingPod("b"))}, nullptr, Phase::kStarting},
      {"all are behind the gate",
       {kJob(GatedPod("a")), kJob(GatedPod("b"))},
       nullptr,
       Phase::kHeld},
      {"one is granted", {kJob(GatedPod("a")), kJob(WaitingPod("b"))}, nullptr, Phase::kStarting},
      // ascend-operator's hot switch makes a pod more than the job has servers.
      {"a surplus pod waits",
       {kJob(RunningPod("a")), kJob(RunningPod("b")), kJob(WaitingPod("backup"))},
       &of_two,
       Phase::kRunning},
      {"a surplus pod is behind the gate",
       {kJob(RunningPod("a")), kJob(RunningPod("b")), kJob(GatedPod("backup"))},
       &of_two,
       Phase::kRunning},
      {"the rule says more than there are", {kJob(RunningPod("a"))}, &of_two, Phase::kRunning},
      // With LeaderReady the workers are made when the leader is ready.
      {"a leader alone is not a group", {GroupPod(RunningPod("a"), 2)}, nullptr, Phase::kStarting},
      {"a leader and its worker",
       {GroupPod(RunningPod("a"), 2), GroupPod(RunningPod("b"), 2)},
       nullptr,
       Phase::kRunning},
  };
  for (const Case& c : cases) EXPECT_EQ(TheOne(c.pods, c.rule).phase, c.want) << c.name;
}

// Controllers of two groups make Jobs.
TEST(ScalingInstances, AJobAndAVcjobOfOneNameAreTwo) {
  EXPECT_EQ(StateOf(OwnedPod(GatedPod("a"), "batch/v1", "Job", "x")).instance, "Job/x");
  EXPECT_EQ(StateOf(OwnedPod(GatedPod("a"), "batch.volcano.sh/v1alpha1", "Job", "x")).instance,
            "Job.batch.volcano.sh/x");
}

TEST(ScalingInstances, WhatHasEndedIsNotThere) {
  for (const char* phase : {"Succeeded", "Failed"}) {
    Json pod = RunningPod("a");
    pod["status"]["phase"] = phase;
    EXPECT_FALSE(PodOf(json::Document(pod).root())) << phase;
  }
}

TEST(ScalingInstances, WorkloadAndRevision) {
  Json pod = OwnedPod(GatedPod("chat-7d9f-x"), "apps/v1", "ReplicaSet", "chat-7d9f");
  pod["metadata"]["labels"]["pod-template-hash"] = "7d9f";
  EXPECT_EQ(StateOf(pod).origin->workload, "Deployment/chat");
  EXPECT_EQ(StateOf(pod).origin->revision, "7d9f");
  Json group = GroupPod(GatedPod("chat-0"), 2);
  group["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/template-revision-hash"] = "5c";
  EXPECT_EQ(StateOf(group).origin->workload, "LeaderWorkerSet/chat");
  EXPECT_EQ(StateOf(group).origin->revision, "5c");
  Json other = OwnedPod(GatedPod("chat-0"), "apps/v1", "StatefulSet", "chat");
  other["metadata"]["labels"]["pod-template-hash"] = "7d9f";
  EXPECT_EQ(StateOf(other).origin->workload, "") << "it replaces its pods one by one";
}

TEST(ScalingInstances, NpusByNodeAndWhatIsStillNeeded) {
  const Instance instance = TheOne(
      {kJob(AskingPod(RunningPod("a", "n1"), "8")), kJob(AskingPod(RunningPod("b", "n2"), "4")),
       kJob(AskingPod(WaitingPod("c"), "2")), kJob(AskingPod(WaitingPod("d"), "16"))});
  EXPECT_EQ(instance.npus, (std::map<std::string, int64_t>{{"n1", 8}, {"n2", 4}}));
  EXPECT_EQ(instance.needs, (std::vector<int64_t>{16, 2}));
  // Workers that a leader has not got yet need room like it.
  EXPECT_EQ(TheOne({GroupPod(AskingPod(RunningPod("a"), "8"), 3)}).needs,
            (std::vector<int64_t>{8, 8}));
}

// A gated pod says that it is not scheduled since it was made.
TEST(ScalingInstances, TimesAreTheWatchersOwn) {
  Json pod = WaitingPod("a");
  pod["status"]["conditions"] = {{{"type", "PodScheduled"},
                                  {"status", "False"},
                                  {"reason", "Unschedulable"},
                                  {"lastTransitionTime", "2026-01-01T00:00:00Z"}}};
  const auto pods = PodsOf({pod});
  const Time now(std::chrono::seconds(4000));
  const SeenByUid seen(
      {{std::make_shared<const std::string>("uid-a"), {now, now + std::chrono::seconds(5)}}});
  const Instance instance = Observe(pods, nullptr, &seen).at(0).instance;
  EXPECT_EQ(instance.started, now);
  EXPECT_EQ(instance.unschedulable, now + std::chrono::seconds(5));
  EXPECT_EQ(FormatTime(*Observe(pods, nullptr, nullptr).at(0).instance.unschedulable),
            "2026-01-01T00:00:00Z");
}

TEST(ScalingRoom, OnlyThoseThatLeaveRoomGo) {
  const auto holding = [](const std::string& name, const std::map<std::string, int64_t>& npus) {
    Instance instance = mindgate::testing::Running(name);
    instance.npus = npus;
    return instance;
  };
  const Instance small = holding("p-0", {{"n1", 4}});
  const Instance split = holding("p-1", {{"n1", 4}, {"n2", 4}});
  const Instance idle = holding("p-9", {{"n9", 1}});
  const Instance large = holding("p-2", {{"n3", 8}});
  struct Case {
    std::string name;
    std::vector<const Instance*> surplus;
    std::vector<int64_t> needs;
    std::set<std::string, std::less<>> unusable;
    std::vector<std::string> want;
  };
  const std::vector<Case> cases = {
      {"the first that fits", {&small, &large}, {4}, {}, {"p-0"}},
      {"not one that is too small", {&small, &large}, {8}, {}, {"p-2"}},
      {"not one on a node that is cordoned", {&large}, {8}, {"n3"}, {}},
      {"pods on two nodes", {&split}, {4, 4}, {}, {"p-1"}},
      {"not one pod on two nodes", {&split}, {8}, {}, {}},
      {"two together on one node", {&small, &split}, {8}, {}, {"p-0", "p-1"}},
      {"no more than needed", {&idle, &small, &split, &large}, {8, 4}, {}, {"p-0", "p-1"}},
      {"all of them are not enough for any pod", {&small, &split, &large}, {16}, {}, {}},
      {"one where the rest may find room elsewhere", {&small, &large}, {8, 8}, {}, {"p-2"}},
      {"the one that leaves room for most", {&small, &split}, {4, 4, 4, 4}, {}, {"p-1"}},
      {"nothing is known of its needs", {&small, &large}, {0}, {}, {"p-0"}},
      {"nobody", {}, {8}, {}, {}},
  };
  for (const Case& c : cases) {
    Instance stranded = mindgate::testing::Stuck("d-0");
    stranded.needs = c.needs;
    std::vector<std::string> names;
    for (const Instance* instance : FewestThatFit(c.surplus, stranded, c.unusable)) {
      names.push_back(instance->name);
    }
    EXPECT_EQ(names, c.want) << c.name;
  }
}

}  // namespace
}  // namespace mindgate::watcher::scaling
