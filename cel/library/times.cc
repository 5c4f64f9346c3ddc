#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>

#include "base/text.h"
#include "cel/context.h"
#include "cel/library/libraries.h"
#include "cel/time_zone.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;

constexpr int64_t kFirstSecond = -62'135'596'800;  // of year 1
constexpr int64_t kLastSecond = 253'402'300'799;   // of year 9999

Value TimeOf(Context& context, int64_t seconds, uint32_t nanoseconds) {
  if (seconds < kFirstSecond || seconds > kLastSecond) {
    return context.Fail("the timestamp is out of range: years are 1 to 9999");
  }
  return Value::OfTimestamp(seconds, nanoseconds);
}

// The number that so many digits are, which are taken from the text.
std::optional<int> TakeDigits(std::string_view& text, size_t count) {
  if (text.size() < count) return std::nullopt;
  int number = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!IsDigit(text[i])) return std::nullopt;
    number = number * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return number;
}

bool Take(std::string_view& text, std::string_view wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(wanted.size());
  return true;
}

// "Z", "+02:00": in seconds.
std::optional<int> TakeOffset(std::string_view& text) {
  if (Take(text, "Z") || Take(text, "z")) return 0;
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const int sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  const auto hours = TakeDigits(text, 2);
  if (!hours || !Take(text, ":")) return std::nullopt;
  const auto minutes = TakeDigits(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

// The nanoseconds of a fraction, whose digits are taken.
std::optional<uint32_t> TakeFraction(std::string_view& text) {
  if (!Take(text, ".")) return 0;
  size_t digits = 0;
  uint32_t nanoseconds = 0;
  for (; digits < text.size() && IsDigit(text[digits]); ++digits) {
    if (digits < 9) nanoseconds = nanoseconds * 10 + static_cast<uint32_t>(text[digits] - '0');
  }
  if (digits == 0) return std::nullopt;
  for (size_t i = digits; i < 9; ++i) nanoseconds *= 10;
  text.remove_prefix(digits);
  return nanoseconds;
}

std::optional<Value> ParseTimestamp(std::string_view text) {
  const auto year = TakeDigits(text, 4);
  if (!year || !Take(text, "-")) return std::nullopt;
  const auto month = TakeDigits(text, 2);
  if (!month || !Take(text, "-")) return std::nullopt;
  const auto day = TakeDigits(text, 2);
  if (!day || (!Take(text, "T") && !Take(text, "t"))) return std::nullopt;
  const auto hour = TakeDigits(text, 2);
  if (!hour || !Take(text, ":")) return std::nullopt;
  const auto minute = TakeDigits(text, 2);
  if (!minute || !Take(text, ":")) return std::nullopt;
  const auto second = TakeDigits(text, 2);
  const auto nanoseconds = second ? TakeFraction(text) : std::nullopt;
  const auto offset = nanoseconds ? TakeOffset(text) : std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!offset || !text.empty() || !date.ok() || *hour > 23 || *minute > 59 || *second > 59) {
    return std::nullopt;
  }
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t seconds = days * 86400 + *hour * 3600 + *minute * 60 + *second - *offset;
  return Value::OfTimestamp(seconds, *nanoseconds);
}

Value TimestampOfText(Context& context, Args args) {
  const auto time = ParseTimestamp(args[0].text());
  if (!time) {
    return context.Fail({"type conversion error: '", args[0].text().substr(0, 80),
                         "' is not a timestamp, such as 2026-01-02T03:04:05Z, or is out of range"});
  }
  return TimeOf(context, time->integer(), time->nanoseconds());
}

Value TimestampOfInt(Context& context, Args args) { return TimeOf(context, args[0].integer(), 0); }
Value SameTime(Context&, Args args) { return args[0]; }

struct Unit {
  std::string_view name;
  int64_t nanoseconds;
};
constexpr std::array kUnits{
    Unit{"ns", 1},
    Unit{"us", 1000},
    Unit{"\xC2\xB5s", 1000},
    Unit{"\xCE\xBCs", 1000},
    Unit{"ms", 1'000'000},
    Unit{"s", kNanosecondsPerSecond},
    Unit{"m", 60 * kNanosecondsPerSecond},
    Unit{"h", 3600 * kNanosecondsPerSecond},
};

// One number with its unit, in nanoseconds.
std::optional<__int128> TakePart(std::string_view& text) {
  __int128 whole = 0;
  __int128 fraction = 0;
  __int128 scale = 1;
  size_t digits = 0;
  bool point = false;
  for (; digits < text.size() && (IsDigit(text[digits]) || (text[digits] == '.' && !point));
       ++digits) {
    if (text[digits] == '.') {
      point = true;
    } else if (!point) {
      whole = whole * 10 + (text[digits] - '0');
      if (whole > INT64_MAX) return std::nullopt;
    } else if (scale < 1'000'000'000'000'000) {
      fraction = fraction * 10 + (text[digits] - '0');
      scale *= 10;
    }
  }
  if (digits == 0 || (digits == 1 && point)) return std::nullopt;
  text.remove_prefix(digits);
  for (const Unit& unit : kUnits) {
    const bool longer = unit.name == "m" && text.starts_with("ms");
    if (longer || !Take(text, unit.name)) continue;
    return whole * unit.nanoseconds + fraction * unit.nanoseconds / scale;
  }
  return std::nullopt;
}

Value DurationOfText(Context& context, Args args) {
  std::string_view text = args[0].text();
  const auto fail = [&context, &args] {
    return context.Fail({"type conversion error: '", args[0].text().substr(0, 80),
                         "' is not a duration, such as 1h30m or 0.5s, or is out of range"});
  };
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return Value::OfDuration(0);
  if (text.empty()) return fail();
  __int128 sum = 0;
  while (!text.empty()) {
    const auto part = TakePart(text);
    if (!part) return fail();
    sum += *part;
    if (sum > static_cast<__int128>(INT64_MAX) + 1) return fail();
  }
  if (negative) sum = -sum;
  if (sum > INT64_MAX) return fail();
  return Value::OfDuration(static_cast<int64_t>(sum));
}

// A part of a date or a time of day.
enum class Part {
  kYear,
  kMonth,
  kDayOfYear,
  kDayOfMonth,
  kDate,
  kDayOfWeek,
  kHour,
  kMinute,
  kSecond,
  kMilli
};

int64_t PartOf(int64_t seconds, uint32_t nanoseconds, Part part) {
  using namespace std::chrono;
  const sys_seconds time{std::chrono::seconds(seconds)};
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  switch (part) {
    case Part::kYear:
      return static_cast<int>(date.year());
    case Part::kMonth:
      return static_cast<int64_t>(static_cast<unsigned>(date.month())) - 1;
    case Part::kDayOfYear:
      return (day - sys_days(date.year() / January / 1)).count();
    case Part::kDayOfMonth:
      return static_cast<int64_t>(static_cast<unsigned>(date.day())) - 1;
    case Part::kDate:
      return static_cast<int64_t>(static_cast<unsigned>(date.day()));
    case Part::kDayOfWeek:
      return weekday(day).c_encoding();
    case Part::kHour:
      return clock.hours().count();
    case Part::kMinute:
      return clock.minutes().count();
    case Part::kSecond:
      return clock.seconds().count();
    case Part::kMilli:
      return nanoseconds / 1'000'000;
  }
  return 0;
}

template <Part kPart>
Value PartInUtc(Context&, Args args) {
  return Value::OfInt(PartOf(args[0].integer(), args[0].nanoseconds(), kPart));
}

template <Part kPart>
Value PartInZone(Context& context, Args args) {
  const auto offset = OffsetIn(args[1].text(), args[0].integer());
  if (!offset && offset.error() == NoOffset::kBeforeTable) {
    return context.Fail({"the offset of the time zone '", args[1].text().substr(0, 80),
                         "' before 2008 is not known: write an offset, such as +02:00, or UTC"});
  }
  if (!offset) {
    return context.Fail({"the time zone '", args[1].text().substr(0, 80),
                         "' is not known: write one of the IANA database, such as Asia/Shanghai, "
                         "an offset, such as +08:00, or UTC"});
  }
  return Value::OfInt(PartOf(args[0].integer() + *offset, args[0].nanoseconds(), kPart));
}

template <int64_t kUnit>
Value DurationIn(Context&, Args args) {
  return Value::OfInt(args[0].integer() / kUnit);
}

Value MillisecondsOfDuration(Context& context, Args args) {
  const int64_t all = args[0].integer() / 1'000'000;
  return Value::OfInt(context.follows_kubernetes() ? all : all % 1000);
}

constexpr std::string_view kUtc = "timestamp.(): int";
constexpr std::string_view kZone = "timestamp.(string): int";
constexpr std::string_view kOfDuration = "duration.(): int";

constexpr std::array kTimes{
    Overload{"timestamp", "(timestamp): timestamp", SameTime},
    Overload{"timestamp", "(string): timestamp", TimestampOfText},
    Overload{"timestamp", "(int): timestamp", TimestampOfInt},
    Overload{"duration", "(duration): duration", SameTime},
    Overload{"duration", "(string): duration", DurationOfText},
    Overload{"getFullYear", kUtc, PartInUtc<Part::kYear>},
    Overload{"getFullYear", kZone, PartInZone<Part::kYear>},
    Overload{"getMonth", kUtc, PartInUtc<Part::kMonth>},
    Overload{"getMonth", kZone, PartInZone<Part::kMonth>},
    Overload{"getDayOfYear", kUtc, PartInUtc<Part::kDayOfYear>},
    Overload{"getDayOfYear", kZone, PartInZone<Part::kDayOfYear>},
    Overload{"getDayOfMonth", kUtc, PartInUtc<Part::kDayOfMonth>},
    Overload{"getDayOfMonth", kZone, PartInZone<Part::kDayOfMonth>},
    Overload{"getDate", kUtc, PartInUtc<Part::kDate>},
    Overload{"getDate", kZone, PartInZone<Part::kDate>},
    Overload{"getDayOfWeek", kUtc, PartInUtc<Part::kDayOfWeek>},
    Overload{"getDayOfWeek", kZone, PartInZone<Part::kDayOfWeek>},
    Overload{"getHours", kUtc, PartInUtc<Part::kHour>},
    Overload{"getHours", kZone, PartInZone<Part::kHour>},
    Overload{"getHours", kOfDuration, DurationIn<3600 * kNanosecondsPerSecond>},
    Overload{"getMinutes", kUtc, PartInUtc<Part::kMinute>},
    Overload{"getMinutes", kZone, PartInZone<Part::kMinute>},
    Overload{"getMinutes", kOfDuration, DurationIn<60 * kNanosecondsPerSecond>},
    Overload{"getSeconds", kUtc, PartInUtc<Part::kSecond>},
    Overload{"getSeconds", kZone, PartInZone<Part::kSecond>},
    Overload{"getSeconds", kOfDuration, DurationIn<kNanosecondsPerSecond>},
    Overload{"getMilliseconds", kUtc, PartInUtc<Part::kMilli>},
    Overload{"getMilliseconds", kZone, PartInZone<Part::kMilli>},
    Overload{"getMilliseconds", kOfDuration, MillisecondsOfDuration},
};

void AddTwo(ShortText& out, int64_t number) {
  if (number < 10) out.Add("0");
  out.Add(NumberText(number));
}

void AddFraction(ShortText& out, uint32_t nanoseconds) {
  if (nanoseconds == 0) return;
  std::array<char, 10> digits{};
  digits[0] = '.';
  for (size_t i = 9; i > 0; --i, nanoseconds /= 10) {
    digits[i] = static_cast<char>('0' + nanoseconds % 10);
  }
  size_t size = digits.size();
  while (digits[size - 1] == '0') --size;
  out.Add({digits.data(), size});
}

}  // namespace

