#include <gtest/gtest.h>

#include <string>

#include "cel/lexer.h"
#include "json/arena.h"

namespace mindgate {
namespace {

TEST(CelLiteral, LeavesEscapesOut) {
  json::Arena arena(1024);
  EXPECT_EQ(cel::Unescape(R"(a\tb\\c\"\'\`\?)", false, arena).text, "a\tb\\c\"'`?");
  EXPECT_EQ(cel::Unescape(R"(\xe9)", false, arena).text, "\xC3\xA9");  // a character
  EXPECT_EQ(cel::Unescape(R"(\xe9)", true, arena).text, "\xE9");       // a byte
  const cel::Unescaped broken = cel::Unescape(R"(ab\x4)", false, arena);
  EXPECT_EQ(broken.fault, "\"\\\\x\" is not a known escape");
  EXPECT_EQ(broken.at, 2U);
}

TEST(CelLiteral, WritesAndReadsCharacters) {
  for (const char32_t character : {U'a', U'\u00E9', U'\u20AC', U'\U0001F600'}) {
    std::string text;
    cel::AppendUtf8(character, text);
    EXPECT_EQ(cel::CharacterAt(text), character);
  }
}

TEST(CelLiteral, KnowsWhatIsNearZero) {
  EXPECT_TRUE(cel::IsTooSmall("1e-400"));
  EXPECT_FALSE(cel::IsTooSmall("1e400"));
}

}  // namespace
}  // namespace mindgate
