// Macros that loop: the part of cel/evaluator.h that is in cel/evaluator.cc.
#include <gtest/gtest.h>

#include "cel/evaluating.h"

namespace mindgate {
namespace {

TEST(CelLoops, WalkOverListsAndMaps) {
  testing::ExpectValues({
      {"[1, 2, 3].all(x, x > 0)", "true"},
      {"[].all(x, x > 0)", "true"},
      {"[1, 2, 3].exists(x, x == 2)", "true"},
      {"[1, 2, 2].exists_one(x, x == 2)", "false"},
      {"[1, 2, 3].filter(x, x % 2 == 1)", "[1, 3]"},
      {"[1, 2, 3].map(x, x > 1, x * 10)", "[20, 30]"},
      {"{'a': 1, 'b': 2}.all(k, k != '')", "true"},
      {"{'a': 1, 'b': 2}.all(k, v, v > 0)", "true"},
      {"{'b': 1, 'a': 2}.map(k, k)", "[\"a\", \"b\"]"},
      {"{'a': 1, 'b': 2}.filter(k, k == 'b')", "[\"b\"]"},
      {"{'a': 1, 'b': 2}.exists(k, v, k == 'b' && v == 2)", "true"},
      {"['a', 'b'].transformList(i, x, string(i) + x)", "[\"0a\", \"1b\"]"},
      {"{'a': 1}.transformList(k, v, k)", "[\"a\"]"},
      {"['a', 'b'].transformMap(i, x, x + x)", "{0: \"aa\", 1: \"bb\"}"},
      {"{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 2)", "{\"b\": 4}"},
      {"{'a': 1, 'b': 2}.transformMapEntry(k, v, {v: k})", "{1: \"a\", 2: \"b\"}"},
      {"[3, 1, 2].sortBy(x, -x)", "[3, 2, 1]"},
      {"['bb', 'a', 'cc'].sortBy(x, x.size())", "[\"a\", \"bb\", \"cc\"]"},
      // One item decides, whatever fails for others.
      {"[0, 1].exists(x, 1 / x == 1)", "true"},
      {"[0, 1].all(x, 1 / x == 2)", "false"},
  });
}

TEST(CelLoops, ReportWhatFails) {
  testing::ExpectFailures({
      {"object.x.all(x, true)", "no such key: 'x'"},
      {"dyn(1).all(x, true)",
       "no such overload: this loops over a list or a map, not over a value of type int"},
      {"[0].all(x, 1 / x == 1)", "divide by zero"},
      {"[0, 1].exists_one(x, 1 / x == 1)", "divide by zero"},
      {"[0, 1].filter(x, 1 / x == 1)", "divide by zero"},
      {"[0, 1].map(x, 1 / x)", "divide by zero"},
      {"[1].filter(x, dyn(x))",
       "no such overload: a condition is true or false, and this is of type int"},
      {"[1, 2].transformMapEntry(i, x, {'a': x})", "a key is there twice"},
      {"[1, 'a'].sortBy(x, x)", "no such overload: int and string have no order"},
      {"dyn({}).sortBy(x, x)", "no such overload: sortBy orders a list"},
  });
}

}  // namespace
}  // namespace mindgate
