#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "watcher/rescheduling_world.h"

// When which pods of a job go: what is done in one look, and what the next look makes of it.
namespace mindgate::watcher::rescheduling {
namespace {

TEST(DecideRestart, AHealthyJobIsLeftAlone) {
  World world(kForce);
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.state, (JobState{.uid = "g"}));
}

// The faulty pod goes last: as long as it is there, a new leader finds the restart again.
TEST(DecideRestart, TheWholeJobGoesAndTheFaultyPodLast) {
  World world(kForce);
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "delete p0 p2 p3 p1");
  EXPECT_TRUE(world.counts_against_budget);
}

TEST(DecideRestart, WithPodReschedulingOnlyTheFaultyPodGoes) {
  World world(kPods);
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "delete p1");
}

TEST(DecideRestart, WhatIsRepeatedIsTheSameAndBeginsNothing) {
  World world(kForce);
  world.BreakChip(1);
  world.Reconcile();
  const JobState after = world.state;
  EXPECT_EQ(world.LookAfter(seconds(1)), "delete p0 p2 p3 p1");
  EXPECT_FALSE(world.counts_against_budget);
  EXPECT_EQ(world.state, after);
}

// Not the pods that have come since.
TEST(DecideRestart, ItGoesOnWithThePodsThatItBeganWith) {
  World world(kForce);
  world.BreakChip(1);
  world.Reconcile();
  world.now += seconds(1);
  world.Put(0);
  world.Put(2);
  EXPECT_EQ(world.Reconcile(), "delete p3 p1");
}

TEST(DecideRestart, ItIsOverWhenTheJobHasThePodsThatItNeeds) {
  World world(kPods);
  world.BreakChip(1);
  world.Reconcile();
  world.Repair();
  world.Put(1);
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.state.restart, std::nullopt);
  EXPECT_EQ(world.why, "it has all the pods that it needs");
}

TEST(DecideRestart, WhatAFinalizerKeepsIsNotDeletedAgain) {
  World world(kPods);
  world.BreakChip(1);
  world.Reconcile();
  world.task(1).deletion_time = world.now;
  world.task(1).forced = true;
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.why, "its pods are going");
}

// The kubelet that should end it may be gone.
TEST(DecideRestart, APodThatIsGoingIsForced) {
  World world(kPods);
  world.not_ready = {"n1"};
  world.task(1).deletion_time = world.now + seconds(30);
  EXPECT_EQ(world.Reconcile(), "delete p1");
}

TEST(DecideRestart, AnotherPodGroupOfThatNameBeginsAgain) {
  World world(Map{{"fault-scheduling", "force"}, {"fault-retry-times", "1"}});
  world.task(2).failed = true;
  EXPECT_EQ(world.Reconcile(), "delete p0 p1 p3 p2");
  EXPECT_EQ(world.state.retries_used, 1);
  world.job.uid = "another";
  world.Repair();
  world.task(2).failed = false;
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.state, (JobState{.uid = "another"}));
}

TEST(DecideRestart, DisabledIsDisabledAlsoInTheMiddle) {
  World world(kForce);
  world.BreakChip(1);
  world.Reconcile();
  world.job.disabled = "mindgate.io/rescheduling is disabled on its PodGroup";
  EXPECT_EQ(world.LookAfter(seconds(1)), "nothing");
  EXPECT_EQ(world.why, world.job.disabled);
}

TEST(DecideRestart, WhatWasBegunStopsWhenTheLabelIsOff) {
  World world(kForce);
  world.BreakChip(1);
  world.Reconcile();
  world.job.policy.fault_scheduling = FaultScheduling::kOff;
  EXPECT_EQ(world.LookAfter(seconds(1)), "nothing");
}

// --- grace ---------------------------------------------------------------------------------------

// 900 seconds by default from the beginning, and not at 900 but after.
TEST(DecideGrace, PodsEndByThemselvesUntilGraceOverTime) {
  World world(kGrace);
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "evict p0 p2 p3 p1");
  EXPECT_EQ(world.requeue, seconds(901));
  for (int i = 0; i < 4; ++i) world.task(i).deletion_time = world.now + seconds(30);
  EXPECT_EQ(world.LookAfter(seconds(900)), "nothing");
  EXPECT_EQ(world.why, "its pods are going");
  EXPECT_EQ(world.requeue, seconds(1));
  EXPECT_EQ(world.LookAfter(seconds(1)), "delete p0 p2 p3 p1");
  EXPECT_EQ(world.why, "its pods did not end within graceOverTime");
  EXPECT_FALSE(world.counts_against_budget);
}

