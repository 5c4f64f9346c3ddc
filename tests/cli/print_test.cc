#include "cli/console/print.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "support/cli.h"

namespace mindgate::cli {
namespace {

std::string Diff(std::string_view before, std::string_view after) {
  return UnifiedDiff(before, after, Paint(ColorMode::kNever, true));
}

std::string Numbers(int first, int last) {
  std::string out;
  for (int i = first; i <= last; ++i) out += std::to_string(i) + "\n";
  return out;
}

TEST(UnifiedDiff, Cases) {
  const struct {
    std::string name, before, after, want;
  } cases[] = {
      {"equal", "a\nb\n", "a\nb\n", ""},
      {"from nothing", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
      {"to nothing", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
      {"one line of many", Numbers(1, 9), Numbers(1, 4) + "x\n" + Numbers(6, 9),
       "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
      {"added at the end", "a\nb\nc\nd\n", "a\nb\nc\nd\ne\n", "@@ -2,3 +2,4 @@\n b\n c\n d\n+e\n"},
      {"six equal lines between two changes share a hunk", "x\n" + Numbers(1, 6) + "y\n",
       Numbers(1, 6), "@@ -1,8 +1,6 @@\n-x\n 1\n 2\n 3\n 4\n 5\n 6\n-y\n"},
      {"seven do not", "x\n" + Numbers(1, 7) + "y\n", Numbers(1, 7),
       "@@ -1,4 +1,3 @@\n-x\n 1\n 2\n 3\n@@ -6,4 +5,3 @@\n 5\n 6\n 7\n-y\n"},
  };
  for (const auto& c : cases) EXPECT_EQ(Diff(c.before, c.after), c.want) << c.name;
}

TEST(UnifiedDiff, InColour) {
  EXPECT_EQ(UnifiedDiff("a\nb\n", "a\nc\n", Paint(ColorMode::kAlways, false)),
            "\xFF\033[36m@@ -1,2 +1,2 @@\xFF\033[0m\n a\n\xFF\033[31m-b\xFF\033[0m\n"
            "\xFF\033[32m+c\xFF\033[0m\n");
}

// What patch(1) would make of it.
std::string Applied(const std::string& before, const std::string& diff) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  };
  const std::vector<std::string> old_lines = lines_of(before);
  size_t at = 0;
  std::string after;
  for (const std::string& line : lines_of(diff)) {
    if (line.starts_with("@@")) {
      const size_t first = std::stoul(line.substr(4));
      const bool empty = line.find(",0 +") != std::string::npos;
      for (; at + 1 < first + (empty ? 1 : 0); ++at) after += old_lines.at(at) + "\n";
      continue;
    }
    if (line[0] != '+') {
      EXPECT_EQ(old_lines.at(at++), line.substr(1));
    }
    if (line[0] != '-') after += line.substr(1) + "\n";
  }
  for (; at < old_lines.size(); ++at) after += old_lines[at] + "\n";
  return after;
}

// diff(1) is the oracle for the length of a shortest difference.
TEST(UnifiedDiff, AppliesAndIsAsShortAsThatOfDiff) {
  const ::mindgate::testing::Workspace workspace;
  unsigned state = 1;
  const auto next = [&state](unsigned below) {
    state = state * 1103515245 + 12345;
    return (state >> 16) % below;
  };
  const auto changed = [](const std::string& diff) {
    std::istringstream in(diff);
    int count = 0;
    for (std::string line; std::getline(in, line);) count += line[0] == '+' || line[0] == '-';
    return count;
  };
  for (int round = 0; round < 40; ++round) {
    std::string before;
    std::string after;
    for (int line = 0; line < 30; ++line) {
      const std::string text = std::string(1, static_cast<char>('a' + next(4))) + "\n";
      const unsigned what = next(6);
      if (what != 0) before += text;
      if (what != 1) after += text;
    }
    const std::string ours = Diff(before, after);
    EXPECT_EQ(Applied(before, ours), after) << ours;
    workspace.Write("before", before);
    workspace.Write("after", after);
    const auto theirs = ::mindgate::testing::Shell("diff -d -U3 before after | tail -n +3");
    EXPECT_EQ(changed(ours), changed(theirs.out)) << ours << theirs.out;
  }
}

TEST(UnifiedDiff, VeryDifferentTextsAreReplacedWhole) {
  const std::string before = Numbers(1, 3000);
  const std::string after = Numbers(10001, 13000);
  const std::string diff = Diff(before, after);
  EXPECT_TRUE(diff.starts_with("@@ -1,3000 +1,3000 @@\n-1\n-2\n"));
  EXPECT_TRUE(diff.ends_with("+12999\n+13000\n"));
}

TEST(Paint, OnlyOnATerminalAndNotAgainstNoColor) {
  ::unsetenv("NO_COLOR");
  EXPECT_EQ(Paint(ColorMode::kAuto, true)(Color::kRed, "x"), "\xFF\033[31mx\xFF\033[0m");
  EXPECT_EQ(Paint(ColorMode::kAuto, false)(Color::kRed, "x"), "x");
  EXPECT_EQ(Paint(ColorMode::kNever, true)(Color::kRed, "x"), "x");
  EXPECT_EQ(Paint(ColorMode::kAlways, false)(Color::kRed, "x"), "\xFF\033[31mx\xFF\033[0m");
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(Paint(ColorMode::kAuto, true)(Color::kRed, "x"), "x");
  EXPECT_EQ(Paint(ColorMode::kAlways, true)(Color::kRed, "x"), "\xFF\033[31mx\xFF\033[0m");
  ::setenv("NO_COLOR", "", 1);
  EXPECT_EQ(Paint(ColorMode::kAuto, true)(Color::kRed, "x"), "\xFF\033[31mx\xFF\033[0m");
  ::unsetenv("NO_COLOR");
}

}  // namespace
}  // namespace mindgate::cli
