#include "watcher/frame/disruption_budget.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(budget.Take("c", 2, At(60)), std::nullopt);
  EXPECT_EQ(budget.Take("a", 2, At(61)), At(70));
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
