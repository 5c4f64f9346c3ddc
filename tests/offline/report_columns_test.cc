#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "offline/report.h"

namespace mindgate::offline {
namespace {

TEST(Columns, CountCharacters) {
  struct Case {
    std::string name;
    std::string text;
    json::Position at;
    json::Position want;
  };
  const std::string chinese = "a: x\nb: 推理 y\n";
  std::string long_line = "s: ";
  for (int i = 0; i < 5000; ++i) long_line += "é";
  const std::vector<Case> cases = {
      {"ASCII", "a: x\nb: y\n", {2, 4}, {2, 4}},
      {"before what has several bytes", chinese, {2, 4}, {2, 4}},
      {"after it", chinese, {2, 11}, {2, 7}},
      {"in another line", chinese, {1, 4}, {1, 4}},
      {"at the end of the text", "é", {1, 3}, {1, 2}},
      {"in a long line", long_line + "x", {1, 10004}, {1, 5004}},
      {"behind a long line", long_line + "\né: x", {2, 5}, {2, 4}},
      {"bytes that are not UTF-8", "\xE9\xE9: x", {1, 5}, {1, 5}},
      {"an unknown place", chinese, {0, 0}, {0, 0}},
      {"an unknown column", chinese, {2, 0}, {2, 0}},
      {"a line beyond the text", chinese, {9, 3}, {9, 3}},
      {"a column beyond the text", chinese, {2, 99}, {2, 99}},
      {"an empty text", "", {1, 1}, {1, 1}},
  };
  for (const Case& c : cases) EXPECT_EQ(Columns(c.text).InCharacters(c.at), c.want) << c.name;
}

}  // namespace
}  // namespace mindgate::offline
