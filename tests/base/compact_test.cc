#include "base/compact.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace mindgate {
namespace {

static_assert(sizeof(SmallOptional<int32_t>) == sizeof(int32_t));
static_assert(sizeof(SmallOptional<Time>) == sizeof(Time));

TEST(SmallOptional, IsANumberOrNothing) {
  SmallOptional<int32_t> place;
  EXPECT_FALSE(place.has_value());
  EXPECT_FALSE(place);
  EXPECT_EQ(place.value_or(7), 7);
  EXPECT_EQ(std::optional<int32_t>(place), std::nullopt);
  place = 0;
  EXPECT_TRUE(place.has_value());
  EXPECT_EQ(*place, 0);
  EXPECT_EQ(place.value_or(7), 0);
  EXPECT_EQ(std::optional<int32_t>(place), 0);
  EXPECT_NE(place, SmallOptional<int32_t>(-1));
  place.reset();
  EXPECT_EQ(place, SmallOptional<int32_t>(std::nullopt));
}

TEST(SmallOptional, IsATimeOrNothing) {
  SmallOptional<Time> since;
  EXPECT_FALSE(since);
  since = Time(std::chrono::seconds(0));
  EXPECT_EQ(*since, Time{});
  EXPECT_EQ(since.value_or(Time::max()), Time{});
}

}  // namespace
}  // namespace mindgate
