#include "watcher/scaling/decision.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "support/scaling.h"

// What upstream chooses, and what we choose where it crashes, overshoots or leaves it to chance.
namespace mindgate::testing {
namespace {

using std::chrono::seconds;

Options UpstreamCounts() {
  Options options;
  options.upstream_counts = true;
  return options;
}

// The documents' example.
constexpr const char* kR2 = "g0=2 g1=1 | g0=1 g1=1";
constexpr const char* kR3 = "g0=3 g1=1 | g0=2 g1=1 | g0=1 g1=1";

Service Make(std::string_view shapes, std::vector<Instance> instances) {
  return {RuleOf(shapes), "", std::move(instances)};
}

// What runs, and what is granted of those that wait: w for each group of the shape or of `waiting`.
struct Row {
  std::string name;
  std::string rule;
  std::string running;
  std::string aim;
  std::string one;       // of one that waits of each group
  std::string three;     // of three of each group
  std::string upstream;  // of three of each group, as upstream counts
  std::string waiting = "g0 g1";
};

Service Waiting(const Row& row, int64_t number) {
  Service service{RuleOf(row.rule), "", {}};
  Add(service, row.running, Phase::kRunning);
  for (const std::string_view group : Split(row.waiting, ' ')) {
    Add(service, std::string(group) + "=" + std::to_string(number), Phase::kHeld, 7);
  }
  return service;
}

// Everything else is held or left alone.
void ExpectGrants(const Row& row, int64_t number, const Options& options, const std::string& want) {
  const Service service = Waiting(row, number);
  const Decision decision = Decide(service, options, kStart);
  EXPECT_EQ(ShowAim(decision), row.aim);
  EXPECT_EQ(With(decision, Verdict::kGrant), want);
  ASSERT_EQ(decision.outcomes.size(), service.instances.size());
  for (const Instance& instance : service.instances) {
    const auto found =
        std::find_if(decision.outcomes.begin(), decision.outcomes.end(),
                     [&](const auto& outcome) { return outcome.instance == instance.name; });
    ASSERT_NE(found, decision.outcomes.end()) << instance.name;
    EXPECT_EQ(found->group, instance.group);
    EXPECT_FALSE(found->reason.empty());
    const bool held = instance.phase == Phase::kHeld;
    EXPECT_EQ(found->verdict == Verdict::kKeep, !held) << instance.name;
    EXPECT_NE(found->verdict, Verdict::kGiveUp);
  }
}

void ExpectRows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto reading = schemas::ReadScalingRule(RuleText(row.rule));
    EXPECT_EQ(reading.rule, RuleOf(row.rule));
    ExpectGrants(row, 1, Options{}, row.one);
    ExpectGrants(row, 3, Options{}, row.three);
    ExpectGrants(row, 3, UpstreamCounts(), row.upstream);
  }
}

constexpr const char* kAllG0 = "g0-7 g0-8 g0-9";
constexpr const char* kAllG1 = "g1-7 g1-8 g1-9";
constexpr const char* kAll = "g0-7 g0-8 g0-9 g1-7 g1-8 g1-9";

TEST(ScalingDecision, WorkedCases) {
  ExpectRows({
      {"1: nothing runs", kR2, "", "2", "g0-7 g1-7", "g0-7 g1-7", kAll},
      {"2: g0 waits for g1", kR2, "g0=1", "2", "g1-7", "g1-7", kAllG1},
      {"3: g1 waits for g0", kR2, "g1=1", "2", "g0-7", "g0-7", kAllG0},
      {"4: the minimal shape runs", kR2, "g0=1 g1=1", "1", "g0-7", "g0-7", kAllG0},
      {"5: d0 is lost", kR2, "g0=2", "2", "g1-7", "g1-7", kAllG1},
      {"6: full", kR2, "g0=2 g1=1", "-", "", "", ""},
      {"7: more than full", kR2, "g0=3 g1=1", "-", "", "", ""},
      {"8: more g1 than any shape wants", kR2, "g1=2", "2", "g0-7", "g0-7", kAllG0},
      {"9: surplus g1 beside a minimal shape", kR2, "g0=1 g1=2", "1", "g0-7", "g0-7", kAllG0},
      {"10: a group that no shape has", kR2, "g0=2 group=1", "2", "g1-7", "g1-7", kAllG1,
       "g0 g1 group"},
  });
}