void ShortText::Add(std::string_view text) {
  const size_t length = std::min(text.size(), sizeof data - size);
  std::memcpy(data + size, text.data(), length);
  size += length;
}

Value MovedTime(Context& context, const Value& time, int64_t nanoseconds) {
  int64_t seconds = nanoseconds / kNanosecondsPerSecond;
  int64_t rest = nanoseconds % kNanosecondsPerSecond + time.nanoseconds();
  if (rest < 0) {
    rest += kNanosecondsPerSecond;
    --seconds;
  } else if (rest >= kNanosecondsPerSecond) {
    rest -= kNanosecondsPerSecond;
    ++seconds;
  }
  return TimeOf(context, time.integer() + seconds, static_cast<uint32_t>(rest));
}

ShortText TimeText(const Value& time) {
  const int64_t seconds = time.integer();
  const auto part = [seconds](Part which) { return PartOf(seconds, 0, which); };
  ShortText out;
  const int64_t year = part(Part::kYear);
  for (int64_t least = 1000; least > year && least > 1; least /= 10) out.Add("0");
  out.Add(NumberText(year));
  out.Add("-");
  AddTwo(out, part(Part::kMonth) + 1);
  out.Add("-");
  AddTwo(out, part(Part::kDate));
  out.Add("T");
  AddTwo(out, part(Part::kHour));
  out.Add(":");
  AddTwo(out, part(Part::kMinute));
  out.Add(":");
  AddTwo(out, part(Part::kSecond));
  AddFraction(out, time.nanoseconds());
  out.Add("Z");
  return out;
}

ShortText DurationText(int64_t nanoseconds) {
  ShortText out;
  const int64_t seconds = nanoseconds / kNanosecondsPerSecond;
  const int64_t rest = nanoseconds % kNanosecondsPerSecond;
  if (nanoseconds < 0 && seconds == 0) out.Add("-");
  out.Add(NumberText(seconds));
  AddFraction(out, static_cast<uint32_t>(rest < 0 ? -rest : rest));
  out.Add("s");
  return out;
}

std::span<const Overload> Times() { return kTimes; }

}  // namespace mindgate::cel
