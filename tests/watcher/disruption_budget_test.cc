#include "watcher/disruption_budget.h"

#include <gtest/gtest.h>

namespace mindgate::watcher {
namespace {

using std::chrono::seconds;

constexpr Time At(int64_t second) { return Time(seconds(second)); }

TEST(DisruptionBudget, GivesSoManyAMinute) {
  DisruptionBudget budget;
  EXPECT_EQ(budget.Take(2, At(0)), std::nullopt);
  EXPECT_EQ(budget.Take(2, At(10)), std::nullopt);
  EXPECT_EQ(budget.Take(2, At(20)), At(60));
  EXPECT_EQ(budget.Take(2, At(59)), At(60));
  EXPECT_EQ(budget.Take(2, At(60)), std::nullopt);
  EXPECT_EQ(budget.Take(2, At(61)), At(70));
}

TEST(DisruptionBudget, WhatWasTakenCountsAlsoWhenLessIsAllowedLater) {
  DisruptionBudget budget;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(budget.Take(3, At(i)), std::nullopt);
  EXPECT_EQ(budget.Take(1, At(10)), At(62));
  EXPECT_EQ(budget.Take(2, At(10)), At(61));
  EXPECT_EQ(budget.Take(4, At(10)), std::nullopt);
}

}  // namespace
}  // namespace mindgate::watcher