TEST(ScalingDecision, Growth) {
  ExpectRows({
      {"the third p", kR3, "g0=2 g1=1", "1", "g0-7", "g0-7", kAllG0},
      {"the second p", kR3, "g0=1 g1=1", "2", "g0-7", "g0-7", kAllG0},
      {"g1 first, 1 p", kR3, "g0=1", "3", "g1-7", "g1-7", kAllG1},
      {"g1 first, 2 p", kR3, "g0=2", "3", "g1-7", "g1-7", kAllG1},
      {"g1 first, 3 p", kR3, "g0=3", "3", "g1-7", "g1-7", kAllG1},
      {"full", kR3, "g0=3 g1=1", "-", "", "", ""},
  });
}

TEST(ScalingDecision, ShrinkingDeletesNothingAndLetsNothingReturn) {
  constexpr const char* kR1 = "g0=1 g1=1";
  ExpectRows({
      {"surplus stays", kR1, "g0=2 g1=1", "-", "", "", ""},
      {"a lost one does not return", kR1, "g0=1 g1=1", "-", "", "", ""},
      {"what is lacking may", kR1, "g0=2", "1", "g1-7", "g1-7", kAllG1},
  });
}

TEST(ScalingDecision, OddRules) {
  constexpr const char* kLoses = "p=2 d=1 x=1 | p=1 d=1";
  ExpectRows({
      {"none of d in the minimal shape", "p=2 d=1 | p=1 d=0", "", "2", "p-7", "p-7", "p-7 p-8 p-9",
       "p d"},
      {"no shape", "", "p=1", "-", "", "", "", "p"},
      {"a shape of nothing", "p=0", "", "-", "", "", "", "p"},
      {"the same, and one runs", "p=0", "p=1", "-", "", "", "", "p"},
      {"a shape of no groups under a real one", "p=1 |", "", "1", "p-7", "p-7", "p-7 p-8 p-9", "p"},
      {"the largest has x", kLoses, "p=1 d=1", "1", "p-7 x-7", "p-7 x-7", "p-7 p-8 p-9 x-7 x-8 x-9",
       "p d x"},
      {"two equal shapes", "p=1 | p=1", "", "2", "p-7", "p-7", "p-7 p-8 p-9", "p"},
      {"steps of several", "p=4 | p=2", "p=2", "1", "p-7", "p-7 p-8", "p-7 p-8 p-9", "p"},
  });
}

// Upstream looks the group up in the shape and dereferences what it did not find.
TEST(ScalingDecision, AGroupMissingFromTheTierCrashesUpstream) {
  ExpectRows({{"x waits", "p=2 d=1 x=1 | p=1 d=1", "", "2", "d-7 p-7", "d-7 p-7",
               "d-7 d-8 d-9 p-7 p-8 p-9", "p d x"}});
}

// Upstream counts what runs: until the first one does, every one that asks is let through.
TEST(ScalingDecision, OvershootOfUpstream) {
  const Service service = Make(kR2, {Starting("g0-0"), Starting("g0-1"), Held("g0-2"), Held("g0-3"),
                                     Held("g1-0"), Running("g1-1")});
  EXPECT_EQ(With(Decide(service, UpstreamCounts(), kStart), Verdict::kGrant), "g0-2 g0-3");
  EXPECT_EQ(With(Decide(service, Options{}, kStart), Verdict::kGrant), "");
}

TEST(ScalingDecision, OneWithoutAGroupBlocksItsSiblingsAsUpstream) {
  Instance nameless = Held("p-0");
  nameless.group = "";
  Service service = Make(kR2, {nameless, Held("g0-1"), Starting("g0-2"), Running("g1-0")});
  const Decision decision = Decide(service, Options{}, kStart);
  EXPECT_EQ(ShowAim(decision), "-");
  EXPECT_EQ(ShowOutcomes(decision), "g0-1 hold, g0-2 keep, g1-0 keep, p-0 hold");
  service.instances.erase(service.instances.begin());
  EXPECT_EQ(ShowOutcomes(Decide(service, Options{}, kStart)), "g0-1 hold, g0-2 keep, g1-0 keep");
}

