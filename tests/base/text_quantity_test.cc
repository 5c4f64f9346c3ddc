#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"

namespace mindgate {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

struct QuantityCase {
  std::string_view text;
  std::optional<int64_t> want;
};

TEST(ParseWholeQuantity, ReadsWholeNumbersInEveryNotation) {
  const QuantityCase cases[] = {
      {"0", 0},
      {"8", 8},
      {"007", 7},
      {"+8", 8},
      {"-8", -8},
      {"8.0", 8},
      {"8.", 8},
      {"0.", 0},
      {".0", 0},
      {"8000m", 8},
      {"8000000u", 8},
      {"8000000000n", 8},
      {"1k", 1000},
      {"1M", 1'000'000},
      {"1G", 1'000'000'000},
      {"1T", 1'000'000'000'000},
      {"1P", 1'000'000'000'000'000},
      {"9E", 9'000'000'000'000'000'000},
      {"1Ki", 1 << 10},
      {"1Mi", 1 << 20},
      {"1Gi", 1 << 30},
      {"1Ti", int64_t{1} << 40},
      {"1Pi", int64_t{1} << 50},
      {"1Ei", int64_t{1} << 60},
      {"1e3", 1000},
      {"1E3", 1000},
      {"1e+3", 1000},
      {"12e-1", std::nullopt},
      {"120e-1", 12},
      {"1.5k", 1500},
      {"0.5Ki", 512},
      {"7.75Ei", 8935141660703064064},
      {"0.001e20", 100'000'000'000'000'000},
      {"0e99", 0},
      {"0e-99", 0},
      {"0m", 0},
      {"1.0000000000000000000000000", 1},
      {"10000000000000000000000m", std::nullopt},
      {"1000000000000000000000m", 1'000'000'000'000'000'000},
      {"0000000000000000000000000008", 8},
      {"9223372036854775807", kMax},
      {"-9223372036854775808", kLeast},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(ParseWholeQuantity(text), want) << text;
}

TEST(ParseWholeQuantity, RefusesWhatIsNotWholeNotInRangeOrNoQuantity) {
  const std::string_view cases[] = {
      // not whole
      "0.5", "500m", "1n", "1.5", "0.3Ki", "15e-1", "0.0000000000000000000000001",
      // out of range
      "9223372036854775808", "-9223372036854775809", "10E", "8Ei", "1e19", "1e2147483647",
      "99999999999999999999999999", "1e99999999999",
      // no quantity
      "", "+", "-", ".", "--1", "+-1", "abc", "1 ", " 1", "1 k", "1K", "1ki", "1mi", "1ui", "1kk",
      "1e", "1E+", "1e1.5", "1.2.3", "1,000", "0x10", "1_000", "Ki", "m", "NaN", "1Zi", "八"};
  for (const std::string_view text : cases) {
    EXPECT_EQ(ParseWholeQuantity(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(ParseWholeQuantity, ReadsEveryIntegerAsItself, (int64_t value)) {
  RC_ASSERT(ParseWholeQuantity(std::to_string(value)) == value);
}

RC_GTEST_PROP(ParseWholeQuantity, MilliAndKiloUndoEachOther, (int32_t value)) {
  const std::string digits = std::to_string(value);
  RC_ASSERT(ParseWholeQuantity(digits + "000m") == value);
  RC_ASSERT(ParseWholeQuantity(digits + "k") == int64_t{value} * 1000);
  RC_ASSERT(ParseWholeQuantity(digits + "Ki") == int64_t{value} * 1024);
  RC_ASSERT(ParseWholeQuantity(digits + "e3") == int64_t{value} * 1000);
}

RC_GTEST_PROP(ParseWholeQuantity, TakesAnyBytes, (const std::string& text)) {
  (void)ParseWholeQuantity(text);
}

}  // namespace
}  // namespace mindgate
