#include "base/time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mindgate {
namespace {

TEST(ParseTime, ReadsDaysAndInstants) {
  struct Case {
    std::string_view text;
    int64_t want;  // seconds since 1970
  };
  const Case cases[] = {
      {"1970-01-01T00:00:00Z", 0},          {"1970-01-01", 86399},  // holds through the day
      {"2026-12-31T12:00:00Z", 1798718400}, {"2026-12-31", 1798761599},
      {"2024-02-29T23:59:59Z", 1709251199}, {"1969-12-31T23:59:59Z", -1},
  };
  for (const auto& [text, want] : cases) {
    const auto time = ParseTime(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(time->time_since_epoch().count(), want) << text;
  }
}

TEST(ParseTime, RefusesEverythingElse) {
  const std::string_view cases[] = {"",
                                    "2026",
                                    "2026-12",
                                    "2026-12-3",
                                    "2026-12-32",
                                    "2026-13-01",
                                    "2026-00-01",
                                    "2023-02-29",
                                    "2026/12/31",
                                    "2026-12-31 ",
                                    " 2026-12-31",
                                    "2026-12-31T12:00:00",
                                    "2026-12-31 12:00:00Z",
                                    "2026-12-31T12:00:00z",
                                    "2026-12-31T24:00:00Z",
                                    "2026-12-31T12:60:00Z",
                                    "2026-12-31T12:00:60Z",
                                    "2026-12-31T12-00-00Z",
                                    "2026-12-31T12:00:00+08:00",
                                    "2026-12-31T12:00:00.5Z",
                                    "2026-12-31T12:00Z",
                                    "+026-12-31",
                                    "tomorrow"};
  for (const std::string_view text : cases) EXPECT_EQ(ParseTime(text), std::nullopt) << text;
}

TEST(ParseTimestamp, ReadsOffsetsAndCutsFractions) {
  const std::pair<std::string_view, std::string> cases[] = {
      {"2026-12-31T12:00:00Z", "2026-12-31T12:00:00Z"},
      {"2026-12-31T12:00:00.999999Z", "2026-12-31T12:00:00Z"},
      {"2026-12-31T12:00:00+00:00", "2026-12-31T12:00:00Z"},
      {"2026-12-31T12:00:00+08:30", "2026-12-31T03:30:00Z"},
      {"2026-12-31T12:00:00.5-05:00", "2026-12-31T17:00:00Z"},
      {"2026-12-31T23:59:59-00:01", "2027-01-01T00:00:59Z"},
      {"0000-01-01T00:01:00+00:01", "0000-01-01T00:00:00Z"},
      {"9999-12-31T23:58:59-00:01", "9999-12-31T23:59:59Z"},
  };
  for (const auto& [text, want] : cases) {
    const auto time = ParseTimestamp(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(FormatTime(*time), want) << text;
  }
}

TEST(ParseTimestamp, RefusesEverythingElse) {
  for (const std::string_view text :
       {"", "2026-12-31", "2026-12-31T12:00:00", "2026-12-31T12:00:00z", "2026-12-31T12:00:00.Z",
        "2026-12-31T12:00:00.5", "2026-12-31T12:00:00+8:00", "2026-12-31T12:00:00+0800",
        "2026-12-31T12:00:00+24:00", "2026-12-31T12:00:00+08:60", "2026-12-31T12:00:00Z ",
        "2026-12-31T24:00:00Z", "2026-12-31 12:00:00Z", "0000-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01"}) {
    EXPECT_EQ(ParseTimestamp(text), std::nullopt) << text;
  }
}

TEST(FormatTime, IsRfc3339InUtc) {
  EXPECT_EQ(FormatTime(Time(std::chrono::seconds(0))), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatTime(Time(std::chrono::seconds(1798761599))), "2026-12-31T23:59:59Z");
}

RC_GTEST_PROP(FormatTime, IsReadBackByParseTime, ()) {
  // The years 0 to 9999, which four digits hold.
  const auto seconds = *rc::gen::inRange<int64_t>(-62167219200, 253402300799);
  const Time time{std::chrono::seconds(seconds)};
  RC_ASSERT(ParseTime(FormatTime(time)) == time);
}

RC_GTEST_PROP(ParseTime, TakesAnyBytes, (const std::string& text)) { (void)ParseTime(text); }

}  // namespace
}  // namespace mindgate
