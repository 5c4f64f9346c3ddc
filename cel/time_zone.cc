#include "cel/time_zone.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"

namespace mindgate::cel {
namespace {

constexpr size_t kHeader = 44;

int64_t BigEndian(std::string_view bytes, size_t at, size_t size) {
  uint64_t number = static_cast<signed char>(bytes[at]) < 0 ? UINT64_MAX : 0;
  for (size_t i = 0; i < size; ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return static_cast<int64_t>(number);
}

// The counts of a header of a TZif file.
struct Counts {
  size_t is_ut = 0;
  size_t is_standard = 0;
  size_t leaps = 0;
  size_t times = 0;
  size_t types = 0;
  size_t characters = 0;

  size_t SizeOfBody(size_t time_size) const {
    return times * time_size + times + types * 6 + characters + leaps * (time_size + 4) +
           is_standard + is_ut;
  }
};

std::optional<Counts> ReadCounts(std::string_view bytes) {
  if (bytes.size() < kHeader || !bytes.starts_with("TZif")) return std::nullopt;
  constexpr int64_t kMost = 10'000;
  size_t numbers[6];
  for (size_t i = 0; i < 6; ++i) {
    const int64_t number = BigEndian(bytes, 20 + i * 4, 4);
    if (number < 0 || number > kMost) return std::nullopt;
    numbers[i] = static_cast<size_t>(number);
  }
  return Counts{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
}

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

}  // namespace

std::optional<TimeZone::Rule> TimeZone::ParseRule(std::string_view text) {
  RuleText rest(text);
  if (rest.empty()) return std::nullopt;
  Rule rule;
  rest.SkipName();
  rule.standard = -rest.Seconds();  // POSIX counts to the west
  if (rest.empty()) return rule;
  rest.SkipName();
  rule.summer = rule.standard + 3600;
  if (!rest.at(',')) rule.summer = -rest.Seconds();
  rule.changes = true;
  for (Date* date : {&rule.begin, &rule.end}) {
    if (!rest.Take(',') || !rest.Take('M')) return std::nullopt;
    date->month = rest.Number();
    rest.Take('.');
    date->week = rest.Number();
    rest.Take('.');
    date->day = rest.Number();
    if (date->month < 1 || date->month > 12 || date->week < 1 || date->week > 5 || date->day > 6) {
      return std::nullopt;
    }
    if (rest.Take('/')) date->seconds = rest.Seconds();
  }
  return rule;
}

std::optional<TimeZone> TimeZone::Parse(std::string_view bytes) {
  const auto first = ReadCounts(bytes);
  if (!first || bytes[4] < '2') return std::nullopt;  // times of 32 bits alone
  const size_t first_size = kHeader + first->SizeOfBody(4);
  if (bytes.size() < first_size) return std::nullopt;
  bytes.remove_prefix(first_size);
  const auto counts = ReadCounts(bytes);
  if (!counts || counts->types == 0 || bytes.size() < kHeader + counts->SizeOfBody(8)) {
    return std::nullopt;
  }
  bytes.remove_prefix(kHeader);
  const size_t indices = counts->times * 8;
  const size_t types = indices + counts->times;
  const auto offset_of = [&](size_t type) {
    return static_cast<int>(BigEndian(bytes, types + type * 6, 4));
  };
  TimeZone zone;
  zone.first_ = offset_of(0);
  for (size_t i = 0; i < counts->times; ++i) {
    const auto type = static_cast<unsigned char>(bytes[indices + i]);
    if (type >= counts->types) return std::nullopt;
    zone.changes_.push_back({BigEndian(bytes, i * 8, 8), offset_of(type)});
  }
  std::string_view footer = bytes.substr(counts->SizeOfBody(8));
  if (footer.starts_with('\n')) footer.remove_prefix(1);
  zone.rule_ = ParseRule(footer.substr(0, footer.find('\n')));
  return zone;
}

int64_t TimeZone::TimeOf(const Date& date, int year, int offset) {
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

int TimeZone::OffsetByRule(int64_t time) const {
  using namespace std::chrono;
  if (!rule_->changes) return rule_->standard;
  const sys_days day = floor<days>(sys_seconds(seconds(time + rule_->standard)));
  const int year = static_cast<int>(year_month_day(day).year());
  const int64_t begin = TimeOf(rule_->begin, year, rule_->standard);
  const int64_t end = TimeOf(rule_->end, year, rule_->summer);
  const bool summer = begin < end ? time >= begin && time < end : time >= begin || time < end;
  return summer ? rule_->summer : rule_->standard;
}

int TimeZone::OffsetAt(int64_t time) const {
  const auto after = std::ranges::upper_bound(changes_, time, {}, &Change::at);
  if (after == changes_.end() && rule_) return OffsetByRule(time);
  return after == changes_.begin() ? first_ : std::prev(after)->offset;
}

std::optional<int> OffsetIn(std::string_view zone, int64_t time, const TimeZones* zones) {
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
  const TimeZone* found = zones == nullptr ? nullptr : zones->Find(zone);
  return found == nullptr ? std::nullopt : std::optional(found->OffsetAt(time));
}

}  // namespace mindgate::cel
