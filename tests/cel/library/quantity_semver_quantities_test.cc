#include <gtest/gtest.h>

#include <string>

#include "cel/evaluating.h"
#include "cel/library/libraries.h"

namespace mindgate {
namespace {

// In billionths; "none" when the text is not a quantity.
std::string Nanos(std::string_view text) {
  const auto quantity = cel::ParseQuantity(text);
  if (!quantity) return "none";
  const bool negative = quantity->nanos < 0;
  auto rest = static_cast<unsigned __int128>(negative ? -quantity->nanos : quantity->nanos);
  std::string digits;
  do {
    digits.insert(0, 1, static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest > 0);
  return (negative ? "-" : "") + digits;
}

TEST(CelQuantity, IsReadAsKubernetesReadsIt) {
  const struct {
    std::string_view text;
    std::string_view want;
  } rows[] = {
      {"0", "0"},
      {"1", "1000000000"},
      {"-1.5", "-1500000000"},
      {"+.5", "500000000"},
      {"1.", "1000000000"},
      {"500m", "500000000"},
      {"1n", "1"},
      {"0.1n", "1"},
      {"1u", "1000"},
      {"2k", "2000000000000"},
      {"1Ki", "1024000000000"},
      {"1.5Gi", "1610612736000000000"},
      {"1e3", "1000000000000"},
      {"1E-9", "1"},
      {"1E", "1000000000000000000000000000"},
      {"99E", "9223372036854775807000000000"},
      {"9999999999999999999999999999999999999999999999999G", "9223372036854775807000000000"},
      {"1e2147483647", "9223372036854775807000000000"},
      {"1e-2147483648", "1"},
      {"0e2147483647", "0"},
      {"0.00000000000000000000000000000000000000000000000001", "1"},
      {"", "none"},
      {"K", "none"},
      {"1K", "none"},
      {"1ki", "none"},
      {"1,5", "none"},
      {"1 ", "none"},
      {"1.2.3", "none"},
      {"1e", "none"},
      {"1e1.5", "none"},
      {"--1", "none"},
  };
  for (const auto& row : rows) EXPECT_EQ(Nanos(row.text), row.want) << row.text;
}

TEST(CelQuantity, IsComparedAndAdded) {
  testing::ExpectValues({
      {"quantity('200M').compareTo(quantity('0.2G'))", "0"},
      {"quantity('50Mi').compareTo(quantity('50M'))", "1"},
      {"quantity('1') == quantity('1000m') && quantity('1Ki') != quantity('1k')", "true"},
      {"quantity('50k').add(quantity('20k')) == quantity('70k')", "true"},
      {"quantity('50k').add(20).sub(quantity('100k')).sub(-50000) == quantity('20')", "true"},
      {"quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1').isLessThan(quantity('2'))",
       "true"},
      {"quantity('50k').asInteger()", "50000"},
      {"quantity('1500m').isInteger()", "false"},
      {"quantity('1500m').asApproximateFloat()", "double 1.5"},
      {"sign(quantity('-1')) + sign(quantity('2')) + sign(quantity('0'))", "0"},
      {"isQuantity('1.3Gi') && !isQuantity('200K') && !isQuantity('Mi')", "true"},
  });
  testing::ExpectFailures({
      {"quantity('1500m').asInteger()",
       "the quantity is not an int: it has a fraction, or more digits than Kubernetes reads as "
       "one"},
      {"quantity('200K')", "'200K' is not a quantity, such as 500m, 2Gi or 1e3"},
  });
}

}  // namespace
}  // namespace mindgate
