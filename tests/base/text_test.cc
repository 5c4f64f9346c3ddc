#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mindgate {
namespace {

using ::testing::ElementsAre;

TEST(ParseGoInt, AgreesWithStrconvAtoi) {
  struct Case {
    std::string_view text;
    std::optional<int64_t> want;
  };
  const Case cases[] = {
      {"0", 0},
      {"3", 3},
      {"+3", 3},
      {"-3", -3},
      {"007", 7},
      {"-0", 0},
      {"9223372036854775807", std::numeric_limits<int64_t>::max()},
      {"-9223372036854775808", std::numeric_limits<int64_t>::min()},
      {"9223372036854775808", std::nullopt},
      {"-9223372036854775809", std::nullopt},
      {"", std::nullopt},
      {"+", std::nullopt},
      {"-", std::nullopt},
      {"+-3", std::nullopt},
      {"-+3", std::nullopt},
      {"++3", std::nullopt},
      {" 3", std::nullopt},
      {"3 ", std::nullopt},
      {"3.0", std::nullopt},
      {"1_000", std::nullopt},
      {"0x2", std::nullopt},
      {"1e3", std::nullopt},
      {"three", std::nullopt},
      {"３", std::nullopt},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(ParseGoInt(text), want) << text;
}

TEST(EditDistance, CountsInsertionsDeletionsAndSubstitutions) {
  struct Case {
    std::string_view a;
    std::string_view b;
    int want;
  };
  const Case cases[] = {
      {"", "", 0},           {"", "abc", 3},   {"abc", "", 3},           {"abc", "abc", 0},
      {"abc", "abd", 1},     {"abc", "ab", 1}, {"abc", "xabc", 1},       {"kitten", "sitting", 3},
      {"force", "Force", 1}, {"ab", "ba", 2},  {"volcano", "volcno", 1},
  };
  for (const auto& [a, b, want] : cases) {
    EXPECT_EQ(EditDistance(a, b), want) << a << " " << b;
    EXPECT_EQ(EditDistance(b, a), want) << b << " " << a;
  }
}

TEST(EditDistance, LooksAtTheFirst64CharactersOnly) {
  const std::string long_a(1'000'000, 'a');
  const std::string long_b(1'000'000, 'b');
  EXPECT_EQ(EditDistance(long_a, long_b), 64);
  EXPECT_EQ(EditDistance(long_a, long_a + "c"), 0);
}

TEST(MeansOnly, OneCandidateAndNoOther) {
  constexpr std::string_view kWords[] = {"on", "off", "force", "Forced"};
  EXPECT_TRUE(MeansOnly("ON", "on", kWords));
  EXPECT_TRUE(MeansOnly("forcee", "force", std::span(kWords).first(3)));
  EXPECT_FALSE(MeansOnly("of", "off", kWords));  // "on" is as near
  EXPECT_FALSE(MeansOnly("forcee", "force", kWords));
  EXPECT_FALSE(MeansOnly("off", "on", kWords));
}

TEST(NearestOf, FindsWhatAPersonMeant) {
  struct Case {
    std::string_view word;
    std::vector<std::string_view> candidates;
    std::optional<std::string_view> want;
  };
  const Case cases[] = {
      {"forse", {"grace", "force", "off"}, "force"},
      {"FORCE", {"grace", "force", "off"}, "force"},
      {"force", {"grace", "force", "off"}, std::nullopt},
      {"force", {"forces", "force"}, std::nullopt},
      {"on", {"off"}, std::nullopt},
      {"of", {"off", "on"}, "off"},
      {"mindie-ms-serveer", {"mindie-ms-server", "mindie-ms-controller"}, "mindie-ms-server"},
      {"mindeie-ms-server", {"mindie-ms-coordinator", "mindie-ms-server"}, "mindie-ms-server"},
      {"abcdefghijkl", {"abcdefgh"}, std::nullopt},  // four edits of twelve letters
      {"abcdefghijkl", {"abcdefghi"}, "abcdefghi"},
      {"ax", {"ay", "az"}, "ay"},  // the first of equals
      {"", {"a"}, "a"},
      {"x", {}, std::nullopt},
  };
  for (const auto& [word, candidates, want] : cases) {
    EXPECT_EQ(NearestOf(word, candidates), want) << word;
  }
}

TEST(Case, IsIgnoredForAsciiLettersOnly) {
  EXPECT_TRUE(EqualIgnoreCase("", ""));
  EXPECT_TRUE(EqualIgnoreCase("Force", "fORCE"));
  EXPECT_FALSE(EqualIgnoreCase("force", "forc"));
  EXPECT_FALSE(EqualIgnoreCase("force", "forces"));
  EXPECT_FALSE(EqualIgnoreCase("@", "`"));
  EXPECT_EQ(ToLower("Ascend910-ÄÖ[Z"), "ascend910-ÄÖ[z");
}

TEST(Trim, RemovesWhiteSpaceAtBothEnds) {
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim(" \t\r\n\v\f"), "");
  EXPECT_EQ(Trim("  a b\n"), "a b");
  EXPECT_EQ(Trim("a"), "a");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(Split("", ','), ElementsAre(""));
  EXPECT_THAT(Split("a", ','), ElementsAre("a"));
  EXPECT_THAT(Split("a,b", ','), ElementsAre("a", "b"));
  EXPECT_THAT(Split(",a,,b,", ','), ElementsAre("", "a", "", "b", ""));
}

TEST(Join, IsTheInverseOfSplit) {
  const std::vector<std::string_view> views = {"", "a", "", "b", ""};
  const std::vector<std::string> strings = {"a", "b"};
  EXPECT_EQ(Join(views, ","), ",a,,b,");
  EXPECT_EQ(Join(strings, ", "), "a, b");
  EXPECT_EQ(Join(std::vector<std::string>(), ","), "");
}

RC_GTEST_PROP(Join, GivesBackWhatSplitCut, (const std::string& text)) {
  RC_ASSERT(Join(Split(text, ','), ",") == text);
}

TEST(OneOf, ReadsAsASentence) {
  const std::vector<std::string_view> words = {"force", "grace", "off"};
  const std::span all(words);
  EXPECT_EQ(OneOf(all.first(0)), "");
  EXPECT_EQ(OneOf(all.first(1)), "\"force\"");
  EXPECT_EQ(OneOf(all.first(2)), "\"force\" or \"grace\"");
  EXPECT_EQ(OneOf(all), "\"force\", \"grace\" or \"off\"");
}

TEST(Quote, EscapesAndCuts) {
  std::string cjk;
  for (int i = 0; i < 81; ++i) cjk += "卡";
  struct Case {
    std::string text;
    std::string want;
  };
  const Case cases[] = {
      {"", "\"\""},
      {"plain", "\"plain\""},
      {"a\"b\\c", R"("a\"b\\c")"},
      {"a\nb\tc", R"("a\nb\tc")"},
      {std::string("\x01\x7f\0", 3), R"("\x01\x7f\x00")"},
      {"故障", "\"故障\""},
      {"a\xC2\x9B"
       "1\xFF\xC3",
       R"("a\xc2\x9b1\xff\xc3")"},
      {std::string(80, 'x'), "\"" + std::string(80, 'x') + "\""},
      {std::string(81, 'x'), "\"" + std::string(80, 'x') + "...\""},
      {cjk.substr(0, 240), "\"" + cjk.substr(0, 240) + "\""},
      {cjk, "\"" + cjk.substr(0, 240) + "...\""},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(Quote(text), want);
}

TEST(Utf8Length, FollowsTheUnicodeStandard) {
  struct Case {
    std::string_view text;
    size_t want;
  };
  const Case cases[] = {
      {"", 0},
      {"a", 1},
      {std::string_view("\0", 1), 1},
      {"\x7F", 1},
      {"\xC2\x80x", 2},
      {"\xDF\xBF", 2},
      {"\xE0\xA0\x80", 3},
      {"\xED\x9F\xBF", 3},
      {"\xEF\xBF\xBF", 3},
      {"\xF0\x90\x80\x80", 4},
      {"\xF4\x8F\xBF\xBF", 4},
      {"\x80", 0},      // a tail alone
      {"\xC0\xAF", 0},  // overlong
      {"\xC1\xBF", 0},
      {"\xE0\x9F\xBF", 0},
      {"\xF0\x8F\xBF\xBF", 0},
      {"\xED\xA0\x80", 0},      // a surrogate
      {"\xF4\x90\x80\x80", 0},  // beyond U+10FFFF
      {"\xF5\x80\x80\x80", 0},
      {"\xC2", 0},  // cut
      {"\xE6\x95", 0},
      {"\xF0\x9F\x98", 0},
      {"\xC2x", 0},
      {"\xE6\x95x", 0},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(Utf8Length(text), want) << Quote(text);
}

TEST(IsDns1123Label, FollowsTheRfc) {
  for (const std::string_view text : {"a", "0", "a-b", "abc123", "1-2-3"}) {
    EXPECT_TRUE(IsDns1123Label(text)) << text;
  }
  EXPECT_TRUE(IsDns1123Label(std::string(63, 'a')));
  for (const std::string_view text : {"", "-", "-a", "a-", "A", "a.b", "a_b", "a b", "é"}) {
    EXPECT_FALSE(IsDns1123Label(text)) << text;
  }
  EXPECT_FALSE(IsDns1123Label(std::string(64, 'a')));
}

TEST(OneLine, HasSpacesForControlCharacters) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"plain text", "plain text"},
      {"a\nb\r\nc\td", "a b  c d"},
      {std::string("a\0b", 3), "a b"},
      {"\x1B[31m\x7F", " [31m "},
      {"\xE6\x95\xB0", "\xE6\x95\xB0"},  // not bytes of characters
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(OneLine(text), want) << Quote(text);
}

TEST(Padded, FillsUpToTheWidth) {
  EXPECT_EQ(Padded("", 2), "  ");
  EXPECT_EQ(Padded("ab", 4), "ab  ");
  EXPECT_EQ(Padded("abcd", 4), "abcd");
  EXPECT_EQ(Padded("abcde", 4), "abcde");
}

}  // namespace
}  // namespace mindgate
