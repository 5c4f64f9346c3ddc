#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "watcher/frame/disruption_limits.h"

namespace mindgate::watcher {
namespace {

using Instant = Clock::Instant;

constexpr Instant At(int64_t second) { return Instant(std::chrono::seconds(second)); }

TEST(DisruptionBudget, GivesSoManyAMinute) {
  DisruptionBudget budget;
  EXPECT_EQ(budget.Take("a", 2, At(0)), std::nullopt);
  EXPECT_EQ(budget.Take("b", 2, At(10)), std::nullopt);
  EXPECT_EQ(budget.Take("a", 2, At(20)), At(60));
  EXPECT_EQ(budget.Take("c", 2, At(59)), At(60));
  EXPECT_EQ(budget.Take("a", 2, At(60)), At(61)) << "it was served, and c never was";
  EXPECT_EQ(budget.Take("c", 2, At(60)), std::nullopt);
  EXPECT_EQ(budget.Take("a", 2, At(61)), At(70));
}

// Whoever asks for what is free waits behind those who have asked for longer, whatever its name.
TEST(DisruptionBudget, TheNamespaceThatHasWaitedLongestIsServed) {
  DisruptionBudget budget;
  EXPECT_EQ(budget.Take("first", 1, At(0)), std::nullopt);
  const std::vector<std::string> line = {"z", "m", "a"};
  for (size_t i = 0; i < line.size(); ++i) {
    EXPECT_EQ(budget.Take(line[i], 1, At(10 + static_cast<int64_t>(i))), At(60)) << line[i];
  }
  // All come at the time that they were given, in the order of their names.
  std::vector<std::string> served;
  for (int64_t second = 60; served.size() < line.size() && second < 400; ++second) {
    for (const char* ns : {"a", "first", "m", "z"}) {
      if (!budget.Take(ns, 1, At(second))) served.emplace_back(ns);
    }
  }
  EXPECT_EQ(served, line) << "and first again only after them";
}

TEST(DisruptionBudget, WhoDoesNotComeForItIsNotWaitedForLong) {
  DisruptionBudget budget;
  EXPECT_EQ(budget.Take("a", 1, At(0)), std::nullopt);
  EXPECT_EQ(budget.Take("gone", 1, At(10)), At(60));
  EXPECT_EQ(budget.Take("b", 1, At(11)), At(60));
  EXPECT_EQ(budget.Take("b", 1, At(60)), At(61)) << "gone is in front";
  EXPECT_EQ(budget.Take("b", 1, At(75)), std::nullopt);
}

// Of 41 namespaces, 40 of which never have enough, each is served before one is served twice.
TEST(DisruptionBudget, NobodyStarvesByTheAlphabet) {
  DisruptionBudget budget;
  std::map<std::string, int> served;
  for (int64_t second = 0; second < 300; ++second) {
    for (int i = 0; i < 41; ++i) {
      const std::string ns = "greedy-" + std::to_string(i);
      if (!budget.Take(ns, 12, At(second))) ++served[ns];
    }
  }
  EXPECT_EQ(served.size(), 41U);
  for (const auto& [ns, times] : served) {
    EXPECT_GE(times, 1) << ns;
    EXPECT_LE(times, 2) << ns;
  }
}

TEST(DisruptionBudget, AllOrNoneOfSeveral) {
  DisruptionBudget budget;
  EXPECT_EQ(budget.Take("a", 10, At(0), 3), std::nullopt);
  EXPECT_EQ(budget.Take("a", 10, At(1), 3), At(60)) << "half of it is five";
  EXPECT_EQ(budget.Take("a", 10, At(2), 2), std::nullopt);
  budget.GiveBack("a", 2);
  EXPECT_EQ(budget.Take("a", 10, At(3), 2), std::nullopt);
  EXPECT_EQ(budget.Take("b", 2, At(4), 3), At(64)) << "more than there ever are";
}

TEST(DisruptionBudget, ANewLeaderInheritsWhatWasTaken) {
  DisruptionBudget budget;
  budget.Inherit("a", {At(30), At(40), At(50)});
  EXPECT_EQ(budget.Take("a", 6, At(60)), At(90));
  EXPECT_EQ(budget.Take("b", 3, At(60)), At(90));
  // A replica that leads again knows some of it.
  DisruptionBudget own;
  EXPECT_EQ(own.Take("a", 6, At(40)), std::nullopt);
  EXPECT_EQ(own.Take("a", 6, At(50)), std::nullopt);
  own.Inherit("a", {At(30), At(40), At(50)});
  EXPECT_EQ(own.Take("a", 6, At(60)), At(90)) << "three, and not five";
  // Another one has led meanwhile.
  DisruptionBudget again;
  EXPECT_EQ(again.Take("a", 4, At(0)), std::nullopt);
  again.Inherit("a", {At(0), At(30)});
  EXPECT_EQ(again.Take("a", 4, At(59)), At(60));
  EXPECT_EQ(again.Take("a", 4, At(60)), std::nullopt);
  EXPECT_EQ(again.Take("a", 4, At(61)), At(90)) << "what the other one took";
}

TEST(DisruptionBudget, WhatWasTakenCountsAlsoWhenLessIsAllowedLater) {
  DisruptionBudget budget;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(budget.Take("a", 6, At(i)), std::nullopt);
  EXPECT_EQ(budget.Take("b", 1, At(10)), At(62));
  EXPECT_EQ(budget.Take("b", 2, At(10)), At(61));
  EXPECT_EQ(budget.Take("b", 4, At(10)), std::nullopt);
}

// Who asks first and then finds that nothing is to be done has cost the others nothing.
TEST(DisruptionBudget, WhatIsAskedOrGivenBackIsNotTaken) {
  DisruptionBudget budget;
  for (int i = 0; i < 9; ++i) EXPECT_EQ(budget.Ask("a", 2, At(0)), std::nullopt);
  EXPECT_EQ(budget.Take("a", 2, At(1)), std::nullopt);
  EXPECT_EQ(budget.Ask("a", 2, At(2)), At(61));
  budget.GiveBack("b");  // it has none
  EXPECT_EQ(budget.Ask("a", 2, At(3)), At(61));
  budget.GiveBack("a");
  EXPECT_EQ(budget.Take("a", 2, At(4)), std::nullopt);
  budget.GiveBack("a");
  budget.GiveBack("a");
  EXPECT_EQ(budget.Take("b", 2, At(5)), std::nullopt);
}

// One tenant's faults, or what it makes look like faults, leave some to the others.
TEST(DisruptionBudget, ANamespaceGetsItsShare) {
  DisruptionBudget budget;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(budget.Take("a", 10, At(i)), std::nullopt) << i;
  EXPECT_EQ(budget.Take("a", 10, At(5)), At(60)) << "half of it";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(budget.Take("b", 10, At(6 + i)), std::nullopt) << i;
  EXPECT_EQ(budget.Take("b", 10, At(20)), At(66));
  EXPECT_EQ(budget.Take("c", 10, At(20)), At(60)) << "all of it is taken";
  EXPECT_EQ(budget.Take("c", 10, At(60)), std::nullopt);
  // Three have asked within the minute: four to each.
  EXPECT_EQ(budget.Take("d", 1, At(200)), std::nullopt) << "one is there for everybody";
}

TEST(DisruptionBudget, NothingMayBeDisrupted) {
  DisruptionBudget budget;
  EXPECT_EQ(budget.Take("a", 0, At(0)), At(60));
}

}  // namespace
}  // namespace mindgate::watcher
