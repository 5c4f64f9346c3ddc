// The operators of cel/library/libraries.h.
#include <gtest/gtest.h>

#include <string_view>

#include "cel/evaluating.h"

namespace mindgate {
namespace {

TEST(CelOperators, CalculateAndCompare) {
  testing::ExpectValues({
      {"7 / 2", "3"},
      {"-7 / 2", "-3"},
      {"-7 % 2", "-1"},
      {"7u % 4u", "3u"},
      {"-9223372036854775808 % -1", "0"},
      {"1.0 / 0.0", "double +Inf"},
      {"'a' + 'b' + ''", "\"ab\""},
      {"b'a' + b'\\xff'", "b\"a\\xff\""},
      {"[1] + [] + [2]", "[1, 2]"},
      {"1 < 1.5 && 2u > -1 && 1.0 <= 1u", "true"},
      {"'b' > 'a' && b'b' >= b'a' && true > false", "true"},
      {"0.0 / 0.0 < 1.0 || 0.0 / 0.0 >= 1.0", "false"},
      {"1 in [1, 2] && 'a' in {'a': 1} && !(3 in [])", "true"},
      {"{'a': [1, {'b': null}]} == {'a': [1.0, {'b': null}]}", "true"},
      {"dyn(1) == 1.0 && dyn('1') != 1", "true"},
      {"timestamp('2026-01-01T00:00:00Z') + duration('90m')", "2026-01-01T01:30:00Z"},
      {"timestamp('2026-01-02T00:00:00Z') - timestamp('2026-01-01T12:00:00Z')", "43200s"},
      {"duration('1h') - duration('1m')", "3540s"},
  });
}

TEST(CelOperators, ReportWhatHasNoValue) {
  const std::string_view overflow =
      "return error for overflow: the number is too large for 64 bits";
  testing::ExpectFailures({
      {"9223372036854775807 + 1", overflow},
      {"-9223372036854775807 - 2", overflow},
      {"9223372036854775807 * 2", overflow},
      {"-(-9223372036854775808)", overflow},
      {"-9223372036854775808 / -1", overflow},
      {"18446744073709551615u + 1u", overflow},
      {"1u - 2u", overflow},
      {"1 / 0", "divide by zero"},
      {"1u % 0u", "modulus by zero"},
      {"timestamp('9999-12-31T23:59:59Z') + duration('1s')",
       "the timestamp is out of range: years are 1 to 9999"},
      {"timestamp('9999-12-31T23:59:59Z') - timestamp('0001-01-01T00:00:00Z')",
       "the duration is out of range"},
      {"duration('290000h') + duration('290000h') + duration('2000000h')",
       "the duration is out of range"},
      {"dyn('a') < 1", "no such overload: string < int"},
  });
}

}  // namespace
}  // namespace mindgate
