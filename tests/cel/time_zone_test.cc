#include "cel/time_zone.h"

#include <gtest/gtest.h>

#include <string>

#include "support/golden.h"

namespace mindgate {
namespace {

std::string File(const std::string& name) {
  return testing::ReadSource("tests/oracle/cel/zoneinfo/" + name);
}

TEST(CelTimeZone, KnowsWhenClocksChange) {
  const auto sydney = cel::TimeZone::Parse(File("Australia/Sydney"));
  const auto central = cel::TimeZone::Parse(File("US/Central"));
  const auto kathmandu = cel::TimeZone::Parse(File("Asia/Kathmandu"));
  ASSERT_TRUE(sydney && central && kathmandu);
  const struct {
    const cel::TimeZone& zone;
    int64_t time;
    int want;
  } rows[] = {
      {*central, 1'741'507'199, -6 * 3600},  // 2025-03-09T07:59:59Z
      {*central, 1'741'507'200, -5 * 3600},  // one second later
      {*central, 1'762'066'799, -5 * 3600},  // 2025-11-02T06:59:59Z
      {*central, 1'762'066'800, -6 * 3600},
      {*central, 4'118'083'200, -5 * 3600},  // 2100-07-01, by the rule
      {*sydney, 1'735'689'600, 11 * 3600},   // 2025-01-01, summer
      {*sydney, 1'751'328'000, 10 * 3600},   // 2025-07-01
      {*sydney, 4'101'926'400, 11 * 3600},   // 2099-12-26
      {*kathmandu, 0, 5 * 3600 + 1800},      // 1970
      {*kathmandu, 1'735'689'600, 5 * 3600 + 2700},
  };
  for (const auto& row : rows) EXPECT_EQ(row.zone.OffsetAt(row.time), row.want) << row.time;
}

TEST(CelTimeZone, RefusesWhatIsNoFile) {
  const std::string file = File("US/Central");
  for (const size_t size : {0U, 3U, 43U, 44U, 200U, 1200U}) {
    EXPECT_FALSE(cel::TimeZone::Parse(file.substr(0, size))) << size;
  }
  EXPECT_FALSE(cel::TimeZone::Parse("TZif" + std::string(100, '\xFF')));
}

TEST(CelTimeZone, ReadsOffsetsAndNames) {
  cel::TimeZones zones;
  zones.Add("Asia/Kathmandu", *cel::TimeZone::Parse(File("Asia/Kathmandu")));
  const struct {
    std::string_view zone;
    std::optional<int> want;
  } rows[] = {
      {"UTC", 0},    {"+02:00", 7200},          {"-02:30", -9000},      {"02:00", 7200},
      {"-00:00", 0}, {"Asia/Kathmandu", 20700}, {"Mars", std::nullopt}, {"+2", std::nullopt},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(cel::OffsetIn(row.zone, 1'735'689'600, &zones), row.want) << row.zone;
  }
  EXPECT_EQ(cel::OffsetIn("Asia/Kathmandu", 0, nullptr), std::nullopt);
}

}  // namespace
}  // namespace mindgate
