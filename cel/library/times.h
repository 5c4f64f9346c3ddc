#pragma once

#include <cstdint>
#include <string_view>

#include "cel/context.h"
#include "cel/value.h"

namespace mindgate::cel {

inline constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

// A timestamp so many nanoseconds later; a fault outside of the years 1 to 9999.
Value MovedTime(Context& context, const Value& time, int64_t nanoseconds);

// A text in memory of its own, without an allocation.
struct ShortText {
  char data[64] = {};
  size_t size = 0;
  void Add(std::string_view text);
  std::string_view text() const { return {data, size}; }
  operator std::string_view() const { return text(); }  // NOLINT(google-explicit-constructor)
};

// RFC 3339 in UTC, with as many digits behind the point as needed: "2026-01-02T03:04:05.5Z".
ShortText TimeText(const Value& time);
// In seconds: "5400s", "0.5s".
ShortText DurationText(int64_t nanoseconds);

}  // namespace mindgate::cel
