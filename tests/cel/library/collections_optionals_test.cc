// The optional values of cel/library/libraries.h.
#include <gtest/gtest.h>

#include "cel/evaluating.h"

namespace mindgate {
namespace {

TEST(CelOptionals, HoldAValueOrNone) {
  testing::ExpectValues({
      {"optional.of(1)", "some 1"},
      {"optional.none().orValue(2)", "2"},
      {"optional.of(1).or(optional.of(2))", "some 1"},
      {"optional.none().or(optional.of(2)).value()", "2"},
      {"optional.of(null).hasValue()", "true"},
      {"[optional.ofNonZeroValue(0), optional.ofNonZeroValue(''), optional.ofNonZeroValue([]), "
       "optional.ofNonZeroValue({}), optional.ofNonZeroValue(null), "
       "optional.ofNonZeroValue(false), optional.ofNonZeroValue(0.0)].all(o, !o.hasValue())",
       "true"},
      {"optional.ofNonZeroValue('a')", "some \"a\""},
      {"[optional.of(1), optional.none()].unwrapOpt()", "[1]"},
      {"optional.unwrap([optional.of(1), optional.none(), optional.of(2)])", "[1, 2]"},
      {"[7, 8].first()", "some 7"},
      {"[7, 8].last()", "some 8"},
      {"[].first()", "none"},
      {"optional.of({'a': [1]}).a[0]", "some 1"},
      {"optional.of({'a': 1}).?b", "none"},
      {"optional.none() == optional.none()", "true"},
  });
}

TEST(CelOptionals, ReportThatThereIsNoValue) {
  testing::ExpectFailures({
      {"optional.none().value()", "optional.none() has no value"},
      {"[dyn(1)].unwrapOpt()", "the items of this list must be optional values"},
  });
}

}  // namespace
}  // namespace mindgate
