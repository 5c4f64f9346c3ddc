// The numbers of cel/library/libraries.h.
#include <gtest/gtest.h>

#include "cel/evaluating.h"

namespace mindgate {
namespace {

TEST(CelNumbers, AreCalculated) {
  testing::ExpectValues({
      {"math.greatest(1, 2.5, 2u)", "double 2.5"},
      {"math.least([3, 1, 2])", "1"},
      {"math.ceil(1.2) + math.floor(1.8) + math.round(2.5) + math.trunc(-1.8)", "double 5"},
      {"math.abs(-3) + math.sign(-7)", "2"},
      {"math.sqrt(16)", "double 4"},
      {"math.isNaN(0.0 / 0.0) && math.isInf(1.0 / 0.0) && math.isFinite(1.0)", "true"},
      {"[math.bitAnd(6, 3), math.bitOr(6, 3), math.bitXor(6, 3), math.bitNot(0)]", "[2, 7, 5, -1]"},
      {"[math.bitShiftLeft(1, 4), math.bitShiftRight(-1, 63), math.bitShiftLeft(1, 64)]",
       "[16, 1, 0]"},
  });
}

TEST(CelNumbers, ReportWhatHasNoValue) {
  testing::ExpectFailures({
      {"math.abs(-9223372036854775808)", "integer overflow"},
      {"math.bitShiftLeft(1, -1)", "negative offset: bits are shifted by 0 or more"},
      {"math.greatest([])", "math.greatest and math.least take one number at least"},
      {"math.greatest([1, dyn('a')])",
       "no such overload: math.greatest and math.least take numbers"},
  });
}

}  // namespace
}  // namespace mindgate
