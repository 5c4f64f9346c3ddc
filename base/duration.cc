#include "base/duration.h"

namespace mindgate {
namespace {

std::optional<int64_t> SecondsIn(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::chrono::seconds> ParseDuration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  int64_t total = 0;
  while (!text.empty()) {
    int64_t number = 0;
    size_t digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
      number = number * 10 + (text[digits] - '0');
      if (number > kMaxDuration.count()) return std::nullopt;
    }
    if (digits == 0 || digits == text.size()) return std::nullopt;
    const auto unit = SecondsIn(text[digits]);
    if (!unit) return std::nullopt;
    total += number * *unit;
    if (total > kMaxDuration.count()) return std::nullopt;
    text.remove_prefix(digits + 1);
  }
  return std::chrono::seconds(total);
}

std::string FormatDuration(std::chrono::seconds duration) {
  const int64_t hours = duration.count() / 3600;
  const int64_t minutes = duration.count() / 60 % 60;
  const int64_t seconds = duration.count() % 60;
  std::string text;
  if (hours > 0) text += std::to_string(hours) + "h";
  if (minutes > 0) text += std::to_string(minutes) + "m";
  if (seconds > 0 || text.empty()) text += std::to_string(seconds) + "s";
  return text;
}

}  // namespace mindgate
