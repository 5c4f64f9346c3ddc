#include <gtest/gtest.h>

#include "cel/evaluating.h"
#include "cel/library/libraries.h"

namespace mindgate {
namespace {

TEST(CelLists, AreAddedSearchedAndOrdered) {
  testing::ExpectValues({
      {"[1, 2, 2].isSorted() && !['b', 'a'].isSorted() && [].isSorted()", "true"},
      {"[1, 2].sum()", "3"},
      {"[1.5, 2.0].sum()", "double 3.5"},
      {"[1u].filter(x, x > 1u).sum()", "0u"},
      {"[duration('1m'), duration('1s')].sum()", "61s"},
      {"dyn([]).sum()", "0"},
      {"[2, 1, 3].min() + [2, 1, 3].max()", "4"},
      {"['b', 'a'].max()", "\"b\""},
      {"[1, 2, 2].indexOf(2) + [1, 2, 2].lastIndexOf(2) * 10 + [1].indexOf(3) * 100", "-79"},
      {"[1, 2].includes(2) && 'a'.includes('a') && ![1].includes(3)", "true"},
      {"[1, 2, 3, 4].slice(1, 3)", "[2, 3]"},
      {"[[1], [2, 3], []].flatten()", "[1, 2, 3]"},
      {"[1, [2, [3, [4]]]].flatten(2)", "[1, 2, 3, [4]]"},
      {"[3, 1, 2].sort() + [3, 1].reverse()", "[1, 2, 3, 1, 3]"},
      {"[1, 2, 1, 2, 3].distinct()", "[1, 2, 3]"},
      {"[1, 1.0, 'a'].distinct()", "[1, \"a\"]"},
      {"lists.range(3)", "[0, 1, 2]"},
  });
}

TEST(CelLists, ReportWhatHasNoValue) {
  testing::ExpectFailures({
      {"[].min()", "an empty list has no min"},
      {"dyn([]).max()", "an empty list has no max"},
      {"[1, 'a'].max()", "no such overload: string and int have no order"},
      {"[[1], [2]].isSorted()", "no such overload: list and list have no order"},
      {"dyn(['a']).sum()", "no such overload: sum() of values of type string"},
      {"dyn([1, 'a']).sum()", "no such overload: int + string"},
      {"[9223372036854775807, 1].sum()", "return error for overflow: the sum is too large"},
      {"[1, 2].slice(1, 3)", "slice(1, 3) is beyond a list of 2"},
      {"[1, 2].slice(2, 1)", "slice(2, 1) is beyond a list of 2"},
      {"[1].flatten(-1)", "the level of flatten() is 0 or more"},
      {"[1, 'a'].sort()", "no such overload: int and string have no order"},
      {"lists.range(-1)", "the size of lists.range() is 0 or more"},
  });
}

}  // namespace
}  // namespace mindgate
