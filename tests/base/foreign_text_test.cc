#include "base/foreign_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"

// Characters that input methods leave where ASCII was meant.
namespace mindgate {
namespace {

// "21 U+FF1A FULLWIDTH COLON -> :"
std::string Found(std::string_view line, size_t near = 0) {
  const auto found = FindLookalike(line, near);
  if (!found) return "";
  return std::to_string(found->offset) + " " + found->character.name + " -> " +
         found->character.instead;
}

TEST(Lookalikes, AreNamedAsUnicodeNamesThem) {
  EXPECT_EQ(Found("a： b"), "1 U+FF1A FULLWIDTH COLON -> :");
  EXPECT_EQ(Found("n: ８"), "3 U+FF18 FULLWIDTH DIGIT EIGHT -> 8");
  EXPECT_EQ(Found("n: ｂ"), "3 U+FF42 FULLWIDTH LATIN SMALL LETTER B -> b");
  EXPECT_EQ(Found("n: Ｂ"), "3 U+FF22 FULLWIDTH LATIN CAPITAL LETTER B -> B");
  EXPECT_EQ(Found("n:\u00A0b"), "2 U+00A0 NO-BREAK SPACE ->  ");
  EXPECT_EQ(Found("n:\u3000b"), "2 U+3000 IDEOGRAPHIC SPACE ->  ");
  EXPECT_EQ(Found("n: force\u200B"), "8 U+200B ZERO WIDTH SPACE -> ");
  EXPECT_EQ(Found("n: “force”"), "3 U+201C LEFT DOUBLE QUOTATION MARK -> \"");
  EXPECT_EQ(Found("n: ～"), "3 U+FF5E FULLWIDTH TILDE -> ~");
}

TEST(Lookalikes, TheNearestCounts) {
  EXPECT_EQ(Found("a： ８", 0), "1 U+FF1A FULLWIDTH COLON -> :");
  EXPECT_EQ(Found("a： ８", 5), "5 U+FF18 FULLWIDTH DIGIT EIGHT -> 8");
}

// There any text is right.
TEST(Lookalikes, AreNotSoughtInQuotesAndComments) {
  for (const char* line : {"a: \"你好：８\"", "a: '你好：８'", "# 说明：８", "a: b # 说明：８",
                           "a: \"\\\"：\"", "a: 你好", "plain", ""}) {
    EXPECT_EQ(Found(line), "") << line;
  }
  EXPECT_EQ(Found("a#b： c"), "3 U+FF1A FULLWIDTH COLON -> :") << "no comment";
  EXPECT_EQ(Found("it's： c"), "4 U+FF1A FULLWIDTH COLON -> :") << "no quote";
}

TEST(Lookalikes, ThoseThatNobodySeesAreQuotedEscaped) {
  EXPECT_EQ(Quote("force\u200B"), "\"force\\u200B\"");
  EXPECT_EQ(Quote("a\u00A0b\u3000"), "\"a\\u00A0b\\u3000\"");
  EXPECT_EQ(Quote("“８”"), "\"“８”\"");
}

}  // namespace
}  // namespace mindgate
