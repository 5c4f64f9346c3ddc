#include "cel/lexer.h"

#include <gtest/gtest.h>

#include <string>

#include "cel/evaluating.h"
#include "json/arena.h"
#include "json/issues.h"

namespace mindgate {
namespace {

// The tokens of a text between bars, or what is wrong with it.
std::string Tokens(std::string_view text) {
  json::Arena arena(1024);
  json::Issues issues;
  cel::Lexer lexer(text, arena, issues);
  std::string out;
  for (cel::Token token = lexer.Next(); token.kind != cel::Token::Kind::kEnd;
       token = lexer.Next()) {
    if (token.kind == cel::Token::Kind::kFault) return json::Render(issues, "cel", text);
    const bool has_value =
        token.kind == cel::Token::Kind::kNumber || token.kind == cel::Token::Kind::kText;
    out += has_value ? testing::Written(token.value) : std::string(token.text);
    out += "|";
  }
  return out;
}

TEST(CelLexer, SplitsATextIntoTokens) {
  const struct {
    std::string_view text;
    std::string_view want;
  } rows[] = {
      {"", ""},
      {" \t\r\n\f // a comment\n  // another", ""},
      {"a.b_1[?0] == _c", "a|.|b_1|[|?|0|]|==|_c|"},
      {"a&&b||!c<=d>=e!=f<g>h", "a|&&|b||||!|c|<=|d|>=|e|!=|f|<|g|>|h|"},
      {"0x1F 12u 0xFFU 1.5e3 .25 1e-2", "31|12u|255u|double 1500|double 0.25|double 0.01|"},
      {"1.size", "1|.|size|"},
      {"'a' \"b\" '''c\n'd''' \"\"\"e\"\"\"", "\"a\"|\"b\"|\"c\\n'd\"|\"e\"|"},
      {R"(r'\d+' R"\n" b'\xff' rb'\x' bR'\')", R"("\\d+"|"\\n"|b"\xff"|b"\\x"|b"\\"|)"},
      {R"('\u00e9\U0001F600\x41\101\n')",
       "\"\xC3\xA9\xF0\x9F\x98\x80"
       "AA\\n\"|"},
      {"`a-b/c.d e`", "a-b/c.d e|"},
      {"b r br bb", "b|r|br|bb|"},
  };
  for (const auto& row : rows) EXPECT_EQ(Tokens(row.text), row.want) << row.text;
}

TEST(CelLexer, ReportsWhatIsNoToken) {
  const struct {
    std::string_view text;
    std::string_view want;
  } rows[] = {
      {"a\n  & b",
       "cel:2:3: \"&\" has no meaning here\n  & b\n  ^\n"
       "hint: write && for a logical and, math.bitAnd for bits\n"},
      {"'abc", "cel:1:1: this text has no end\n'abc\n^\nhint: close the quotes\n"},
      {"'abc\nd'",
       "cel:1:1: this text has no end on its line\n'abc\n^\n"
       "hint: close the quotes, or write a text of several lines in triple quotes\n"},
      {R"('a\q')",
       "cel:1:3: \"\\\\q\" is not a known escape\n'a\\q'\n  ^\nhint: write \\\\ for a backslash\n"},
      {R"('\ud800')",
       "cel:1:2: this escape is not a character of Unicode\n'\\ud800'\n ^\n"
       "hint: write \\\\ for a backslash\n"},
      {R"(b'\u0041')",
       "cel:1:3: bytes have no escapes of characters\nb'\\u0041'\n  ^\n"
       "hint: write \\\\ for a backslash\n"},
      {"12ab",
       "cel:1:1: a letter follows a number\n12ab\n^\n"
       "hint: names begin with a letter, and a text stands in quotes\n"},
      {"99999999999999999999",
       "cel:1:1: the number \"99999999999999999999\" is too large\n99999999999999999999\n^\n"
       "hint: an int has 64 bits; 1e30 is a double\n"},
      {"`a$b`",
       "cel:1:1: between ` and ` are letters, digits and _ . - / and spaces alone\n`a$b`\n^\n"
       "hint: write [\"...\"] for any other member\n"},
      {"`a", "cel:1:1: this name has no end\n`a\n^\nhint: close the `\n"},
      {"a # b", "cel:1:3: \"#\" has no meaning here\na # b\n  ^\nhint: a comment begins with //\n"},
  };
  for (const auto& row : rows) EXPECT_EQ(Tokens(row.text), row.want) << row.text;
}

TEST(CelLexer, ReadsNumbersToTheEdge) {
  const struct {
    std::string_view text;
    bool negative;
    std::string_view want;
  } rows[] = {
      {"9223372036854775807", false, "9223372036854775807"},
      {"9223372036854775808", false, "nothing"},
      {"9223372036854775808", true, "-9223372036854775808"},
      {"9223372036854775809", true, "nothing"},
      {"18446744073709551615u", false, "18446744073709551615u"},
      {"18446744073709551616u", false, "nothing"},
      {"1u", true, "nothing"},
      {"0x7fffffffffffffff", false, "9223372036854775807"},
      {"1e400", false, "nothing"},
      {"1e-400", false, "double 0"},
      {"1.5", true, "double -1.5"},
  };
  for (const auto& row : rows) {
    const auto value = cel::NumberOf(row.text, row.negative);
    EXPECT_EQ(value ? testing::Written(*value) : "nothing", row.want) << row.text;
  }
}

TEST(CelLexer, CountsLinesAndColumns) {
  EXPECT_EQ(cel::PositionOf("a\nbc\n", 0), (json::Position{1, 1}));
  EXPECT_EQ(cel::PositionOf("a\nbc\n", 3), (json::Position{2, 2}));
  EXPECT_EQ(cel::PositionOf("a\nbc\n", 5), (json::Position{3, 1}));
}

}  // namespace
}  // namespace mindgate
