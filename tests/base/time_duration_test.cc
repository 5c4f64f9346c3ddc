#include <gtest/gtest.h>

#include <optional>

#include "base/time.h"

namespace mindgate {
namespace {

TEST(Duration, ReadsWholeNumbersWithUnits) {
  const struct {
    const char* text;
    std::optional<std::chrono::seconds> want;
    const char* again;
  } cases[] = {
      {"90s", std::chrono::seconds(90), "1m30s"},
      {"5m", std::chrono::minutes(5), "5m"},
      {"1h", std::chrono::hours(1), "1h"},
      {"1m30s", std::chrono::seconds(90), "1m30s"},
      {"1h0m1s", std::chrono::seconds(3601), "1h1s"},
      {"0s", std::chrono::seconds(0), "0s"},
      {"8760h", kMaxDuration, "8760h"},
      {"8760h1s", {}, ""},
      {"99999999999999999999s", {}, ""},
      {"", {}, ""},
      {"90", {}, ""},
      {"s", {}, ""},
      {"-1s", {}, ""},
      {"1.5h", {}, ""},
      {"1d", {}, ""},
      {"5m ", {}, ""},
  };
  for (const auto& c : cases) {
    const auto duration = ParseDuration(c.text);
    EXPECT_EQ(duration, c.want) << c.text;
    if (duration) {
      EXPECT_EQ(FormatDuration(*duration), c.again);
    }
  }
}

}  // namespace
}  // namespace mindgate
