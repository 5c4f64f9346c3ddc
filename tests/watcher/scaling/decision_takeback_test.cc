// What is taken back, in which order, and what passes in place of what: the decision alone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/scaling.h"

namespace mindgate::testing {
namespace {

using std::chrono::seconds;

constexpr const char* kPrefill = "p=3 d=1 | p=2 d=1 | p=1 d=1";
const Time kBefore = kStart - seconds(3600);

Instance Revised(Instance instance, const std::string& revision, Time since) {
  instance.workload = "Deployment/chat";
  instance.revision = revision;
  instance.since = since;
  return instance;
}

Instance Begun(Instance instance, Time started) {
  instance.started = started;
  return instance;
}

struct TakeBackCase {
  std::string name;
  std::vector<Instance> instances;
  std::string want;
  std::string shapes = kPrefill;
  Options options = Rebalancing();
};

void ExpectOutcomes(const std::vector<TakeBackCase>& cases) {
  for (const TakeBackCase& c : cases) {
    EXPECT_EQ(ShowOutcomes(Decide({RuleOf(c.shapes), "", c.instances}, c.options, kStart)), c.want)
        << c.name;
  }
}

// What waits in the scheduler's queue would take the room of those that are wanted.
TEST(ScalingTakeBack, GrantsWithoutRoomAreWithdrawnWhenTheShapeNoLongerWantsThem) {
  ExpectOutcomes({
      {"decode is lost while the largest shape grows",
       {Running("p-0"), Running("p-1"), Stuck("p-2"), Held("d-0")},
       "d-0 grant, p-0 keep, p-1 keep, p-2 withdraw"},
      {"the newest goes first",
       {Running("p-0"), Since(Stuck("p-1"), kStart - seconds(2)),
        Since(Stuck("p-2"), kStart - seconds(1)), Running("d-0")},
       "d-0 keep, p-0 keep, p-1 keep, p-2 withdraw"},
      {"after an edit to fewer",
       {Running("p-0"), Running("p-1"), Stuck("p-2"), Stuck("p-3"), Running("d-0")},
       "d-0 keep, p-0 keep, p-1 keep, p-2 withdraw, p-3 withdraw",
       "p=2 d=1"},
      {"what has found a node stays",
       {Running("p-0"), Placed(Stuck("p-1"), 1), Running("d-0")},
       "d-0 keep, p-0 keep, p-1 keep",
       "p=1 d=1"},
      {"what the scheduler has not refused stays",
       {Running("p-0"), Starting("p-1"), Running("d-0")},
       "d-0 keep, p-0 keep, p-1 keep",
       "p=1 d=1"},
      {"what is wanted stays",
       {Running("p-0"), Stuck("p-1"), Running("d-0")},
       "d-0 keep, p-0 keep, p-1 keep"},
      {"as upstream counts, it would be granted again at once",
       {Stuck("p-0"), Stuck("p-1"), Running("d-0")},
       "d-0 keep, p-0 keep, p-1 keep",
       "p=1 d=1",
       {.upstream_counts = true, .rebalance = EnforcementMode::kEnforce}},
      {"one without a group is nobody's surplus",
       {Running("p-0"), Running("d-0"),
        [] {
          Instance nameless = Stuck("x-0");
          nameless.group = "";
          return nameless;
        }()},
       "d-0 keep, p-0 keep, x-0 keep",
       "p=1 d=1"},
  });
}

// Grants count an overdue instance as nobody: one that was granted in its place is not one too
// many, or it would be taken back and granted again without end.
TEST(ScalingTakeBack, AnOverdueInstanceHoldsNoPlace) {
  const auto overdue = [](Instance instance) { return Begun(std::move(instance), kBefore); };
  ExpectOutcomes({
      {"it has a node, and its sibling finds none",
       {overdue(Placed(Starting("p-0"), 1)), Stuck("p-1"), Running("d-0")},
       "d-0 keep, p-0 keep, p-1 keep",
       "p=1 d=1"},
      {"two of them, and nobody in their place",
       {overdue(Stuck("p-0")), overdue(Stuck("p-1")), Running("d-0")},
       "d-0 keep, p-0 keep, p-1 keep",
       "p=1 d=1"},
      {"it has no room, and another one starts in its place",
       {overdue(Stuck("p-0")), Starting("p-1"), Running("d-0")},
       "d-0 keep, p-0 withdraw, p-1 keep",
       "p=1 d=1"},
  });
}

TEST(ScalingTakeBack, PodsThatCameWithoutAGateWouldComeBackWithoutOne) {
  Instance ungated = Stuck("p-1");
  ungated.came_ungated = true;
  ExpectOutcomes(
      {{"", {Running("p-0"), ungated, Running("d-0")}, "d-0 keep, p-0 keep, p-1 keep", "p=1 d=1"}});
}

TEST(ScalingTakeBack, BeforeAnythingThatRuns) {
  const Service service{
      RuleOf(kPrefill),
      "",
      {Running("p-0"), Running("p-1"), Stuck("p-2", kBefore), Stuck("d-0", kBefore)}};
  EXPECT_EQ(ShowOutcomes(Decide(service, Rebalancing(), kStart)),
            "d-0 keep, p-0 keep, p-1 keep, p-2 withdraw");
  Service then = service;
  then.instances[2] = Held("p-2");
  EXPECT_EQ(ShowOutcomes(Decide(then, Rebalancing(), kStart)),
            "d-0 keep, p-0 keep, p-1 give up, p-2 hold");
}

TEST(ScalingTakeBack, WithoutRebalancingOnlyWhatHasNoRoom) {
  const Service grant{
      RuleOf(kPrefill),
      "",
      {Running("p-0"), Running("p-1"), Stuck("p-2", kBefore), Stuck("d-0", kBefore)}};
  Service none = grant;
  none.instances[2] = Held("p-2");
  for (const EnforcementMode mode : {EnforcementMode::kOff, EnforcementMode::kObserve}) {
    Options options;
    options.rebalance = mode;
    const Decision back = Decide(grant, options, kStart);
    EXPECT_EQ(ShowOutcomes(back), "d-0 keep, p-0 keep, p-1 keep, p-2 withdraw");
    EXPECT_EQ(ShowWould(back), "");
    EXPECT_EQ(back.outcomes.back().reason,
              "shape 3 of 3 wants 1 of p, and there is no room for this one: its pods return "
              "behind the gate");
    const Decision then = Decide(none, options, kStart);
    EXPECT_EQ(ShowOutcomes(then), "d-0 keep, p-0 keep, p-1 keep, p-2 hold");
    EXPECT_EQ(ShowWould(then), mode == EnforcementMode::kObserve ? "p-1" : "");
  }
}

// Right after another one was given up, and while pods of the service still go.
TEST(ScalingTakeBack, AGrantWithoutRoomWaitsForNoCoolDown) {
  const Service service{RuleOf(kPrefill),
                        "",
                        {Running("p-0"), Running("p-1"), Stuck("p-2"), Stuck("d-0")},
                        kStart + seconds(60)};
  EXPECT_EQ(With(Decide(service, Rebalancing(), kStart, kStart), Verdict::kWithdraw), "p-2");
}

// Room that is about to come is waited for, but not forever.
TEST(ScalingTakeBack, WhatIsLeavingIsWaitedFor) {
  Service service{RuleOf(kPrefill),
                  "",
                  {Running("p-0"), Running("p-1"), Stuck("d-0", kBefore)},
                  kStart + seconds(20)};
  const Decision waits = Decide(service, Rebalancing(), kStart);
  EXPECT_EQ(With(waits, Verdict::kGiveUp), "");
  EXPECT_EQ(waits.requeue_at, kStart + seconds(20));
  EXPECT_EQ(With(Decide(service, Rebalancing(), kStart + seconds(20)), Verdict::kGiveUp), "p-1");
}

// One that did not help is not followed by another one.
TEST(ScalingTakeBack, NotAgainWhenTheLastOneChangedNothing) {
  Service service{RuleOf(kPrefill), "", {Running("p-0"), Running("p-1"), Stuck("d-0", kBefore)}};
  service.futile = service.instances[2];
  EXPECT_EQ(With(Decide(service, Rebalancing(), kStart), Verdict::kGiveUp), "");
  service.instances[2].since = kStart - seconds(1);  // its pods are others now
  EXPECT_EQ(With(Decide(service, Rebalancing(), kStart), Verdict::kGiveUp), "p-1");
}

TEST(ScalingTakeBack, OneThatDoesNotStartInTimeNoLongerHoldsItsSiblingsBack) {
  const Time late = kStart - seconds(600);
  ExpectOutcomes({
      {"it is in time",
       {Begun(Placed(Starting("p-0"), 1), late + seconds(1)), Held("p-1"), Running("d-0")},
       "d-0 keep, p-0 keep, p-1 hold",
       "p=1 d=1"},
      {"it has a node and does not run",
       {Begun(Placed(Starting("p-0"), 1), late), Held("p-1"), Running("d-0")},
       "d-0 keep, p-0 keep, p-1 grant",
       "p=1 d=1"},
      {"it has no room: it takes its turn again",
       {Begun(Stuck("p-0"), late), Held("p-1"), Running("d-0")},
       "d-0 keep, p-0 withdraw, p-1 grant",
       "p=1 d=1"},
      {"nobody else waits",
       {Begun(Stuck("p-0"), late), Running("d-0")},
       "d-0 keep, p-0 keep",
       "p=1 d=1"},
  });
  const Service service{RuleOf("p=1 d=1"), "", {Begun(Starting("p-0"), kStart), Held("p-1")}};
  EXPECT_EQ(Decide(service, Rebalancing(), kStart).requeue_at, kStart + seconds(600));
}

TEST(ScalingTakeBack, GatesOfWhatIsNotCountedOrTooMuch) {
  Instance renewed = Running("p-1");
  renewed.gated = 1;
  Instance nameless = Running("x-0");
  nameless.group = "";
  ExpectOutcomes({
      {"pods that replace others of a wanted one follow",
       {Running("p-0"), renewed, Running("d-0")},
       "d-0 keep, p-0 keep, p-1 grant",
       "p=2 d=1"},
      {"those of a surplus one wait",
       {Running("p-0"), renewed, Running("d-0")},
       "d-0 keep, p-0 keep, p-1 hold",
       "p=1 d=1"},
      {"one without a group that runs blocks nobody",
       {nameless, Held("p-0"), Held("d-0")},
       "d-0 grant, p-0 grant, x-0 keep",
       "p=1 d=1"},
  });
  EXPECT_EQ(ShowOutcomes(Decide({std::nullopt, "", {renewed}}, Rebalancing(), kStart)), "p-1 hold")
      << "without a rule";
}

// A rolling update with maxSurge makes a newer pod before an older one goes.
TEST(ScalingTakeBack, ANewerPodPassesInPlaceOfAnOlder) {
  const auto v1 = [](Instance instance) { return Revised(std::move(instance), "v1", kBefore); };
  const auto v2 = [](Instance instance) { return Revised(std::move(instance), "v2", kStart); };
  ExpectOutcomes({
      {"the first of the new revision",
       {v1(Running("p-0")), v1(Running("p-1")), v2(Held("p-2")), Running("d-0")},
       "d-0 keep, p-0 keep, p-1 keep, p-2 grant",
       "p=2 d=1"},
      {"one of the old has gone, and the next comes",
       {v1(Running("p-1")), v2(Running("p-2")), v2(Held("p-3")), Running("d-0")},
       "d-0 keep, p-1 keep, p-2 keep, p-3 grant",
       "p=2 d=1"},
      {"not more than the shape wants of the new one",
       {v1(Running("p-1")), v2(Running("p-2")), v2(Running("p-3")), v2(Held("p-4")),
        Running("d-0")},
       "d-0 keep, p-1 keep, p-2 keep, p-3 keep, p-4 hold",
       "p=2 d=1"},
      {"none of the old comes back in place of the new",
       {Revised(Held("p-0"), "v1", kBefore), v2(Running("p-1")), v2(Running("p-2")),
        Running("d-0")},
       "d-0 keep, p-0 hold, p-1 keep, p-2 keep",
       "p=2 d=1"},
      {"another workload's revision is nothing to it",
       {v1(Running("p-0")), v1(Running("p-1")),
        [&] {
          Instance other = v2(Held("p-2"));
          other.workload = "Deployment/other";
          return other;
        }(),
        Running("d-0")},
       "d-0 keep, p-0 keep, p-1 keep, p-2 hold",
       "p=2 d=1"},
      {"it is not withdrawn for want of room",
       {v1(Running("p-0")), v1(Running("p-1")), v2(Stuck("p-2")), Running("d-0")},
       "d-0 keep, p-0 keep, p-1 keep, p-2 keep",
       "p=2 d=1"},
  });
}

// Two instances, of which each alone leaves too little.
TEST(ScalingTakeBack, AsManyAsFitTogetherAtOnce) {
  const auto on = [](Instance instance, const std::string& node) {
    instance.npus = {{node, 4}};
    return instance;
  };
  Instance stranded = Stuck("d-0", kBefore);
  stranded.needs = {8};
  const Service service{
      RuleOf(kPrefill),
      "",
      {on(Running("p-0"), "n1"), on(Running("p-1"), "n2"), on(Running("p-2"), "n2"), stranded}};
  EXPECT_EQ(With(Decide(service, Rebalancing(), kStart), Verdict::kGiveUp), "p-1 p-2");
}

}  // namespace
}  // namespace mindgate::testing
