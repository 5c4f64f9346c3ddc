#include "cel/time_zone.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "support/golden.h"

namespace mindgate {
namespace {

using cel::NoOffset;
using cel::OffsetIn;

TEST(CelTimeZone, KnowsWhenClocksChange) {
  const struct {
    std::string_view zone;
    int64_t time;
    int want;
  } rows[] = {
      {"US/Central", 1'741'507'199, -6 * 3600},  // 2025-03-09T07:59:59Z
      {"US/Central", 1'741'507'200, -5 * 3600},  // one second later
      {"US/Central", 1'762'066'799, -5 * 3600},  // 2025-11-02T06:59:59Z
      {"US/Central", 1'762'066'800, -6 * 3600},
      {"US/Central", 4'118'083'200, -5 * 3600},        // 2100-07-01
      {"Australia/Sydney", 1'735'689'600, 11 * 3600},  // 2025-01-01, summer
      {"Australia/Sydney", 1'751'328'000, 10 * 3600},  // 2025-07-01
      {"Australia/Sydney", 4'101'926'400, 11 * 3600},  // 2099-12-26
      {"Europe/Istanbul", 1'473'195'599, 3 * 3600},    // 2016-09-06, before it stayed summer
      {"Europe/Istanbul", 1'483'228'800, 3 * 3600},    // 2017-01-01
      {"Europe/Istanbul", 1'451'606'400, 2 * 3600},    // 2016-01-01
      {"Asia/Shanghai", cel::kZonesKnownSince, 8 * 3600},
      {"Asia/Kathmandu", 1'735'689'600, 5 * 3600 + 2700},
  };
  for (const auto& row : rows) EXPECT_EQ(OffsetIn(row.zone, row.time), row.want) << row.time;
}

TEST(CelTimeZone, ReadsOffsetsAndNames) {
  const auto unknown = tl::make_unexpected(NoOffset::kUnknownZone);
  const auto early = tl::make_unexpected(NoOffset::kBeforeTable);
  const struct {
    std::string_view zone;
    int64_t time;
    tl::expected<int, NoOffset> want;
  } rows[] = {
      {"UTC", 0, 0},
      {"+02:00", 0, 7200},
      {"-02:30", 0, -9000},
      {"02:00", 0, 7200},
      {"-00:00", 0, 0},
      {"Etc/UTC", 1'735'689'600, 0},
      {"Asia/Shanghai", 1'735'689'600, 28'800},
      {"Asia/Shanghai", cel::kZonesKnownSince - 1, early},
      {"Mars", 1'735'689'600, unknown},
      {"asia/shanghai", 1'735'689'600, unknown},
      {"Zulu-", 1'735'689'600, unknown},
      {"+2", 1'735'689'600, unknown},
  };
  for (const auto& row : rows) EXPECT_EQ(OffsetIn(row.zone, row.time), row.want) << row.zone;
}

TEST(CelTimeZone, TheTableIsInOrder) {
  const auto rows = cel::ZoneTable();
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &cel::ZoneRow::name));
  for (const cel::ZoneRow& row : rows) {
    EXPECT_TRUE(std::ranges::is_sorted(row.changes, {}, &cel::OffsetChange::at)) << row.name;
    if (!row.changes.empty()) {
      EXPECT_EQ(row.changes.front().at, cel::kZonesKnownSince) << row.name;
    }
  }
}

// At noon of the first day of "2008-01".
int64_t NoonOf(const std::string& month) {
  using namespace std::chrono;
  const year_month_day day(year(std::stoi(month.substr(0, 4))),
                           std::chrono::month(static_cast<unsigned>(std::stoi(month.substr(5)))),
                           std::chrono::day(1));
  return sys_days(day).time_since_epoch().count() * 86'400 + 43'200;
}

// Of all zones and at all times of the file, which scripts/time-zones writes by another reader.
TEST(CelTimeZone, IsThatOfAnotherReaderOfTheDatabase) {
  std::istringstream lines(testing::ReadSource("tests/oracle/cel/time_zones.txt"));
  std::string line;
  std::getline(lines, line);
  std::istringstream head(line.substr(2));
  std::vector<int64_t> times;
  for (std::string month; head >> month;) times.push_back(NoonOf(month));
  ASSERT_EQ(times.size(), 40U);
  size_t zones = 0;
  while (std::getline(lines, line)) {
    std::istringstream row(line);
    std::string zone;
    row >> zone;
    for (const int64_t time : times) {
      double hours = 0;
      row >> hours;
      ASSERT_TRUE(row) << line;
      EXPECT_EQ(OffsetIn(zone, time), static_cast<int>(std::lround(hours * 3600)))
          << zone << " at " << time;
    }
    ++zones;
  }
  EXPECT_EQ(zones, cel::ZoneTable().size());
}

}  // namespace
}  // namespace mindgate