TEST(ScalingDecision, AnInvalidOrMissingRuleHoldsAndKeepsWhatRuns) {
  const std::vector<std::string> texts = {
      "",
      "{",
      "# a comment\n" + RuleText(kR2),
      RuleText("p=2 | p=3"),
      RuleText("p=2 | p=1 d=1"),
      R"({"elastic_scaling_list":[{"group_list":[{"group_name":"g0","group_num":2}]}]})",
      R"({"elastic_scaling_list":[{"group_list":[{"group_name":"g0","group_num":"two"}]}]})",
  };
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    const auto reading = schemas::ReadScalingRule(text);
    ASSERT_FALSE(reading.rule);
    ASSERT_FALSE(reading.refused.empty());
    for (const Options& options : {Options{}, UpstreamCounts()}) {
      const Service service{std::nullopt,
                            "the rule cannot be read",
                            {Held("g0-0"), Starting("g0-1"), Running("g0-2"), Granted("g0-3"),
                             Stuck("g1-0", kStart - seconds(600))}};
      const Decision decision = Decide(service, options, kStart);
      EXPECT_EQ(ShowAim(decision), "-");
      EXPECT_FALSE(decision.reached);
      EXPECT_EQ(ShowWould(decision), "");
      EXPECT_EQ(ShowOutcomes(decision), "g0-0 hold, g0-1 keep, g0-2 keep, g0-3 hold, g1-0 keep");
    }
  }
}

TEST(ScalingDecision, ReachedIsTheLargestThatRunsWhole) {
  const auto reached = [](std::string_view running) {
    Service service{RuleOf(kR3), "", {}};
    Add(service, running, Phase::kRunning);
    const auto tier = Decide(service, Options{}, kStart).reached;
    return tier ? std::to_string(*tier + 1) : "-";
  };
  EXPECT_EQ(reached(""), "-");
  EXPECT_EQ(reached("g0=3"), "-");
  EXPECT_EQ(reached("g0=1 g1=1"), "3");
  EXPECT_EQ(reached("g0=2 g1=4"), "2");
  EXPECT_EQ(reached("g0=3 g1=1"), "1");
}

// The documents' timeline: the node of the only g1 breaks, and no other node is free.
TEST(ScalingDecision, TheFaultOfTheDocuments) {
  const auto outcomes = [](std::vector<Instance> instances) {
    return ShowOutcomes(Decide(Make(kR2, std::move(instances)), Options{}, kStart));
  };
  EXPECT_EQ(outcomes({Running("g0-0"), Running("g0-1"), Held("g1-0")}),
            "g0-0 keep, g0-1 keep, g1-0 grant");
  EXPECT_EQ(outcomes({Running("g0-0"), Running("g0-1"), Granted("g1-0")}),
            "g0-0 keep, g0-1 keep, g1-0 keep");
  EXPECT_EQ(outcomes({Running("g0-0"), Held("g0-1"), Stuck("g1-0")}),
            "g0-0 keep, g0-1 hold, g1-0 keep");
  EXPECT_EQ(outcomes({Running("g0-0"), Held("g0-1"), Running("g1-0")}),
            "g0-0 keep, g0-1 grant, g1-0 keep");
}

TEST(ScalingDecision, WaitingLongestFirstThenByName) {
  const Service service =
      Make("p=3", {Since(Held("p-0"), kStart + seconds(2)), Held("p-3"), Held("p-10"), Held("p-2"),
                   Since(Held("p-9"), kStart - seconds(1))});
  EXPECT_EQ(ShowOutcomes(Decide(service, Options{}, kStart + seconds(5))),
            "p-0 hold, p-10 grant, p-2 grant, p-3 hold, p-9 grant");
}

TEST(ScalingDecision, CountsOfGroups) {
  const Service service = Make(
      "p=3 d=1 x=1 | p=2 d=1",
      {Running("p-0"), Starting("p-1"), Granted("p-2"), Held("p-3"), Held("d-0"), Running("y-0")});
  const Decision decision = Decide(service, Options{}, kStart);
  using Count = watcher::scaling::GroupCount;
  EXPECT_EQ(decision.groups,
            (std::vector<Count>{
                {"d", 1, 0, 1, 0}, {"p", 2, 1, 2, 1}, {"x", 0, 0, 0, 0}, {"y", 0, 1, 0, 0}}));
  EXPECT_EQ(Decide({std::nullopt, "", {Held("p-0")}}, Options{}, kStart).groups,
            (std::vector<Count>{{"p", 0, 0, 0, 1}}));
}

