#include "cel/time_zone.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/text.h"

namespace mindgate::cel {
namespace {

// The day and time of a year at which summer time begins or ends: "M3.2.0/2".
struct Date {
  int month = 0;
  int week = 0;
  int day = 0;
  int seconds = 2 * 3600;
};

struct Rule {
  int standard = 0;
  int summer = 0;
  bool changes = false;
  Date begin{};
  Date end{};
};

// Reads a rule of POSIX piece by piece.
class RuleText {
 public:
  explicit RuleText(std::string_view text) : text_(text) {}

  bool empty() const { return text_.empty(); }
  bool Take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool at(char c) const { return text_.starts_with(c); }
  void SkipName() {
    if (Take('<')) {
      while (!text_.empty() && !Take('>')) text_.remove_prefix(1);
      return;
    }
    while (!text_.empty() &&
           ((text_[0] >= 'a' && text_[0] <= 'z') || (text_[0] >= 'A' && text_[0] <= 'Z'))) {
      text_.remove_prefix(1);
    }
  }
  int Number() {
    int number = 0;
    while (!text_.empty() && IsDigit(text_[0]) && number < 10'000) {
      number = number * 10 + (text_[0] - '0');
      text_.remove_prefix(1);
    }
    return number;
  }
  // "-3:30" in seconds.
  int Seconds() {
    const int sign = Take('-') ? -1 : 1;
    Take('+');
    int seconds = Number() * 3600;
    if (Take(':')) seconds += Number() * 60;
    if (Take(':')) seconds += Number();
    return sign * seconds;
  }

 private:
  std::string_view text_;
};

// Of the table, whose rules are all well-formed.
Rule ParseRule(std::string_view text) {
  RuleText rest(text);
  Rule rule;
  rest.SkipName();
  rule.standard = -rest.Seconds();  // POSIX counts to the west
  if (rest.empty()) return rule;
  rest.SkipName();
  rule.summer = rule.standard + 3600;
  if (!rest.at(',')) rule.summer = -rest.Seconds();
  rule.changes = true;
  for (Date* date : {&rule.begin, &rule.end}) {
    rest.Take(',');
    rest.Take('M');
    date->month = rest.Number();
    rest.Take('.');
    date->week = rest.Number();
    rest.Take('.');
    date->day = rest.Number();
    if (rest.Take('/')) date->seconds = rest.Seconds();
  }
  return rule;
}

int64_t TimeOf(const Date& date, int year, int offset) {
  using namespace std::chrono;
  const auto month = static_cast<unsigned>(date.month);
  const weekday day(static_cast<unsigned>(date.day));
  const std::chrono::year in(year);
  const sys_days found =
      date.week == 5
          ? sys_days(in / std::chrono::month(month) / day[last])
          : sys_days(in / std::chrono::month(month) / day[static_cast<unsigned>(date.week)]);
  return found.time_since_epoch().count() * 86'400 + date.seconds - offset;
}

int OffsetByRule(const Rule& rule, int64_t time) {
  using namespace std::chrono;
  if (!rule.changes) return rule.standard;
  const sys_days day = floor<days>(sys_seconds(seconds(time + rule.standard)));
  const int year = static_cast<int>(year_month_day(day).year());
  const int64_t begin = TimeOf(rule.begin, year, rule.standard);
  const int64_t end = TimeOf(rule.end, year, rule.summer);
  const bool summer = begin < end ? time >= begin && time < end : time >= begin || time < end;
  return summer ? rule.summer : rule.standard;
}

int OffsetAt(const ZoneRow& zone, int64_t time) {
  const auto after = std::ranges::upper_bound(zone.changes, time, {}, &OffsetChange::at);
  if (after == zone.changes.end()) return OffsetByRule(ParseRule(zone.rule), time);
  return std::prev(after)->offset;
}

}  // namespace

tl::expected<int, NoOffset> OffsetIn(std::string_view zone, int64_t time) {
  if (zone == "UTC" || zone == "Z" || zone.empty()) return 0;
  std::string_view rest = zone;
  const bool west = rest.starts_with('-');
  if (west || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.size() == 5 && rest[2] == ':' && IsDigit(rest[0]) && IsDigit(rest[1]) &&
      IsDigit(rest[3]) && IsDigit(rest[4])) {
    const int minutes =
        ((rest[0] - '0') * 10 + rest[1] - '0') * 60 + (rest[3] - '0') * 10 + (rest[4] - '0');
    return (west ? -60 : 60) * minutes;
  }
  const std::span<const ZoneRow> rows = ZoneTable();
  const auto row = std::ranges::lower_bound(rows, zone, {}, &ZoneRow::name);
  if (row == rows.end() || row->name != zone) return tl::unexpected(NoOffset::kUnknownZone);
  if (time < kZonesKnownSince) return tl::unexpected(NoOffset::kBeforeTable);
  return OffsetAt(*row, time);
}

}  // namespace mindgate::cel
