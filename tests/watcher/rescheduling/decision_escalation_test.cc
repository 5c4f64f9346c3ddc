#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "watcher/rescheduling_world.h"

// What happens when a job stays incomplete after a restart: which scope comes when, and who is
// spared.
namespace mindgate::watcher::rescheduling {
namespace {

// The plugin counts 12 sessions of its scheduler, of a second each; here they are a time.
TEST(DecideEscalation, APlainJobIsRestartedAsAWholeWhenItStaysIncomplete) {
  World world(kPods);
  world.BreakChip(1);
  world.Reconcile();
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();  // no room
  EXPECT_EQ(world.Reconcile(), "waits");
  EXPECT_EQ(world.requeue, seconds(12));
  EXPECT_EQ(world.LookAfter(seconds(11)), "waits");
  EXPECT_EQ(world.LookAfter(seconds(1)), "delete p0 p1 p2 p3");
  EXPECT_TRUE(world.counts_against_budget);
}

// Until the new fault is over, it is that one that keeps the job from running.
TEST(DecideEscalation, AFaultMeanwhileBeginsTheTimeAgain) {
  World world(kPods);
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "delete p1");
  world.Repair();
  world.Put(1);
  const std::string node = world.task(1).node;
  world.task(1).node.clear();
  EXPECT_EQ(world.Reconcile(), "waits");
  EXPECT_EQ(world.requeue, seconds(12));
  world.task(1).node = node;
  world.BreakChip(1);
  EXPECT_EQ(world.LookAfter(seconds(5)), "waits");
  EXPECT_THAT(world.why, ::testing::HasSubstr("what replaced its faulty pods is faulty as well"));
  world.Repair();
  world.task(1).node.clear();
  EXPECT_EQ(world.LookAfter(seconds(4)), "waits");
  EXPECT_EQ(world.requeue, seconds(12));
  EXPECT_EQ(world.LookAfter(seconds(12)), "delete p0 p1 p2 p3");
}

// Whatever became of it there. What others do with their pods is no reason to delete those that
// run.
TEST(DecideEscalation, ARestartIsOverWhenEachPodHasANode) {
  struct Case {
    const char* name;
    void (*happens)(World& world);
  };
  const Case cases[] = {
      {"one is drained by somebody", [](World& world) { world.task(2).deletion_time = world.now; }},
      {"one has failed for good",
       [](World& world) {
         world.task(2).failed = true;
         world.task(2).ended = true;
       }},
      {"two have succeeded",
       [](World& world) {
         world.job.tasks.erase(world.job.tasks.begin() + 2, world.job.tasks.end());
         world.job.succeeded = 2;
       }},
  };
  for (const Case& each : cases) {
    World world(kPods);
    world.BreakChip(1);
    EXPECT_EQ(world.Reconcile(), "delete p1");
    world.Repair();
    world.Put(1);
    each.happens(world);
    EXPECT_EQ(world.Reconcile(), "nothing") << each.name;
    EXPECT_EQ(world.why, "it has all the pods that it needs") << each.name;
    EXPECT_EQ(world.LookAfter(seconds(3600)), "nothing") << each.name;
  }
}

TEST(DecideEscalation, PodsThatSucceededDoNotStandForOneThatWaits) {
  World world(kPods);
  world.BreakChip(1);
  world.Reconcile();
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();
  world.job.tasks.pop_back();
  world.job.succeeded = 1;
  EXPECT_EQ(world.Reconcile(), "waits");
  EXPECT_EQ(world.LookAfter(seconds(12)), "delete p0 p1 p2");
}

// fault-retry-times is 0, so nobody looks at how a container ended before.
TEST(DecideEscalation, APodThatWasRestartedInPlaceRuns) {
  World world(kPods);
  world.task(2).failed = true;
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "delete p1");
  world.Repair();
  world.Put(1);
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.why, "it has all the pods that it needs");
  EXPECT_EQ(world.LookAfter(seconds(3600)), "nothing");
}

TEST(DecideEscalation, LogicalSuperPodsComeFirst) {
  World world(kPods);
  for (int i = 0; i < 4; ++i) world.task(i).super_pod = i / 2;
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "delete p1");
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();
  EXPECT_EQ(world.Reconcile(), "waits");
  EXPECT_EQ(world.requeue, seconds(6));
  EXPECT_EQ(world.LookAfter(seconds(6)), "delete p0");
  world.Put(0);
  world.task(0).node.clear();
  EXPECT_EQ(world.Reconcile(), "waits");
  EXPECT_EQ(world.LookAfter(seconds(6)), "delete p0 p1 p2 p3");
}