TEST(ScalingReservations, AGrantCountsUntilItsTimeIsOver) {
  Options options;
  options.reservation = seconds(30);
  const Service service = Make("p=1", {Granted("p-0", kStart), Held("p-1")});
  for (const auto& [at, outcomes] : std::vector<std::pair<int, std::string>>{
           {0, "p-0 keep, p-1 hold"}, {29, "p-0 keep, p-1 hold"}, {30, "p-0 grant, p-1 hold"}}) {
    SCOPED_TRACE(at);
    const Decision decision = Decide(service, options, kStart + seconds(at));
    EXPECT_EQ(ShowOutcomes(decision), outcomes);
    EXPECT_EQ(decision.requeue_at, at < 30 ? std::optional(kStart + seconds(30)) : std::nullopt);
  }
}

// It holds its place all the time, since a gate of it may be open.
TEST(ScalingReservations, AnUnansweredGrantIsRepeatedWhileTheOthersLeaveAPlace) {
  for (const auto& [shapes, instances, outcomes] :
       std::vector<std::tuple<std::string, std::vector<Instance>, std::string>>{
           {"p=1", {Unanswered("p-0")}, "p-0 grant"},
           {"p=1", {Unanswered("p-0"), Held("p-1")}, "p-0 grant, p-1 hold"},
           {"p=1", {Held("p-0"), Unanswered("p-1")}, "p-0 hold, p-1 grant"},
           {"p=2", {Running("p-0"), Unanswered("p-1")}, "p-0 keep, p-1 grant"},
           {"p=2",
            {Running("p-0"), Unanswered("p-1"), Held("p-2")},
            "p-0 keep, p-1 grant, p-2 hold"},
           {"p=2", {Unanswered("p-0"), Unanswered("p-1")}, "p-0 grant, p-1 grant"},
           // The one that was overdue runs at last.
           {"p=2",
            {Running("p-0"), Running("p-1"), Unanswered("p-2")},
            "p-0 keep, p-1 keep, p-2 hold"},
           {"p=2 d=1",
            {Running("p-0"), Starting("p-1"), Unanswered("p-2"), Held("p-3")},
            "p-0 keep, p-1 keep, p-2 hold, p-3 hold"},
           // The rule was changed.
           {"d=1", {Unanswered("p-0"), Held("d-0")}, "d-0 grant, p-0 hold"},
           // Its time is over: it is one of those that wait.
           {"p=1", {Held("p-0"), Unanswered("p-1", kStart - seconds(30))}, "p-0 grant, p-1 hold"},
       }) {
    const Service service = Make(shapes, instances);
    EXPECT_EQ(ShowOutcomes(Decide(service, Options{}, kStart)), outcomes);
  }
}

TEST(ScalingReservations, TheFirstOneThatEndsIsRequeuedFirst) {
  const Service service = Make("p=3", {Granted("p-0", kStart - seconds(4)),
                                       Granted("p-1", kStart - seconds(11)), Granted("p-2")});
  EXPECT_EQ(Decide(service, Options{}, kStart).requeue_at, kStart + seconds(19));
}

TEST(ScalingReservations, OfWhatIsSeenToStartNothingIsLeft) {
  Instance seen = Starting("p-0");
  seen.granted = kStart;
  const Decision decision = Decide(Make("p=1", {seen, Held("p-1")}), Options{}, kStart);
  EXPECT_EQ(ShowOutcomes(decision), "p-0 keep, p-1 hold");
  EXPECT_EQ(decision.requeue_at, std::nullopt);
}

// Upstream's own choice for the same case: one more.
TEST(ScalingReservations, CountForNothingAsUpstreamCounts) {
  const Service service = Make("p=1", {Granted("p-0"), Held("p-1")});
  EXPECT_EQ(ShowOutcomes(Decide(service, UpstreamCounts(), kStart)), "p-0 keep, p-1 grant");
}

}  // namespace
}  // namespace mindgate::testing
