// The conversions of cel/library/libraries.h.
#include <gtest/gtest.h>

#include "cel/evaluating.h"

namespace mindgate {
namespace {

TEST(CelConversions, GoBetweenKinds) {
  testing::ExpectValues({
      {"int('-12') + int(3u) + int(2.9)", "-7"},
      {"int(timestamp('1970-01-01T00:01:00Z'))", "60"},
      {"uint(3) + uint('4')", "7u"},
      {"double('1.5e3')", "double 1500"},
      {"double('-inf')", "double -Inf"},
      {"string(1.0) + string(1e6) + string(0.00001) + string(123456.0)", "\"11e+061e-05123456\""},
      {"string(true) + string(3u) + string(b'x')", "\"true3x\""},
      {"string(duration('1h1ms')) + string(timestamp('2026-01-02T03:04:05.060Z'))",
       "\"3600.001s2026-01-02T03:04:05.06Z\""},
      {"bool('True') && !bool('f')", "true"},
      {"bytes('\xC3\xA9').size() + '\xC3\xA9'.size()", "3"},
      {"size([1, 2]) + size({'a': 1}) + size('ab')", "5"},
      {"[type(1), type(null), type(type(1)), type(duration('1s'))].map(t, string(dyn(t) == int))",
       "[\"true\", \"false\", \"false\", \"false\"]"},
      {"dyn(1) == 1", "true"},
  });
}

TEST(CelConversions, ReportWhatHasNoValue) {
  testing::ExpectFailures({
      {"int('a')", "type conversion error: 'a' is not an int"},
      {"int('')", "type conversion error: '' is not an int"},
      {"int('+-1')", "type conversion error: '+-1' is not an int"},
      {"int(1e19)", "the number is out of the range of int"},
      {"int(18446744073709551615u)", "the number is out of the range of int"},
      {"int(0.0 / 0.0)", "the number is out of the range of int"},
      {"uint(-1)", "the number is out of the range of uint"},
      {"uint(-0.5)", "the number is out of the range of uint"},
      {"uint('-1')", "type conversion error: '-1' is not a uint"},
      {"double('x')", "type conversion error: 'x' is not a double"},
      {"bool('yes')", "type conversion error: 'yes' is not a bool"},
      {"string(b'\\xff')", "invalid UTF-8: the bytes are not a text"},
      {"string(dyn([]))", "no such overload: string(list)"},
  });
}

}  // namespace
}  // namespace mindgate