// Only with the policy of Atlas 950 SuperPoDs. Half of escalateAfter stands for 3 sessions.
TEST(DecideEscalation, RackBlocksComeBeforeThem) {
  World world(kPods, {{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "16"}});
  for (int i = 0; i < 6; ++i) world.Put(i);
  world.job.min_available = 6;
  for (int i = 0; i < 6; ++i) {
    world.task(i).rank = std::to_string(i + 2);
    world.task(i).super_pod = i / 4;
  }
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "delete p1");
  world.Repair();
  const auto replace = [&](const std::vector<int>& pods) {
    for (const int i : pods) {
      world.Put(i);
      world.task(i).node.clear();
    }
  };
  replace({1});
  EXPECT_EQ(world.Reconcile(), "waits");
  EXPECT_EQ(world.requeue, seconds(3));
  EXPECT_EQ(world.LookAfter(seconds(3)), "delete p0");
  EXPECT_EQ(world.why, "it did not run again without all of the rack block");
  replace({0});
  EXPECT_EQ(world.Reconcile(), "waits");
  EXPECT_EQ(world.requeue, seconds(3));
  EXPECT_EQ(world.LookAfter(seconds(3)), "delete p2 p3");
  replace({2, 3});
  EXPECT_EQ(world.Reconcile(), "waits");
  EXPECT_EQ(world.requeue, seconds(6));
  EXPECT_EQ(world.LookAfter(seconds(6)), "delete p0 p1 p2 p3 p4 p5");
}

// With the same policy process-recover-enable does not keep the rack block, and keeps all others.
TEST(DecideEscalation, AJobThatRecoversItsProcessesLosesItsRackBlockAndNoMore) {
  World world({{"fault-scheduling", "force"}, {"process-recover-enable", "on"}},
              {{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "16"}});
  for (int i = 0; i < 4; ++i) {
    world.task(i).rank = std::to_string(i + 2);
    world.task(i).super_pod = 0;
  }
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "delete p1");
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();
  EXPECT_EQ(world.Reconcile(), "waits");
  EXPECT_EQ(world.requeue, seconds(3));
  EXPECT_EQ(world.LookAfter(seconds(3)), "delete p0");
  EXPECT_EQ(world.why, "it did not run again without all of the rack block");
  world.Put(0);
  world.task(0).node.clear();
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.requeue, std::nullopt);
  EXPECT_EQ(world.LookAfter(seconds(3600)), "nothing");
}

// Its only pod was the faulty one, and the new one is in no block yet.
TEST(DecideEscalation, ABlockWithoutPodsIsPassedOver) {
  World world(kPods);
  world.task(1).super_pod = 0;
  world.BreakChip(1);
  world.Reconcile();
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();
  world.Reconcile();
  EXPECT_EQ(world.LookAfter(seconds(6)), "waits");
  EXPECT_FALSE(world.counts_against_budget);
  EXPECT_EQ(world.requeue, seconds(6));
  EXPECT_EQ(world.LookAfter(seconds(6)), "delete p0 p1 p2 p3");
}

TEST(DecideEscalation, ASuperPodWithRankZeroTakesTheWholeJob) {
  World world(kPods);
  for (int i = 0; i < 4; ++i) world.task(i).super_pod = i / 2;
  world.task(0).rank = "0";
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "delete p1");
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();
  world.Reconcile();
  EXPECT_EQ(world.LookAfter(seconds(6)), "delete p0 p1 p2 p3");
}

// Whatever the labels say, and forever.
TEST(DecideEscalation, SomeJobsNeverLoseMoreThanTheirFaultyPods) {
  const std::vector<std::pair<Map, Map>> cases = {
      {{{"ome.io/inferenceservice", "chat"}}, {}},
      {{{"app", "mindie-ms-controller"}}, {}},
      {{}, {{"huawei.com/recover_policy_path", "pod"}}},
      {{{"process-recover-enable", "on"}}, {}},
  };
  for (auto [labels, annotations] : cases) {
    labels.insert(kPods.begin(), kPods.end());
    World world(labels, annotations);
    world.BreakChip(1);
    EXPECT_EQ(world.Reconcile(), "delete p1");
    world.Repair();
    world.Put(1);
    world.task(1).node.clear();
    EXPECT_EQ(world.Reconcile(), "nothing");
    EXPECT_EQ(world.LookAfter(seconds(3600)), "nothing");
  }
}

// What waits behind the gate of elastic scaling lacks no scope.
TEST(DecideEscalation, NotWhileAPodWaitsBehindAGate) {
  World world(kPods);
  world.BreakChip(1);
  world.Reconcile();
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();
  world.task(1).gated = true;
  world.Reconcile();
  EXPECT_EQ(world.LookAfter(seconds(3600)), "nothing");
}

TEST(DecideEscalation, ItGoesOnAfterARestartOfTheWatcher) {
  World world(kPods);
  world.BreakChip(1);
  world.Reconcile();
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();
  world.Reconcile();
  world.Restart();
  EXPECT_EQ(world.LookAfter(seconds(11)), "waits");
  EXPECT_EQ(world.LookAfter(seconds(1)), "delete p0 p1 p2 p3");
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
