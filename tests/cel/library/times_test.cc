#include <gtest/gtest.h>

#include "cel/evaluating.h"
#include "cel/library/libraries.h"

namespace mindgate {
namespace {

TEST(CelTimes, ReadTimestampsAndDurations) {
  testing::ExpectValues({
      {"timestamp('2026-01-02T03:04:05+02:30')", "2026-01-02T00:34:05Z"},
      {"timestamp('2026-01-02t03:04:05.123456789z')", "2026-01-02T03:04:05.123456789Z"},
      {"timestamp('0001-01-01T00:00:00Z')", "0001-01-01T00:00:00Z"},
      {"timestamp(0)", "1970-01-01T00:00:00Z"},
      {"duration('1h30m')", "5400s"},
      {"duration('-1.5ms')", "-0.0015s"},
      {"duration('100us') + duration('5ns')", "0.000100005s"},
      {"duration('0')", "0s"},
      {"duration('2562047h47m16.854775807s')", "9223372036.854775807s"},
  });
  testing::ExpectFailures({
      {"timestamp('2026-02-30T00:00:00Z')",
       "type conversion error: '2026-02-30T00:00:00Z' is not a timestamp, such as "
       "2026-01-02T03:04:05Z, or is out of range"},
      {"timestamp('2026-01-02')",
       "type conversion error: '2026-01-02' is not a timestamp, such as 2026-01-02T03:04:05Z, or "
       "is out of range"},
      {"timestamp('0000-01-01T00:00:00Z')", "the timestamp is out of range: years are 1 to 9999"},
      {"timestamp(253402300800)", "the timestamp is out of range: years are 1 to 9999"},
      {"duration('1')",
       "type conversion error: '1' is not a duration, such as 1h30m or 0.5s, or is out of range"},
      {"duration('1x')",
       "type conversion error: '1x' is not a duration, such as 1h30m or 0.5s, or is out of range"},
      {"duration('9223372037s')",
       "type conversion error: '9223372037s' is not a duration, such as 1h30m or 0.5s, or is out "
       "of range"},
      {"duration('.s')",
       "type conversion error: '.s' is not a duration, such as 1h30m or 0.5s, or is out of range"},
  });
}

TEST(CelTimes, HaveParts) {
  testing::ExpectValues({
      {"cel.bind(t, timestamp('2026-11-27T08:09:10.123Z'), [t.getFullYear(), t.getMonth(), "
       "t.getDate(), t.getDayOfMonth(), t.getDayOfWeek(), t.getDayOfYear(), t.getHours(), "
       "t.getMinutes(), t.getSeconds(), t.getMilliseconds()])",
       "[2026, 10, 27, 26, 5, 330, 8, 9, 10, 123]"},
      {"timestamp('2026-11-27T23:30:00Z').getHours('+01:00')", "0"},
      {"timestamp('2026-11-27T23:30:00Z').getDate('-02:30')", "27"},
      {"cel.bind(d, duration('1h1m1.5s'), [d.getHours(), d.getMinutes(), d.getSeconds(), "
       "d.getMilliseconds()])",
       "[1, 61, 3661, 3661500]"},
  });
  testing::ExpectFailures({
      {"timestamp(0).getHours('Mars/Phobos')",
       "the time zone 'Mars/Phobos' is not known: write one of the IANA database, such as "
       "Asia/Shanghai, an offset, such as +08:00, or UTC"},
      {"timestamp('2007-12-31T23:59:59Z').getHours('Asia/Shanghai')",
       "the offset of the time zone 'Asia/Shanghai' before 2008 is not known: write an offset, "
       "such as +02:00, or UTC"},
  });
}

}  // namespace
}  // namespace mindgate
