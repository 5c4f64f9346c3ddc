#include "offline/decide.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mindgate::offline {
namespace {

TEST(InsideBlock, LinesOfALiteralBlockAreThoseOfTheFile) {
  struct Case {
    std::string name;
    std::string text;
    json::Position at;
    json::Position within;
    std::optional<json::Position> want;
  };
  const std::string block = "data:\n  rule.json: |\n    {\n      \"a\": 1\n    }\n";
  const std::vector<Case> cases = {
      {"first line", block, {2, 14}, {1, 1}, json::Position{3, 5}},
      {"a later one", block, {2, 14}, {2, 3}, json::Position{4, 7}},
      {"without its last line break", "a: |-\n  x\n  y", {1, 4}, {2, 1}, json::Position{3, 3}},
      {"empty lines before the content", "a: |\n\n  x", {1, 4}, {2, 1}, json::Position{3, 3}},
      {"a quoted scalar has lines of its own", "a: \"x\\ny\"", {1, 4}, {2, 1}, std::nullopt},
      {"a folded one too", "a: >\n  x\n  y", {1, 4}, {1, 1}, std::nullopt},
      {"a place that is not known", block, {0, 0}, {1, 1}, std::nullopt},
      {"a place beyond the text", block, {9, 9}, {1, 1}, std::nullopt},
      {"no place inside", block, {2, 14}, {0, 0}, std::nullopt},
  };
  for (const Case& c : cases) EXPECT_EQ(InsideBlock(c.text, c.at, c.within), c.want) << c.name;
}

}  // namespace
}  // namespace mindgate::offline