TEST(DecideGrace, TheClockSurvivesARestartOfTheWatcher) {
  World world(kGrace);
  world.BreakChip(1);
  world.Reconcile();
  for (int i = 0; i < 4; ++i) world.task(i).deletion_time = world.now + seconds(30);
  world.now += seconds(890);
  world.Restart();
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.requeue, seconds(11));
  EXPECT_EQ(world.LookAfter(seconds(11)), "delete p0 p2 p3 p1");
}

// The one that fails later has its own time, whatever happened to the job before.
TEST(DecideGrace, EachPodHasItsOwnTime) {
  World world(kGrace, {}, {{"ome.io/inferenceservice", "chat"}});
  world.job.min_available = 2;
  world.BreakChip(0);
  EXPECT_EQ(world.Reconcile(), "evict p0");
  world.Repair();
  world.Put(0);
  world.task(0).node.clear();  // no room for its replacement
  for (int i = 2; i < 4; ++i) world.task(i).node.clear();
  EXPECT_EQ(world.LookAfter(seconds(1200)), "nothing");
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "evict p1");
  EXPECT_EQ(world.requeue, seconds(901));
  world.task(1).deletion_time = world.now + seconds(30);
  EXPECT_EQ(world.LookAfter(seconds(900)), "nothing");
  EXPECT_EQ(world.LookAfter(seconds(1)), "delete p1");
}

// Nor does a pod that fails later give the first one more time.
TEST(DecideGrace, TheFirstOneIsNotGivenMoreTime) {
  World world(kGrace, {}, {{"ome.io/inferenceservice", "chat"}});
  world.BreakChip(0);
  EXPECT_EQ(world.Reconcile(), "evict p0");
  world.task(0).deletion_time = world.now + seconds(30);
  world.now += seconds(890);
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "evict p1");
  EXPECT_EQ(world.requeue, seconds(11));
  // One step at a time: what ends by itself goes first, and what does not at once after it.
  world.task(1).deletion_time = world.now + seconds(30);
  EXPECT_EQ(world.LookAfter(seconds(11)), "delete p0");
  world.task(0).forced = true;
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.requeue, seconds(890));
  EXPECT_EQ(world.LookAfter(seconds(890)), "delete p1");
}

TEST(DecideGrace, ItRunsOutAlsoWhenRetriesAreUsedUp) {
  World world(kGrace, {}, {{"pod-rescheduling", "on"}, {"fault-retry-times", "1"}});
  world.task(1).failed = true;
  EXPECT_EQ(world.Reconcile(), "evict p1");
  world.task(1).deletion_time = world.now + seconds(30);
  world.task(1).failed = false;
  world.now += seconds(60);
  world.task(0).failed = true;
  EXPECT_EQ(world.Reconcile(), "fails");
  EXPECT_EQ(world.why, "fault-retry-times is used up");
  EXPECT_EQ(world.requeue, seconds(841));
  EXPECT_EQ(world.LookAfter(seconds(841)), "delete p1");
}

TEST(DecideGrace, SubHealthFollowsItsOwnStrategy) {
  for (const auto& [strategy, want] :
       {std::pair("graceExit", "evict p1"), std::pair("forceExit", "delete p1"),
        std::pair("ignore", "nothing")}) {
    World world(Map{{"fault-scheduling", "force"},
                    {"pod-rescheduling", "on"},
                    {"subHealthyStrategy", strategy}});
    world.faults["n1"].switches.status = faults::NodeStatus::kSubHealthy;
    EXPECT_EQ(world.Reconcile(), want) << strategy;
  }
}

// --- retries -------------------------------------------------------------------------------------

// fault-scheduling alone restarts no failed pod.
TEST(DecideRetries, FailedPodsAreRestartedAsOftenAsTheLabelAllows) {
  World none(kPods);
  none.task(2).failed = true;
  EXPECT_EQ(none.Reconcile(), "nothing");

  World two(
      Map{{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}, {"fault-retry-times", "2"}});
  for (int i = 0; i < 2; ++i) {
    two.task(2).failed = true;
    EXPECT_EQ(two.LookAfter(kLongestPause), "delete p2") << i;
    EXPECT_EQ(two.Reconcile(), "delete p2");  // the same restart
    two.Put(2);
    EXPECT_EQ(two.Reconcile(), "nothing");
  }
  two.task(2).failed = true;
  EXPECT_EQ(two.LookAfter(kLongestPause), "fails");
  EXPECT_EQ(two.why, "fault-retry-times is used up");
  EXPECT_EQ(two.state.retries_used, 2);
}

