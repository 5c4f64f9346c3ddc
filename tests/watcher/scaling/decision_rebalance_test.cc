#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/scaling.h"

// One instance of a group that has more than the shape wants makes room for one that it lacks.
namespace mindgate::testing {
namespace {

using std::chrono::seconds;

constexpr const char* kShapes = "p=2 d=1 | p=1 d=1";
constexpr Time kLongAgo = kStart - seconds(60);

struct Case {
  std::string name;
  std::vector<Instance> instances;
  std::string given_up;
  std::string shapes = kShapes;
  std::string withdrawn = "";
};

// The rest is left alone or held.
void ExpectGivenUp(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Service service{RuleOf(c.shapes), "", c.instances};
    const Decision decision = Decide(service, Rebalancing(), kStart);
    EXPECT_EQ(With(decision, Verdict::kGiveUp), c.given_up);
    EXPECT_EQ(With(decision, Verdict::kWithdraw), c.withdrawn);
    EXPECT_EQ(ShowWould(decision), "");
    Options observe;
    observe.rebalance = EnforcementMode::kObserve;
    const Decision observed = Decide(service, observe, kStart);
    EXPECT_EQ(With(observed, Verdict::kGiveUp), "");
    EXPECT_EQ(With(observed, Verdict::kWithdraw), c.withdrawn);
    EXPECT_EQ(ShowWould(observed), c.given_up);
  }
}

TEST(ScalingRebalance, Modes) {
  const Service service{
      RuleOf(kShapes), "", {Running("p-0"), Running("p-1"), Held("p-2"), Stuck("d-0", kLongAgo)}};
  for (const auto& [mode, outcomes, would] :
       std::vector<std::tuple<EnforcementMode, std::string, std::string>>{
           {EnforcementMode::kOff, "d-0 keep, p-0 keep, p-1 keep, p-2 hold", ""},
           {EnforcementMode::kObserve, "d-0 keep, p-0 keep, p-1 keep, p-2 hold", "p-1"},
           {EnforcementMode::kEnforce, "d-0 keep, p-0 keep, p-1 give up, p-2 hold", ""}}) {
    Options options;
    options.rebalance = mode;
    const Decision decision = Decide(service, options, kStart);
    EXPECT_EQ(ShowOutcomes(decision), outcomes);
    EXPECT_EQ(ShowWould(decision), would);
    EXPECT_EQ(decision.requeue_at, std::nullopt);
    for (const Outcome& outcome : decision.proposed) {
      EXPECT_EQ(outcome.verdict, Verdict::kGiveUp);
      EXPECT_EQ(outcome.group, "p");
    }
  }
}

TEST(ScalingRebalance, Victims) {
  ExpectGivenUp({
      {"the least ready",
       {Ready(Since(Running("p-0"), kStart), 1), Ready(Since(Running("p-1"), kLongAgo), 0),
        Stuck("d-0", kLongAgo)},
       "p-1"},
      {"of equally ready ones the newest",
       {Since(Running("p-0"), kStart), Since(Running("p-1"), kLongAgo), Stuck("d-0", kLongAgo)},
       "p-0"},
      {"of equally old ones the last by name",
       {Running("p-0"), Running("p-9"), Running("p-10"), Stuck("d-0", kLongAgo)},
       "p-9"},
      {"one that starts and has room",
       {Running("p-0"), Placed(Starting("p-1"), 1), Stuck("d-0", kLongAgo)},
       "p-1"},
      {"not the only one that runs, though it is less ready",
       {Running("p-0"), Placed(Ready(Starting("p-1"), 1), 1), Stuck("d-0", kLongAgo)},
       "p-1"},
      {"one that has no room has none to give",
       {Running("p-0"), Stuck("p-1", kLongAgo), Stuck("d-0", kLongAgo)},
       "",
       kShapes,
       "p-1"},
      {"one that has a part of its room",
       {Running("p-0"), Placed(Stuck("p-1", kLongAgo), 1), Stuck("d-0", kLongAgo)},
       "p-1"},
      {"nor has one that the scheduler has not considered",
       {Running("p-0"), Starting("p-1"), Stuck("d-0", kLongAgo)},
       ""},
      {"one that was granted and is not seen has no room",
       {Running("p-0"), Granted("p-1"), Stuck("d-0", kLongAgo)},
       ""},
      {"of a group that no shape has",
       {Running("y-0"), Running("p-0"), Stuck("d-0", kLongAgo)},
       "y-0"},
      {"one at a time",
       {Running("p-0"), Running("p-1"), Running("p-2"), Running("p-3"), Stuck("d-0", kLongAgo)},
       "p-3"},
  });
}

TEST(ScalingRebalance, NeverBelowTheShape) {
  ExpectGivenUp({
      {"nothing is in surplus", {Running("p-0"), Stuck("d-0", kLongAgo)}, ""},
      {"one that starts is wanted", {Placed(Starting("p-0"), 1), Stuck("d-0", kLongAgo)}, ""},
      {"of two that start one has no room, so the other is wanted",
       {Placed(Starting("p-0"), 1), Stuck("p-1"), Stuck("d-0", kLongAgo)},
       "",
       kShapes,
       "p-1"},
      {"of two that start the one that has a part only is not wanted",
       {Placed(Starting("p-0"), 1), Placed(Stuck("p-1"), 1), Stuck("d-0", kLongAgo)},
       "p-1"},
      {"the larger shape wants both",
       {Running("p-0"), Running("p-1"), Stuck("d-0", kLongAgo)},
       "",
       "p=2 d=1"},
  });
}

TEST(ScalingRebalance, OnlyForOneThatTheShapeLacks) {
  ExpectGivenUp({
      {"all shapes run", {Running("p-0"), Running("p-1"), Running("p-2"), Running("d-0")}, ""},
      {"too short a time",
       {Running("p-0"), Running("p-1"), Stuck("d-0", kLongAgo + seconds(1))},
       ""},
      {"it was not refused", {Running("p-0"), Running("p-1"), Placed(Starting("d-0"), 1)}, ""},
      {"it is held", {Running("p-0"), Running("p-1"), Held("d-0")}, ""},
      {"enough of its group run",
       {Running("p-0"), Running("p-1"), Running("p-2"), Running("d-0"), Stuck("d-1", kLongAgo)},
       "",
       "p=4 d=1 | p=1 d=1",
       "d-1"},
      {"another one of its group has room and starts",
       {Running("p-0"), Running("p-1"), Placed(Starting("d-0"), 1), Stuck("d-1", kLongAgo)},
       "",
       kShapes,
       "d-1"},
  });
}

// Each has a part of the room that only one of them needs, and neither lets go.
TEST(ScalingRebalance, TwoThatWaitForEachOther) {
  ExpectGivenUp({
      {"of one group",
       {Placed(Stuck("d-0", kLongAgo), 1), Placed(Stuck("d-1", kLongAgo), 1), Running("p-0")},
       "d-1"},
      {"the only one with a part keeps it",
       {Placed(Stuck("d-0", kLongAgo), 1), Running("p-0")},
       ""},
      {"the one that waits longest is not the one that goes",
       {Stuck("d-0", kLongAgo - seconds(2)), Placed(Stuck("d-1", kLongAgo), 1),
        Placed(Stuck("d-2", kLongAgo), 1), Running("p-0")},
       "",
       kShapes,
       "d-0"},
      {"and when that one no longer waits",
       {Held("d-0"), Placed(Stuck("d-1", kLongAgo), 1), Placed(Stuck("d-2", kLongAgo), 1),
        Running("p-0")},
       "d-2"},
      {"of two groups",
       {Placed(Stuck("p-0", kLongAgo), 1), Placed(Stuck("d-0", kLongAgo), 1)},
       "d-0",
       "p=1 d=1 | p=1 d=0"},
      {"both are wanted",
       {Placed(Stuck("p-0", kLongAgo), 1), Placed(Stuck("d-0", kLongAgo), 1)},
       "",
       "p=1 d=1"},
  });
}

TEST(ScalingRebalance, TheStrandedOneThatWaitsLongestIsNamed) {
  const Service service{RuleOf("p=2 d=2 | p=1 d=2"),
                        "",
                        {Running("p-0"), Running("p-1"), Stuck("d-0", kLongAgo),
                         Stuck("d-1", kLongAgo - seconds(1))}};
  const Decision decision = Decide(service, Options{}, kStart);
  ASSERT_EQ(decision.proposed.size(), 1U);
  EXPECT_NE(decision.proposed[0].reason.find("needs d-1 of d"), std::string::npos);
}

TEST(ScalingRebalance, TimeAloneMakesItSo) {
  const Service service{
      RuleOf(kShapes), "", {Running("p-0"), Running("p-1"), Stuck("d-0", kStart)}};
  Options options = Rebalancing();
  options.rebalance_after = seconds(45);
  const Decision before = Decide(service, options, kStart + seconds(44));
  EXPECT_EQ(With(before, Verdict::kGiveUp), "");
  EXPECT_EQ(before.requeue_at, kStart + seconds(45));
  const Decision then = Decide(service, options, kStart + seconds(45));
  EXPECT_EQ(With(then, Verdict::kGiveUp), "p-1");
  EXPECT_EQ(then.requeue_at, std::nullopt);
  options.rebalance = EnforcementMode::kOff;
  EXPECT_EQ(Decide(service, options, kStart).requeue_at, std::nullopt);
}

TEST(ScalingRebalance, CoolDown) {
  const Service service{
      RuleOf(kShapes), "", {Running("p-0"), Running("p-1"), Stuck("d-0", kLongAgo)}};
  for (const EnforcementMode mode : {EnforcementMode::kObserve, EnforcementMode::kEnforce}) {
    Options options;
    options.rebalance = mode;
    options.cool_down = seconds(300);
    const Decision before = Decide(service, options, kStart + seconds(299), kStart);
    EXPECT_EQ(With(before, Verdict::kGiveUp), "");
    EXPECT_EQ(ShowWould(before), "");
    EXPECT_EQ(before.requeue_at, kStart + seconds(300));
    const Decision then = Decide(service, options, kStart + seconds(300), kStart);
    EXPECT_EQ(With(then, Verdict::kGiveUp) == "p-1", mode == EnforcementMode::kEnforce);
    EXPECT_EQ(!then.proposed.empty(), mode == EnforcementMode::kObserve);
    EXPECT_EQ(then.requeue_at, std::nullopt);
  }
}

}  // namespace
}  // namespace mindgate::testing
