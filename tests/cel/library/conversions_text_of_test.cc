#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "cel/library/libraries.h"

namespace mindgate {
namespace {

using cel::NumberText;

TEST(CelTextOf, WritesNumbersAsGoDoes) {
  const struct {
    double number;
    std::string_view want;
    std::string_view plain;
  } rows[] = {
      {0, "0", "0"},
      {-0.0, "-0", "-0"},
      {1.5, "1.5", "1.5"},
      {100000, "100000", "100000"},
      {1e6, "1e+06", "1000000"},
      {123456789, "1.23456789e+08", "123456789"},
      {0.0001, "0.0001", "0.0001"},
      {0.00001, "1e-05", "0.00001"},
      {1e21, "1e+21", "1000000000000000000000"},
      {NAN, "NaN", "NaN"},
      {-INFINITY, "-Inf", "-Infinity"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(NumberText::OfDouble(row.number).text(), row.want);
    EXPECT_EQ(NumberText::Plain(row.number).text(), row.plain);
  }
  EXPECT_EQ(NumberText(INT64_MIN).text(), "-9223372036854775808");
  EXPECT_EQ(NumberText(UINT64_MAX, 2).text(), std::string(64, '1'));
  EXPECT_EQ(NumberText::Rounded(2.5, 0, false).text(), "2");
  EXPECT_EQ(NumberText::Rounded(1e300, 50, false).text().size(), 301U + 51);
  EXPECT_EQ(NumberText::Rounded(1.25, 1, true).text(), "1.2e+00");
  // The longest of all.
  EXPECT_LT(NumberText::Plain(-std::numeric_limits<double>::denorm_min()).text().size(), 400U);
  EXPECT_LT(NumberText::Plain(-2.2250738585072011e-308).text().size(), 400U);
}

}  // namespace
}  // namespace mindgate
