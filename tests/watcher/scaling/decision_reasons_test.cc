#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/scaling.h"

// What people read: every kind of reason, whole.
namespace mindgate::testing {
namespace {

using std::chrono::seconds;

constexpr const char* kThreeShapes = "p=3 d=1 x=1 | p=2 d=1 | p=1 d=1";

const Outcome& OutcomeOf(const Decision& decision, const std::string& instance) {
  return *std::find_if(decision.outcomes.begin(), decision.outcomes.end(),
                       [&](const Outcome& outcome) { return outcome.instance == instance; });
}

struct ReasonCase {
  std::string name;
  std::vector<Instance> instances;
  std::string instance;
  std::string want;
};

void ExpectReasons(const std::vector<ReasonCase>& cases, const Options& options,
                   const std::string& shapes = kThreeShapes) {
  for (const ReasonCase& c : cases) {
    SCOPED_TRACE(c.name);
    const Decision decision = Decide({RuleOf(shapes), "", c.instances}, options, kStart);
    const Outcome& outcome = OutcomeOf(decision, c.instance);
    EXPECT_EQ(std::string(Show(outcome.verdict)) + ": " + outcome.reason, c.want);
  }
}

TEST(ScalingReasons, Grants) {
  ExpectReasons(
      {
          {"the first",
           {Held("p-0")},
           "p-0",
           "grant: shape 3 of 3 wants 1 of p, and none runs or starts"},
          {"beside one that runs",
           {Running("p-0"), Running("d-0"), Held("p-1")},
           "p-1",
           "grant: shape 2 of 3 wants 2 of p, and 1 runs"},
          {"beside several that run",
           {Running("p-0"), Running("p-1"), Running("d-0"), Held("p-2")},
           "p-2",
           "grant: shape 1 of 3 wants 3 of p, and 2 run"},
          {"the first of another group",
           {Running("p-0"), Running("p-1"), Running("d-0"), Held("x-0"), Held("p-2")},
           "x-0",
           "grant: shape 1 of 3 wants 1 of x, and none runs or starts"},
      },
      Options{});
  ExpectReasons({{"the second of a step of two",
                  {Held("p-0"), Held("p-1")},
                  "p-1",
                  "grant: shape 1 of 1 wants 3 of p, and 1 starts"},
                 {"the third of a step of three",
                  {Running("p-0"), Held("p-1"), Held("p-2")},
                  "p-2",
                  "grant: shape 1 of 1 wants 3 of p, and 2 run or start"}},
                Options{}, "p=3");
}

TEST(ScalingReasons, Holds) {
  ExpectReasons(
      {
          {"another group lacks one",
           {Running("p-0"), Held("p-1")},
           "p-1",
           "hold: shape 3 of 3 wants 1 of p, and 1 runs; shape 2 waits for d (0 of 1 run)"},
          {"its own group lacks one that starts",
           {Starting("p-0"), Held("p-1"), Running("d-0")},
           "p-1",
           "hold: shape 3 of 3 wants 1 of p, and 1 starts; shape 2 waits for p (0 of 1 run)"},
          {"what starts finds no room",
           {Stuck("p-0"), Held("p-1"), Starting("d-0")},
           "p-1",
           "hold: shape 3 of 3 wants 1 of p, and 1 starts; shape 2 waits for d (0 of 1 run) and p "
           "(0 of 1 run, there is no room for p-0)"},
          {"not in this shape",
           {Running("p-0"), Running("d-0"), Held("x-0")},
           "x-0",
           "hold: shape 2 of 3 wants none of x; shape 1 waits for p (1 of 2 run)"},
          {"enough for every shape",
           {Running("p-0"), Running("d-0"), Held("d-1")},
           "d-1",
           "hold: no shape wants more than 1 of d, and 1 runs"},
          {"all run",
           {Running("p-0"), Running("p-1"), Running("p-2"), Running("d-0"), Running("x-0"),
            Held("p-3")},
           "p-3",
           "hold: the largest shape runs, which wants 1 of d and 3 of p and 1 of x"},
          {"a group that the rule does not know",
           {Held("prefil-0")},
           "prefil-0",
           "hold: no shape of the rule has a group \"prefil\""},
      },
      Options{});
  ExpectReasons(
      {{"none of it anywhere", {Held("d-0"), Held("p-0")}, "d-0", "hold: no shape wants any of d"}},
      Options{}, "p=1 d=0");
  ExpectReasons({{"a rule of nothing",
                  {Held("d-0")},
                  "d-0",
                  "hold: the rule wants no instances in any shape"}},
                Options{}, "d=0");
}

TEST(ScalingReasons, AsUpstreamCounts) {
  Options options;
  options.upstream_counts = true;
  ExpectReasons(
      {
          {"what starts is not counted",
           {Starting("p-0"), Held("p-1")},
           "p-1",
           "grant: shape 3 of 3 wants 1 of p, and none runs"},
          {"enough run",
           {Running("p-0"), Starting("d-0"), Held("p-1")},
           "p-1",
           "hold: shape 3 of 3 wants 1 of p, and 1 runs; shape 2 waits for d (0 of 1 run)"},
      },
      options);
}

TEST(ScalingReasons, WhatIsLeftAlone) {
  ExpectReasons(
      {
          {"runs", {Running("p-0")}, "p-0", "keep: it runs"},
          {"starts", {Starting("p-0")}, "p-0", "keep: it was granted and starts"},
          {"reserved",
           {Granted("p-0")},
           "p-0",
           "keep: it was granted, and its pods do not show it yet"},
      },
      Options{});
}

TEST(ScalingReasons, NoRule) {
  const auto reason = [](Service service) {
    return Decide(service, Options{}, kStart).outcomes.front().reason;
  };
  EXPECT_EQ(reason({std::nullopt, "ConfigMap scaling-rule is not there", {Held("p-0")}}),
            "ConfigMap scaling-rule is not there");
  EXPECT_EQ(reason({std::nullopt, "", {Running("p-0")}}), "there is no scaling rule");
  Instance nameless = Held("p-1");
  nameless.group = "";
  EXPECT_EQ(reason({RuleOf(kThreeShapes), "", {Held("p-0"), nameless}}),
            "p-1 belongs to the service but has no label mind-cluster/group-name, so its instances "
            "cannot be counted");
}

TEST(ScalingReasons, WhatIsGivenUp) {
  Options options;
  options.rebalance = EnforcementMode::kEnforce;
  const Time long_ago = kStart - seconds(60);
  ExpectReasons(
      {
          {"one that runs",
           {Running("p-0"), Running("p-1"), Stuck("d-0", long_ago)},
           "p-1",
           "give up: shape 3 of 3 needs d-0 of d but there is no room for it; it wants 1 of p, and "
           "2 run"},
          {"one that starts",
           {Running("p-0"), Placed(Starting("p-1"), 1), Stuck("d-0", long_ago)},
           "p-1",
           "give up: shape 3 of 3 needs d-0 of d but there is no room for it; it wants 1 of p, and "
           "2 run or start"},
          {"of a group that the shape does not have",
           {Running("x-0"), Running("p-0"), Stuck("d-0", long_ago)},
           "x-0",
           "give up: shape 3 of 3 needs d-0 of d but there is no room for it; it wants none of x, "
           "and 1 runs"},
      },
      options);
}

}  // namespace
}  // namespace mindgate::testing
