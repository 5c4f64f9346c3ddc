#include <gtest/gtest.h>

#include <string>

#include "cel/context.h"
#include "cel/evaluating.h"
#include "cel/library/libraries.h"

namespace mindgate {
namespace {

TEST(CelRegex, Matches) {
  testing::ExpectValues({
      {"'abc123'.matches('[a-z]+[0-9]+$') && matches('ab', '^a')", "true"},
      {"'abc'.matches('^b')", "false"},
      {"'abc 123'.find('[0-9]+') + 'abc'.find('[0-9]+')", "\"123\""},
      {"'1 22 333'.findAll('[0-9]+')", "[\"1\", \"22\", \"333\"]"},
      {"'1 22 333'.findAll('[0-9]+', 2)", "[\"1\", \"22\"]"},
      {"'1 22 333'.findAll('[0-9]+', -1).size() + '1'.findAll('1', 0).size()", "3"},
      {"'ab'.findAll('')", "[\"\", \"\", \"\"]"},
      {"'baab'.findAll('a*')", "[\"\", \"aa\", \"\"]"},
      // What is not known before it is evaluated.
      {"['a', 'b'].filter(p, 'abc'.matches('^' + p))", "[\"a\"]"},
  });
}

TEST(CelRegex, KeepsPatterns) {
  cel::Patterns patterns;
  EXPECT_EQ(cel::AddPattern("a+", patterns), "");
  EXPECT_EQ(cel::AddPattern("a+", patterns), "");
  EXPECT_EQ(patterns.size(), 1U);
  EXPECT_EQ(cel::AddPattern("(a", patterns), "missing ): (a");
  EXPECT_EQ(cel::AddPattern("(?=a)", patterns), "invalid perl operator: (?=");
  EXPECT_EQ(cel::AddPattern("((a{100}){100}){100}", patterns), "invalid repetition size: {100}");
  EXPECT_EQ(cel::AddPattern(std::string(5000, 'a'), patterns), "it has more than 4096 bytes");
  for (int i = 1; i < 100; ++i) {
    EXPECT_EQ(cel::AddPattern(std::to_string(i), patterns), "") << i;
  }
  EXPECT_EQ(cel::AddPattern("z", patterns), "it is one more than 100 in this expression");
}

}  // namespace
}  // namespace mindgate
