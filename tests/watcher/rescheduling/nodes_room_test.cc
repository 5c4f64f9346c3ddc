// Whether the pods that a restart takes would find a place again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "watcher/rescheduling/nodes.h"
#include "watcher/rescheduling_world.h"

namespace mindgate::watcher::rescheduling {
namespace {

using schemas::EnforcementMode;
using Chips = std::set<std::string, std::less<>>;

PodPtr PodOn(const std::string& name, const std::string& node, const Chips& chips) {
  auto pod = std::make_shared<PodState>();
  pod->name = name;
  pod->uid = name;
  pod->job = std::make_shared<const JobKey>(JobKey{"infer", "pg"});
  pod->metadata = std::make_shared<const Metadata>();
  if (!node.empty()) pod->node = std::make_shared<const std::string>(node);
  pod->chips = std::make_shared<const Chips>(chips);
  return pod;
}

TEST(JobIndexTest, CountsTheChipsThatPodsHold) {
  JobIndex jobs;
  const PodPtr a = PodOn("a", "n0", {"Ascend910-0", "Ascend910-1"});
  const PodPtr b = PodOn("b", "n0", {"Ascend910-2"});
  const PodPtr waits = PodOn("waits", "", {});
  for (const PodPtr& pod : {a, b, waits}) jobs.Changed(nullptr, pod);
  EXPECT_EQ(jobs.CountChipsOn("n0"), 3);
  EXPECT_EQ(jobs.ChipsOn("n0"), (Chips{"Ascend910-0", "Ascend910-1", "Ascend910-2"}));
  auto ended = std::make_shared<PodState>(*a);
  ended->ended = true;
  jobs.Changed(a, ended);
  EXPECT_EQ(jobs.CountChipsOn("n0"), 1);
  auto going = std::make_shared<PodState>(*b);
  going->deletion_time = kStart;
  jobs.Changed(b, going);
  EXPECT_EQ(jobs.CountChipsOn("n0"), 0);
  EXPECT_EQ(jobs.ChipsOn("n0"), Chips());
  jobs.Changed(ended, nullptr);
  jobs.Changed(going, nullptr);
  EXPECT_EQ(jobs.CountChipsOn("n0"), 0);
}

TEST(Room, OfANodeIsWhatItsNodeAndTheReportsLeave) {
  JobIndex jobs;
  jobs.Changed(nullptr, PodOn("a", "n0", {"Ascend910-0", "Ascend910-1"}));
  faults::FaultsByNode none;
  faults::FaultsByNode machine;
  machine["n0"].machine.status = faults::NodeStatus::kUnhealthy;
  faults::FaultsByNode chips;
  chips["n0"].devices.unhealthy = {"Ascend910-1", "Ascend910-7"};
  EXPECT_EQ(NpusOf("n0", 8, 8, true, none, jobs), (NodeNpus{"n0", 8, 2}));
  EXPECT_EQ(NpusOf("n0", 8, 8, false, none, jobs), (NodeNpus{"n0", 0, 0}));
  EXPECT_EQ(NpusOf("n0", 8, 8, true, machine, jobs), (NodeNpus{"n0", 0, 0}));
  EXPECT_EQ(NpusOf("n0", 8, 8, true, chips, jobs), (NodeNpus{"n0", 6, 1}))
      << "before the kubelet has heard of it";
  EXPECT_EQ(NpusOf("n0", 6, 8, true, chips, jobs), (NodeNpus{"n0", 6, 1})) << "and after";
}

// Pods p0 to p3 with a chip each on n0 to n3, of which p0 and p1 go.
TEST(Room, IsThereWhenAllPodsThatGoAndThatWaitFindAPlace) {
  World world(kForce);
  const std::vector<size_t> going = {0, 1};
  const auto why = [&](const std::vector<NodeNpus>& nodes) {
    return WhyNoRoom(world.job, going, world.faults, nodes);
  };
  const std::string two = "there is no room for 2 pods with 1 NPU each";
  EXPECT_EQ(why({}), two);
  EXPECT_EQ(why({{"n4", 2, 0}}), "");
  EXPECT_EQ(why({{"n4", 2, 1}}), two);
  EXPECT_EQ(why({{"n4", 1, 0}, {"n5", 1, 0}}), "");
  EXPECT_EQ(why({{"n0", 1, 1}, {"n1", 1, 1}}), "") << "their own places";
  EXPECT_EQ(why({{"n0", 1, 1}, {"n2", 1, 1}}), two) << "p2 stays on n2";
  EXPECT_EQ(why({{"n4", 0, 3}, {"n0", 1, 1}}), two) << "a node that takes no pods";
  world.BreakChip(1);
  EXPECT_EQ(why({{"n0", 1, 1}, {"n1", 0, 0}}), two) << "a chip that no longer works";
  world.Repair();
  world.task(3).node.clear();
  EXPECT_EQ(why({{"n0", 1, 1}, {"n1", 1, 1}}), "there is no room for 3 pods with 1 NPU each");
  world.task(3).gated = true;
  EXPECT_EQ(why({{"n0", 1, 1}, {"n1", 1, 1}}), "") << "the gate keeps it anyway";
  for (Task& task : world.job.tasks) task.chips.clear();
  EXPECT_EQ(why({}), "") << "nobody knows what they need";
}

// Two chips a pod: what is left of two nodes is no place.
TEST(Room, IsCountedByWholePods) {
  World world(kForce);
  for (Task& task : world.job.tasks) task.chips = {"Ascend910-0", "Ascend910-1"};
  const auto why = [&](const std::vector<NodeNpus>& nodes) {
    return WhyNoRoom(world.job, {0}, world.faults, nodes);
  };
  EXPECT_EQ(why({{"n4", 1, 0}, {"n5", 1, 0}}), "there is no room for 1 pod with 2 NPUs");
  EXPECT_EQ(why({{"n4", 8, 6}}), "");
}

// --- what a restart does with it -----------------------------------------------------------------

constexpr const char* kNoRoom = "there is no room for 4 pods with 1 NPU each";

World WithoutRoom(const Map& labels, EnforcementMode mode) {
  World world(labels);
  world.options.only_where_room = mode;
  world.options.why_no_room = [](const std::vector<size_t>&) { return kNoRoom; };
  return world;
}

// With pod-rescheduling the rest of the job keeps its nodes until there is room for all of it.
TEST(OnlyWhereRoom, AWiderRestartWaitsForRoom) {
  const auto stays_incomplete = [](World& world) {
    world.BreakChip(1);
    EXPECT_EQ(world.Reconcile(), "delete p1") << "what is faulty goes in any case";
    world.Repair();
    world.Put(1);
    world.task(1).node.clear();
    EXPECT_EQ(world.Reconcile(), "waits");
  };
  World world = WithoutRoom(kPods, EnforcementMode::kEnforce);
  stays_incomplete(world);
  EXPECT_EQ(world.LookAfter(seconds(12)), "waits");
  EXPECT_EQ(world.why, "the whole job is not restarted, as " + std::string(kNoRoom));
  EXPECT_EQ(world.requeue, seconds(30));
  world.options.why_no_room = [](const std::vector<size_t>& going) {
    EXPECT_EQ(going, (std::vector<size_t>{0, 2, 3})) << "p1 has no node";
    return std::string();
  };
  EXPECT_EQ(world.LookAfter(seconds(30)), "delete p0 p1 p2 p3");

  World observes = WithoutRoom(kPods, EnforcementMode::kObserve);
  stays_incomplete(observes);
  EXPECT_EQ(observes.LookAfter(seconds(12)), "delete p0 p1 p2 p3");
  EXPECT_EQ(observes.why,
            "it did not run again without the whole job; with onlyWhereRoom its other pods would "
            "keep running, as " +
                std::string(kNoRoom));

  World off = WithoutRoom(kPods, EnforcementMode::kOff);
  stays_incomplete(off);
  EXPECT_EQ(off.LookAfter(seconds(12)), "delete p0 p1 p2 p3");
  EXPECT_EQ(off.why, "it did not run again without the whole job");
}

// Without pod-rescheduling all pods go, unless the others are all that the job needs.
TEST(OnlyWhereRoom, WhatTheJobDoesNotNeedIsNotWaitedFor) {
  const struct {
    const char* name;
    int64_t min_available;
    EnforcementMode mode;
    const char* rank_of_p1;
    std::string want;
    std::string why;
  } cases[] = {
      {"the others are enough", 3, EnforcementMode::kEnforce, "1", "delete p1",
       "fault-scheduling is force; its other pods keep running, as " + std::string(kNoRoom)},
      {"they are not", 4, EnforcementMode::kEnforce, "1", "delete p0 p2 p3 p1",
       "fault-scheduling is force"},
      {"the master is lost", 3, EnforcementMode::kEnforce, "0", "delete p0 p2 p3 p1",
       "fault-scheduling is force"},
      {"it only observes", 3, EnforcementMode::kObserve, "1", "delete p0 p2 p3 p1",
       "fault-scheduling is force; with onlyWhereRoom its other pods would keep running, as " +
           std::string(kNoRoom)},
      {"off", 3, EnforcementMode::kOff, "1", "delete p0 p2 p3 p1", "fault-scheduling is force"},
  };
  for (const auto& each : cases) {
    World world = WithoutRoom(kForce, each.mode);
    world.job.min_available = each.min_available;
    world.task(1).rank = each.rank_of_p1;
    world.BreakChip(1);
    EXPECT_EQ(world.Reconcile(), each.want) << each.name;
    EXPECT_EQ(world.why, each.why) << each.name;
  }
  World room = WithoutRoom(kForce, EnforcementMode::kEnforce);
  room.job.min_available = 3;
  room.options.why_no_room = [](const std::vector<size_t>&) { return std::string(); };
  room.BreakChip(1);
  EXPECT_EQ(room.Reconcile(), "delete p0 p2 p3 p1");
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