// Volcano refills them when its scheduler restarts.
TEST(DecideRetries, ARestartOfTheWatcherRefillsNothing) {
  World world(
      Map{{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}, {"fault-retry-times", "1"}});
  world.task(2).failed = true;
  EXPECT_EQ(world.Reconcile(), "delete p2");
  world.Restart();
  EXPECT_EQ(world.Reconcile(), "delete p2");  // nobody knows whether it was done
  EXPECT_EQ(world.state.retries_used, 1);
  world.Put(2);
  world.Reconcile();
  world.Restart();
  world.task(2).failed = true;
  EXPECT_EQ(world.LookAfter(kLongestPause), "fails");
}

// What cannot be restarted for one reason can be for another one.
TEST(DecideRetries, AFaultOfHardwareNeedsNoneAndIsSeenWhenTheyAreUsedUp) {
  World world(
      Map{{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}, {"fault-retry-times", "-1"}});
  world.task(2).failed = true;
  EXPECT_EQ(world.Reconcile(), "fails");
  world.BreakChip(1);
  EXPECT_EQ(world.LookAfter(seconds(1)), "delete p1 p2");
  EXPECT_EQ(world.state.retries_used, 0);
}

// As the plugin. Pods on faulty hardware go all the same.
TEST(DecideRetries, PodsThatFailBeforeTheirJobHasRunAreLeftAlone) {
  World world(Map{{"fault-scheduling", "force"}, {"fault-retry-times", "3"}});
  world.job.started = false;
  world.task(2).failed = true;
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.why, "its PodGroup has not run yet");
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "delete p0 p3 p1 p2");
}

// --- restarts in vain ----------------------------------------------------------------------------

TEST(DecidePauses, WhatWasRestartedInVainIsRestartedAfterGrowingPauses) {
  World world(kPods);
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "delete p1");
  std::vector<int64_t> pauses;
  for (int i = 0; i < 7; ++i) {
    world.Put(1);  // on the node that is faulty
    EXPECT_EQ(world.Reconcile(), "waits");
    pauses.push_back(world.requeue.value_or(seconds(0)).count());
    world.now += world.requeue.value_or(seconds(0));
    EXPECT_EQ(world.Reconcile(), "delete p1");
  }
  EXPECT_EQ(pauses, (std::vector<int64_t>{10, 20, 40, 80, 160, 300, 300}));
}

// A rack that dies pod by pod.
TEST(DecidePauses, AnotherPodOfTheJobNeedNotWait) {
  World world(kPods);
  world.BreakChip(1);
  world.Reconcile();
  world.now += seconds(1);
  world.BreakChip(2);
  EXPECT_EQ(world.Reconcile(), "delete p1 p2");
  EXPECT_TRUE(world.counts_against_budget);
}

// --- takeover ------------------------------------------------------------------------------------

struct Takeover : World {
  explicit Takeover(const Map& labels) : World(labels) { options.takeover_after = seconds(30); }
};

TEST(DecideTakeover, OthersHaveTimeToAct) {
  Takeover world(kPods);
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "waits");
  EXPECT_EQ(world.requeue, seconds(30));
  EXPECT_EQ(world.LookAfter(seconds(29)), "waits");
  EXPECT_EQ(world.LookAfter(seconds(1)), "delete p1");
}

TEST(DecideTakeover, NothingIsDoneWhenTheyDid) {
  Takeover world(kPods);
  world.BreakChip(1);
  world.Reconcile();
  world.now += seconds(5);
  world.Repair();
  world.Put(1);
  EXPECT_EQ(world.LookAfter(seconds(30)), "nothing");
  EXPECT_EQ(world.state.restarted, std::nullopt);
}

// A deletion that is under way counts, and its grace period with it.
TEST(DecideTakeover, WhatIsBeingDeletedIsSeenTo) {
  Takeover world(kGrace);
  world.BreakChip(1);
  world.Reconcile();
  for (int i = 0; i < 4; ++i) world.task(i).deletion_time = world.now + seconds(60);
  EXPECT_EQ(world.LookAfter(seconds(30)), "waits");
  EXPECT_EQ(world.LookAfter(seconds(59)), "waits");
  EXPECT_EQ(world.LookAfter(seconds(1)), "nothing");  // all of them are going
  EXPECT_EQ(world.LookAfter(seconds(901)), "delete p0 p2 p3 p1");
}

TEST(DecideTakeover, WhatTheSchedulerRecordedCounts) {
  Takeover world(kPods);
  world.BreakChip(1);
  world.Reconcile();
  world.job.restarted_by_other = world.now + seconds(20);
  EXPECT_EQ(world.LookAfter(seconds(30)), "waits");
  EXPECT_EQ(world.LookAfter(seconds(20)), "delete p1");
}

