// format() of cel/library/libraries.h.
#include <gtest/gtest.h>

#include "cel/evaluating.h"

namespace mindgate {
namespace {

TEST(CelStringFormat, WritesValues) {
  testing::ExpectValues({
      {"'%s is %d, 100%%'.format(['a', 3])", "\"a is 3, 100%\""},
      {"'%s'.format([[1, 'a', null, {'b': true, 'a': 1.5}]])",
       R"("[1, \"a\", null, {\"a\":1.500000, \"b\":true}]")"},
      {"'%.2f %f %e'.format([1.005, 2000.0, 1234.5])", "\"1.00 2,000.000000 1.234500×10⁰³\""},
      {"'%x %X %x %o %b %b'.format([255, 255, 'ab', 8, 5, true])", "\"ff FF 6162 10 101 1\""},
      {"'%x %o %b'.format([-255, -8, -5])", "\"-ff -10 -101\""},
      {"'%s %s'.format([duration('90s'), timestamp(0)])", "\"90s 1970-01-01T00:00:00Z\""},
      {"'%s'.format([type(1)])", "\"int\""},
      {"'%s'.format([1e20])", "\"1e+20\""},
  });
}

TEST(CelStringFormat, ReportsWhichClauseIsWrong) {
  testing::ExpectFailures({
      {"'%d %d'.format([1])", "the format has more clauses than the 1 values that it is given"},
      {"'%q'.format([1])", "the format has an unknown clause: %q"},
      {"'a%'.format([1])", "the format ends in %"},
      {"'%d'.format(['a'])", "%d writes integers, and this value is of type string"},
      {"'%f'.format(['a'])", "%f writes numbers, and this value is of type string"},
      {"'%e'.format(['a'])", "%e writes numbers, and this value is of type string"},
      {"'%x'.format([1.5])",
       "%x writes integers, bytes and strings, and this value is of type double"},
      {"'%b'.format(['a'])", "%b writes integers and bools, and this value is of type string"},
      {"'%o'.format([true])", "%o writes integers, and this value is of type bool"},
      {"'%s'.format([optional.none()])",
       "%s writes strings, numbers, bools, bytes, lists, maps, types, durations and timestamps, "
       "and "
       "this value is of type optional_type"},
  });
}

}  // namespace
}  // namespace mindgate
