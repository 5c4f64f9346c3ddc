#include "base/time.h"

#include <charconv>
#include <cstdio>

namespace mindgate {
namespace {

std::optional<int> Digits(std::string_view text, size_t at, size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int value = 0;
  for (size_t i = at; i < at + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

}  // namespace

std::optional<Time> ParseTime(std::string_view text) {
  using namespace std::chrono;
  const auto y = Digits(text, 0, 4);
  const auto m = Digits(text, 5, 2);
  const auto d = Digits(text, 8, 2);
  if (!y || !m || !d || text[4] != '-' || text[7] != '-') return std::nullopt;
  const year_month_day date(year(*y), month(static_cast<unsigned>(*m)),
                            day(static_cast<unsigned>(*d)));
  if (!date.ok()) return std::nullopt;
  const Time midnight = sys_days(date);
  if (text.size() == 10) return midnight + days(1) - seconds(1);
  if (text.size() != 20 || text[10] != 'T' || text[13] != ':' || text[16] != ':' ||
      text[19] != 'Z') {
    return std::nullopt;
  }
  const auto hour = Digits(text, 11, 2);
  const auto minute = Digits(text, 14, 2);
  const auto second = Digits(text, 17, 2);
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) {
    return std::nullopt;
  }
  return midnight + hours(*hour) + minutes(*minute) + seconds(*second);
}

std::optional<Time> ParseTimestamp(std::string_view text) {
  using namespace std::chrono;
  constexpr size_t kSeconds = 19;  // "2026-12-31T12:00:00"
  if (text.size() <= kSeconds) return std::nullopt;
  const auto time = ParseTime(std::string(text.substr(0, kSeconds)) + "Z");
  std::string_view rest = text.substr(kSeconds);
  if (!time) return std::nullopt;
  if (rest[0] == '.') {
    const size_t end = rest.find_first_not_of("0123456789", 1);
    if (end == std::string_view::npos || end == 1) return std::nullopt;
    rest.remove_prefix(end);
  }
  if (rest == "Z") return time;
  const auto hour = Digits(rest, 1, 2);
  const auto minute = Digits(rest, 4, 2);
  if (rest.size() != 6 || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':' || !hour ||
      !minute || *hour > 23 || *minute > 59) {
    return std::nullopt;
  }
  const seconds offset = hours(*hour) + minutes(*minute);
  const Time utc = rest[0] == '+' ? *time - offset : *time + offset;
  // As FormatTime writes it: in a year of four digits.
  const year_month_day date(floor<days>(utc));
  if (date.year() < year(0) || date.year() > year(9999)) return std::nullopt;
  return utc;
}

std::string FormatTime(Time time) {
  using namespace std::chrono;
  const auto day_start = floor<days>(time);
  const year_month_day date(day_start);
  const hh_mm_ss clock(time - day_start);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%04d-%02u-%02uT%02d:%02d:%02dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return buffer;
}

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