// The grace period is anybody's to choose: an hour of it does not keep a pod on a broken chip.
TEST(DecideTakeover, ADeletionByOthersIsWaitedForWithinBounds) {
  Takeover forced(kPods);
  forced.task(1).deletion_time = forced.now + std::chrono::hours(1);
  forced.BreakChip(1);
  EXPECT_EQ(forced.Reconcile(), "waits");
  EXPECT_EQ(forced.LookAfter(seconds(29)), "waits");
  EXPECT_EQ(forced.LookAfter(seconds(1)), "delete p1");
  Takeover later(kPods);
  later.BreakChip(1);
  EXPECT_EQ(later.Reconcile(), "waits");
  later.task(1).deletion_time = later.now + std::chrono::hours(1);
  EXPECT_EQ(later.LookAfter(seconds(20)), "waits");
  EXPECT_EQ(later.LookAfter(seconds(29)), "waits");
  EXPECT_EQ(later.LookAfter(seconds(1)), "delete p1");
  Takeover graceful(kGrace);
  graceful.job.policy.pod_rescheduling = true;
  graceful.task(1).deletion_time = graceful.now + std::chrono::hours(1);
  graceful.BreakChip(1);
  EXPECT_EQ(graceful.Reconcile(), "waits");
  EXPECT_EQ(graceful.LookAfter(seconds(899)), "waits");
  EXPECT_EQ(graceful.LookAfter(seconds(1)), "nothing") << "it is chosen, and is going";
  EXPECT_EQ(graceful.LookAfter(seconds(1)), "delete p1") << "it has had graceOverTime";
}

// The scheduler's host may have another time.
TEST(DecideTakeover, ARecordOfATimeThatIsYetToComeIsOfNow) {
  Takeover world(kPods);
  world.BreakChip(1);
  world.Reconcile();
  world.job.restarted_by_other = world.now + std::chrono::hours(1);
  EXPECT_EQ(world.LookAfter(seconds(30)), "waits");
  EXPECT_EQ(world.requeue, seconds(30));
  EXPECT_EQ(world.LookAfter(seconds(30)), "delete p1");
}

TEST(DecideTakeover, RecordsDoNotHoldARestartForLongerThanGraceOverTime) {
  for (const bool ahead : {false, true}) {
    Takeover world(kPods);
    world.BreakChip(1);
    world.Reconcile();
    while (world.now < kStart + seconds(900)) {
      world.now += seconds(30);
      world.job.restarted_by_other = world.now + std::chrono::hours(ahead ? 1 : 0);
      EXPECT_EQ(world.Reconcile(), "waits");
    }
    EXPECT_EQ(world.requeue, seconds(30));
    world.now += seconds(30);
    world.job.restarted_by_other = world.now;
    EXPECT_EQ(world.Reconcile(), "delete p1");
  }
}

// --- whose clock ---------------------------------------------------------------------------------

// The API server's clock may be an hour behind ours, or ahead: only its own times are compared.
TEST(DecideClocks, AReplacementIsOneWhateverOurClockShows) {
  for (const int ahead : {-1, 1}) {
    World world(kPods);
    world.now = kStart + std::chrono::hours(ahead);
    world.BreakChip(1);
    EXPECT_EQ(world.Reconcile(), "delete p1");
    world.Put(1);
    world.task(1).created = kStart + seconds(10);
    EXPECT_EQ(world.LookAfter(seconds(2)), "waits") << "it was restarted in vain";
    EXPECT_EQ(world.requeue, seconds(8));
    // One that was there before was not.
    World other(kPods);
    other.now = kStart + std::chrono::hours(ahead);
    other.BreakChip(1);
    EXPECT_EQ(other.Reconcile(), "delete p1");
    other.Repair();
    other.BreakChip(2);
    EXPECT_EQ(other.LookAfter(seconds(2)), "delete p1 p2");
  }
}

// --- platforms that act by themselves ------------------------------------------------------------

TEST(DecideExternal, FaultyPodsAreMarkedOnce) {
  World world(Map{{"fault-scheduling", "external-grace"}});
  world.BreakChip(1);
  world.not_ready = {"n3"};
  EXPECT_EQ(world.Reconcile(), "annotate p1 p3");
  world.task(1).pod_status = "Unhealthy-CardUnhealthy";
  EXPECT_EQ(world.Reconcile(), "annotate p3");
  world.task(3).pod_status = "Unhealthy-NodeUnhealthy";
  EXPECT_EQ(world.Reconcile(), "marked");
  EXPECT_EQ(world.state.restart, std::nullopt);
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
