#include "json/issues.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>

namespace mindgate::json {
namespace {

Issue At(int line, int column, std::string message = "it is wrong", std::string hint = "") {
  return Issue{{line, column}, "", std::move(message), std::move(hint)};
}

TEST(Render, ShowsTheLineAndACaret) {
  EXPECT_EQ(
      Render(At(2, 3, "replicas is no number", "write 3"), "a.yaml", "spec:\n  replicas: x\n"),
      "a.yaml:2:3: replicas is no number\n"
      "  replicas: x\n"
      "  ^\n"
      "hint: write 3\n");
}

TEST(Render, ReportsWhatIsKnown) {
  EXPECT_EQ(Render(At(0, 0), "a.yaml", "text\n"), "a.yaml: it is wrong\n");
  EXPECT_EQ(Render(At(1, 0), "a.yaml", "text\n"), "a.yaml:1: it is wrong\ntext\n^\n");
  EXPECT_EQ(Render(At(9, 9), "a.yaml", "text\n"), "a.yaml:9:9: it is wrong\n");
  EXPECT_EQ(Render(At(1, 1), "a.yaml", ""), "a.yaml:1:1: it is wrong\n");
  EXPECT_EQ(Render(At(2, 1), "a.yaml", "a\n\nb"), "a.yaml:2:1: it is wrong\n");
  EXPECT_EQ(Render(At(-1, -1), "a.yaml", "a"), "a.yaml: it is wrong\n");
}

TEST(Render, PutsTheCaretUnderTheCharacter) {
  struct Case {
    std::string_view text;
    int column;
    std::string_view want;
  };
  const Case cases[] = {
      {"abc", 1, "abc\n^\n"},
      {"abc", 3, "abc\n  ^\n"},
      {"abc", 4, "abc\n   ^\n"},   // the end of the line
      {"abc", 99, "abc\n   ^\n"},  // beyond it
      {"a\tb\tc", 5, "a\tb\tc\n \t \t^\n"},
      {"é: x", 5, "é: x\n   ^\n"},  // a column is a byte, a caret stands under a character
      {"abc\r\n", 2, "abc\n ^\n"},
      {"\xEF\xBB\xBF"
       "abc",
       2, "abc\n ^\n"},
      {"a\x01\x1b[31m\x7f", 3, "a??[31m?\n  ^\n"},
      {"a\xC2\x9B"
       "31m\xFF"
       "b",
       8, "a?31m?b\n      ^\n"},
  };
  for (const auto& [text, column, want] : cases) {
    EXPECT_EQ(Render(At(1, column), "f", text),
              "f:1:" + std::to_string(column) + ": it is wrong\n" + std::string(want))
        << text;
  }
}

TEST(Render, CutsLongLinesAroundTheColumn) {
  const std::string digits = [] {
    std::string out;
    for (int i = 0; i < 100; ++i) out += std::to_string(1000 + i);  // "1000" at 1, "1001" at 5 ...
    return out;
  }();
  const auto shown = [&](int column) {
    return Render(At(1, column), "f", digits)
        .substr(("f:1:" + std::to_string(column) + ": it is wrong\n").size());
  };
  EXPECT_EQ(shown(1), digits.substr(0, 160) + "\n^\n");
  EXPECT_EQ(shown(101), digits.substr(0, 160) + "\n" + std::string(100, ' ') + "^\n");
  EXPECT_EQ(shown(201), digits.substr(100, 160) + "\n" + std::string(100, ' ') + "^\n");
  EXPECT_EQ(shown(400), digits.substr(240, 160) + "\n" + std::string(159, ' ') + "^\n");
  EXPECT_EQ(Render(At(1, 1), "f", std::string(160, 'x')),
            "f:1:1: it is wrong\n" + std::string(160, 'x') + "\n^\n");
}

TEST(Render, CutsBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "故";  // three bytes each
  // The 160 bytes from offset 200 on begin inside a character.
  EXPECT_EQ(Render(At(1, 301), "f", text),
            "f:1:301: it is wrong\n" + text.substr(201, 159) + "\n" + std::string(33, ' ') + "^\n");
}

TEST(Render, TakesTheLinesOfAnyText) {
  const std::string text = "one\ntwo\r\nthree";
  EXPECT_EQ(Render(At(1, 1), "f", text), "f:1:1: it is wrong\none\n^\n");
  EXPECT_EQ(Render(At(2, 1), "f", text), "f:2:1: it is wrong\ntwo\n^\n");
  EXPECT_EQ(Render(At(3, 1), "f", text), "f:3:1: it is wrong\nthree\n^\n");
}

RC_GTEST_PROP(RenderProperty, TakesAnyBytesAndPlaces,
              (const std::string& text, int line, int column)) {
  const std::string shown = Render(At(line, column), "f", text);
  RC_ASSERT(shown.starts_with("f"));
  RC_ASSERT(shown.ends_with('\n'));
}

TEST(Issues, KeepsTheFirstFifty) {
  Issues issues;
  EXPECT_TRUE(issues.empty());
  EXPECT_EQ(Render(issues, "f", "x"), "");
  std::string want;
  for (int i = 1; i <= 53; ++i) {
    issues.Add(At(0, 0, "fault " + std::to_string(i)));
    if (i <= 50) want += "f: fault " + std::to_string(i) + "\n";
  }
  EXPECT_FALSE(issues.empty());
  EXPECT_EQ(issues.items().size(), Issues::kMax);
  EXPECT_EQ(issues.dropped(), 3u);
  EXPECT_EQ(Render(issues, "f", "x"), want + "f: 3 more not shown\n");
}

// Of an input method: it is the cause more often than not.
TEST(Render, NamesACharacterThatOnlyLooksRight) {
  const std::string text = "a:\n  fault-scheduling： force\n\nspec:\n";
  EXPECT_EQ(Render(Issue{{4, 1}, "", "could not find expected ':'", ""}, "a.yaml", text),
            "a.yaml:4:1: could not find expected ':'\nspec:\n^\n"
            "hint: line 2, column 19 is U+FF1A FULLWIDTH COLON; write \":\"\n");
  EXPECT_EQ(Render(Issue{{1, 4}, "a", "wrong", "write b"}, "a.yaml", "a: force\u200B\n"),
            "a.yaml:1:4: wrong\na: force\u200B\n   ^\nhint: write b\n"
            "hint: column 9 is U+200B ZERO WIDTH SPACE; remove it\n");
  EXPECT_EQ(LookalikeHint(Issue{{4, 1}, "spec", "wrong", ""}, text), "")
      << "a finding is about its own line";
  EXPECT_EQ(LookalikeHint(Issue{{}, "", "wrong", ""}, text), "");
}

TEST(PositionText, LeavesOutWhatIsUnknown) {
  EXPECT_EQ(PositionText("a.yaml", {3, 7}), "a.yaml:3:7");
  EXPECT_EQ(PositionText("a.yaml", {3, 0}), "a.yaml:3");
  EXPECT_EQ(PositionText("a.yaml", {0, 7}), "a.yaml");
  EXPECT_EQ(PositionText("a.yaml", {}), "a.yaml");
  EXPECT_EQ(LineText({3, 7}), "line 3, column 7");
}

}  // namespace
}  // namespace mindgate::json
