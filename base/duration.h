#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace mindgate {

// A year: nothing that people configure takes longer, and sums of a few stay far from overflow.
inline constexpr std::chrono::seconds kMaxDuration = std::chrono::hours(365 * 24);

// "90s", "5m", "1h", "1m30s": whole numbers, each with a unit. Nothing for anything else and for
// what is longer than kMaxDuration.
std::optional<std::chrono::seconds> ParseDuration(std::string_view text);

// The same in its shortest form: "1m30s", "0s".
std::string FormatDuration(std::chrono::seconds duration);

}  // namespace mindgate
