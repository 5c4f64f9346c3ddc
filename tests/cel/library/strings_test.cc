// The texts of cel/library/libraries.h.
#include <gtest/gtest.h>

#include "cel/evaluating.h"

namespace mindgate {
namespace {

TEST(CelStrings, AreSearchedAndCut) {
  testing::ExpectValues({
      {"'hello'.contains('ell') && 'hello'.startsWith('he') && 'hello'.endsWith('lo')", "true"},
      {"'t\xC3\xA9st'.charAt(1) + 'a'.charAt(1)", "\"\xC3\xA9\""},
      {"['a\xC3\xA9"
       "b'.indexOf('b'), 'aba'.indexOf('a', 1), 'a'.indexOf('b'), 'abc'.indexOf('')]",
       "[2, 2, -1, 0]"},
      {"['abab'.lastIndexOf('ab'), 'abab'.lastIndexOf('ab', 1), 'a'.lastIndexOf('b'), "
       "'ab'.lastIndexOf('')]",
       "[2, 0, -1, 2]"},
      {"'aB\xC3\x89'.lowerAscii() + 'aB\xC3\xA9'.upperAscii()",
       "\"ab\xC3\x89"
       "AB\xC3\xA9\""},
      {"'aaa'.replace('a', 'b', 2) + 'ab'.replace('', '-') + 'a'.replace('b', 'c')",
       "\"bba-a-b-a\""},
      {"'a,b,c'.split(',')", "[\"a\", \"b\", \"c\"]"},
      {"'a,b,c'.split(',', 2)", "[\"a\", \"b,c\"]"},
      {"'a,b'.split(',', 0)", "[]"},
      {"'h\xC3\xA9"
       "y'.split('')",
       "[\"h\", \"\xC3\xA9\", \"y\"]"},
      {"''.split('')", "[]"},
      {"''.split(',')", "[\"\"]"},
      {"'t\xC3\xA9st'.substring(1, 3) + 'abc'.substring(2)", "\"\xC3\xA9sc\""},
      {"' \\t a b\\u3000\\n'.trim()", "\"a b\""},
      {"['a', 'b'].join() + ['a', 'b'].join('-')", "\"aba-b\""},
      {"'a\xC3\xA9'.reverse()",
       "\"\xC3\xA9"
       "a\""},
      {"strings.quote('a\"b\\n')", "\"\\\"a\\\\\\\"b\\\\n\\\"\""},
      {"jsonpatch.escapeKey('a/b~c')", "\"a~1b~0c\""},
  });
}

TEST(CelStrings, ReportWhichIndexIsWrong) {
  testing::ExpectFailures({
      {"'abc'.charAt(4)", "index out of range: 4"},
      {"'abc'.charAt(-1)", "index out of range: -1"},
      {"'abc'.indexOf('a', -9)", "index out of range: -9"},
      {"'abc'.lastIndexOf('a', -9)", "index out of range: -9"},
      {"'abc'.substring(2, 1)", "invalid substring range. start: 2, end: 1"},
      {"'abc'.substring(4)", "index out of range: 4"},
      {"'abc'.substring(0, 4)", "index out of range: 4"},
      {"[dyn(1)].join()",
       "no such overload: join() takes a list of strings, and this one has an item of type int"},
  });
}

}  // namespace
}  // namespace mindgate
