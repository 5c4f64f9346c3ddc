#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "support/small_cluster.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling_world.h"

// What a reader of MindCluster's documents would get wrong, and what differs from owner to owner.
namespace mindgate::watcher::rescheduling {
namespace {

using ::mindgate::testing::SmallCluster;

json::Json TrapPod(const std::string& name, const json::Json& annotations,
                   const json::Json& labels = json::Json::object()) {
  json::Json all = annotations;
  all["scheduling.k8s.io/group-name"] = "pg";
  return {{"metadata",
           {{"namespace", "infer"},
            {"name", name},
            {"uid", "uid-" + name},
            {"labels", labels},
            {"annotations", all}}},
          {"spec", {{"nodeName", "n0"}}},
          {"status", {{"phase", "Running"}}}};
}

PodPtr ReadTrapPod(const json::Json& pod) {
  const json::Document document(pod);
  return PodReader().Read(document.root());
}

Job JobWith(int min_member, const json::Json& group_annotations,
            const json::Json& pod_annotations) {
  const json::Json group = {
      {"metadata",
       {{"namespace", "infer"}, {"name", "pg"}, {"uid", "g"}, {"annotations", group_annotations}}},
      {"spec", {{"minMember", min_member}}}};
  const json::Document document(group);
  return JobOf(PodGroupOf(document.root()), {ReadTrapPod(TrapPod("p0", pod_annotations))});
}

TEST(ReschedulingTrap, ANetworkFaultOfACardRestartsNothing) {
  World world(kForce);
  world.faults["n1"].devices.network_unhealthy = {"Ascend910-0"};
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.state, (JobState{.uid = "g"}));
}

TEST(ReschedulingTrap, PreSeparateOfANodeRestartsNothing) {
  World world(kForce);
  world.faults["n1"].machine.status = faults::NodeStatus::kPreSeparate;
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.state, (JobState{.uid = "g"}));
}

// Some annotations, and only where the PodGroup has none.
TEST(ReschedulingTrap, AnnotationsThatThePodGroupLacksAreTakenFromAPod) {
  const json::Json pods = {{"huawei.com/recover_policy_path", "pod"},
                           {"huawei.com/schedule_policy", "chip8-node8-ra64-sp"},
                           {"ra-block", "32"}};
  const FaultPolicy taken = JobWith(1, json::Json::object(), pods).policy;
  EXPECT_TRUE(taken.only_faulty_pods);
  EXPECT_EQ(taken.rack_pods, 4);
  const FaultPolicy kept =
      JobWith(1, {{"huawei.com/recover_policy_path", "job"}, {"ra-block", "16"}}, pods).policy;
  EXPECT_FALSE(kept.only_faulty_pods);
  EXPECT_EQ(kept.rack_pods, 2);
}

// ProcessRecoverStrategy is none of those.
TEST(ReschedulingTrap, OnlyThePodGroupLeavesItToAnotherPlatform) {
  const json::Json strategy = {{"ProcessRecoverStrategy", "recover"}};
  EXPECT_TRUE(JobWith(1, strategy, json::Json::object()).policy.decided_outside);
  EXPECT_FALSE(JobWith(1, json::Json::object(), strategy).policy.decided_outside);
}

// Volcano writes minMember 1 for ReplicaSets.
TEST(ReschedulingTrap, ScheduleMinAvailableCountsOnlyWhereMinMemberIsOne) {
  const json::Json none = json::Json::object();
  const json::Json four = {{"huawei.com/schedule_minAvailable", "4"}};
  EXPECT_EQ(JobWith(1, none, none).min_available, 1);
  EXPECT_EQ(JobWith(1, none, four).min_available, 4);
  EXPECT_EQ(JobWith(1, four, {{"huawei.com/schedule_minAvailable", "8"}}).min_available, 4);
  EXPECT_EQ(JobWith(2, four, four).min_available, 2);
  EXPECT_EQ(JobWith(1, {{"huawei.com/schedule_minAvailable", "four"}}, none).min_available, 1);
}

// Rack blocks: one policy alone has them.
TEST(ReschedulingTrap, RackBlocksNeedTheirPolicyAndAPowerOfTwo) {
  const std::pair<json::Json, int64_t> cases[] = {
      {{{"ra-block", "64"}}, 0},
      {{{"huawei.com/schedule_policy", "chip8-node8-sp"}, {"ra-block", "64"}}, 0},
      {{{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}}, 0},
      {{{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "8"}}, 0},
      {{{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "0"}}, 0},
      {{{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "-16"}}, 0},
      {{{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "24"}}, 0},
      {{{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "128"}}, 0},
      {{{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "16"}}, 2},
      {{{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "64"}}, 8},
      {{{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"tp-block", "64"}}, 0},
  };
  for (const auto& [annotations, want] : cases) {
    EXPECT_EQ(JobWith(1, annotations, json::Json::object()).policy.rack_pods, want) << annotations;
  }
}

// The job decides whether the pod of rank 0 is its master, by what its PodGroup asks for
// or by the chips that any of its pods has.
TEST(ReschedulingTrap, ALauncherWithoutChipsIsTheMasterOfAJobWithNpus) {
  const auto master_of = [](const json::Json& min_resources, const char* chips_of_worker) {
    const json::Json group = {{"metadata", {{"namespace", "infer"}, {"name", "pg"}}},
                              {"spec", {{"minMember", 2}, {"minResources", min_resources}}}};
    const json::Document document(group);
    json::Json of_worker = {{"hccl/rankIndex", "1"}};
    if (*chips_of_worker != 0) of_worker["huawei.com/AscendReal"] = chips_of_worker;
    return JobOf(PodGroupOf(document.root()),
                 {ReadTrapPod(TrapPod("launcher", {})), ReadTrapPod(TrapPod("worker", of_worker))})
        .policy.master;
  };
  EXPECT_EQ(master_of({{"cpu", "4"}}, ""), MasterRule::kNone);
  EXPECT_EQ(master_of({{"cpu", "4"}}, "Ascend910-0"), MasterRule::kNoWorker);
  EXPECT_EQ(master_of({{"huawei.com/Ascend910", "24"}}, ""), MasterRule::kNoWorker);
  EXPECT_EQ(master_of("24", ""), MasterRule::kNone) << "not an object";
}

