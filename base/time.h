#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace mindgate {

// Wall-clock time as decisions see it. The engine never reads a clock: callers pass the time in.
using Time = std::chrono::sys_seconds;

// "2026-12-31" (the end of that day, UTC: an exception that expires on a day holds through it)
// or RFC 3339 with 'Z' ("2026-12-31T12:00:00Z").
std::optional<Time> ParseTime(std::string_view text);

// RFC 3339 as programs write it: with 'Z' or an offset, and perhaps a fraction, which is cut
// ("2026-12-31T14:00:00.25+02:00"). In UTC it must be of the years 0 to 9999.
std::optional<Time> ParseTimestamp(std::string_view text);

// RFC 3339 in UTC: "2026-12-31T12:00:00Z".
std::string FormatTime(Time time);

// A year: nothing that people configure takes longer, and sums of a few stay far from overflow.
inline constexpr std::chrono::seconds kMaxDuration = std::chrono::hours(365 * 24);

// "90s", "5m", "1h", "1m30s": whole numbers, each with a unit. Nothing for anything else and for
// what is longer than kMaxDuration.
std::optional<std::chrono::seconds> ParseDuration(std::string_view text);

// The same in its shortest form: "1m30s", "0s".
std::string FormatDuration(std::chrono::seconds duration);

// Where deadlines and timestamps come from, so that tests can move time by hand. Safe from many
// threads.
class Clock {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  virtual Instant Now() const = 0;   // for deadlines and durations: never jumps
  virtual Time WallNow() const = 0;  // for people and for dates in configuration
};

class SystemClock final : public Clock {
 public:
  Instant Now() const override { return std::chrono::steady_clock::now(); }
  Time WallNow() const override {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  }
};

}  // namespace mindgate