// In the watcher; SurveyTest has the same of `status --faults` and what-if.
TEST(ReschedulingTrap, AVirtualNpuIsFaultyWithItsChip) {
  const json::Json uses = {{"huawei.com/AscendReal", "Ascend310P-1c-400-1_0"}};
  const std::set<std::string, std::less<>> chips = {"Ascend310P-1"};
  EXPECT_EQ(ReadTrapPod(TrapPod("p0", uses))->ToTask().chips, chips);
}

// Likewise levels.
TEST(ReschedulingTrap, LevelsNeedTheirPolicy) {
  const auto with = [](const char* policy, const char* levels) {
    return json::Json{{"huawei.com/schedule_policy", policy},
                      {"huawei.com/affinity-config", levels}};
  };
  const std::pair<json::Json, int64_t> cases[] = {
      {with("multilevel", "level1=2,level2=4"), 2},
      {with("multilevel", "level2=8,level1=4"), 4},
      {with("multilevel", "level1=1"), 0},
      {with("multilevel", "level1=-2"), 0},
      {with("multilevel", "level1=two"), 0},
      {with("multilevel", "level2=4"), 0},
      {with("multilevel", ""), 0},
      {with("chip8-node8-sp", "level1=2"), 0},
      {{{"huawei.com/affinity-config", "level1=2"}}, 0},
  };
  for (const auto& [annotations, want] : cases) {
    EXPECT_EQ(JobWith(1, annotations, json::Json::object()).policy.level_pods, want) << annotations;
  }
  EXPECT_EQ(JobWith(1, json::Json::object(), with("multilevel", "level1=2")).policy.level_pods, 2);
}

// Its phase is Running all the while.
TEST(ReschedulingTrap, APodWhoseContainerOnceFailedHasFailedUntilItIsReplaced) {
  json::Json pod = TrapPod("p0", json::Json::object());
  pod["status"]["containerStatuses"] = {{{"lastState", {{"terminated", {{"exitCode", 0}}}}}},
                                        {{"lastState", {{"terminated", {{"exitCode", 137}}}}}}};
  const Task restarted = ReadTrapPod(pod)->ToTask();
  EXPECT_TRUE(restarted.failed);
  EXPECT_FALSE(restarted.ended) << "it runs again";
  pod["status"] = {{"phase", "Failed"}};
  const Task ended = ReadTrapPod(pod)->ToTask();
  EXPECT_TRUE(ended.failed);
  EXPECT_TRUE(ended.ended);
  EXPECT_FALSE(ReadTrapPod(TrapPod("p0", json::Json::object()))->ToTask().failed);
}

// --- owners --------------------------------------------------------------------------------------

// What each owner's pods carry, what goes at first, and what goes when the job stays
// incomplete. Each PodGroup has four pods; the second one is faulty.
TEST(ReschedulingScope, OfEachOwner) {
  struct Case {
    const char* owner;
    Map labels;
    Map annotations;
    std::string first;
    std::string later;
  };
  const std::string all = "delete p0 p2 p3 p1";
  const Map pods_on = {{"pod-rescheduling", "on"}};
  const Case cases[] = {
      {"AscendJob or Volcano Job", {}, {}, all, ""},
      {"AscendJob or Volcano Job, pod by pod", pods_on, {}, "delete p1", "delete p0 p1 p2 p3"},
      {"AscendJob with process recovery", {{"process-recover-enable", "on"}}, {}, "delete p1", ""},
      {"AscendJob whose process recovery failed",
       {{"process-recover-enable", "pause"}},
       {},
       all,
       ""},
      {"MindIE controller", {{"app", "mindie-ms-controller"}}, {}, "delete p1", ""},
      {"MindIE instance", {{"app", "mindie-ms-server"}, {"jobID", "chat"}}, {}, all, ""},
      {"Deployment of OME", {{"ome.io/inferenceservice", "chat"}}, {}, "delete p1", ""},
      {"group of a LeaderWorkerSet", {{"leaderworkerset.sigs.k8s.io/name", "chat"}}, {}, all, ""},
      {"StormService with podGroupSize 1",
       pods_on,
       {{"huawei.com/recover_policy_path", "pod"}},
       "delete p1",
       ""},
      {"PodSet of a StormService", {{"orchestration.aibrix.ai/podset-name", "chat"}}, {}, all, ""},
      {"infer-operator", {{"fault-scheduling", "external-force"}}, {}, "annotate p1", ""},
  };
  for (const Case& each : cases) {
    Map labels = each.labels;
    labels.emplace("fault-scheduling", "force");
    World world(labels, each.annotations);
    world.BreakChip(1);
    EXPECT_EQ(world.Reconcile(), each.first) << each.owner;
    if (each.first == all) continue;
    world.Repair();
    world.Put(1);
    world.task(1).node.clear();  // no room
    world.Reconcile();
    const std::string later = world.LookAfter(seconds(3600));
    EXPECT_EQ(later, each.later.empty() ? "nothing" : each.later) << each.owner;
  }
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
