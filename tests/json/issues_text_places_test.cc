#include <gtest/gtest.h>

#include "json/issues.h"

namespace mindgate::json {

void PrintTo(const Position& at, std::ostream* out) { *out << at.line << ":" << at.column; }

namespace {

TEST(PlaceInScalar, Table) {
  struct Case {
    const char* name;
    std::string text;
    Position at;
    std::string value;
    Position within;
    Position want;
  };
  const Case cases[] = {
      {"plain", "a: b c", {1, 4}, "b c", {1, 3}, {1, 6}},
      {"in quotes", "a: 'b c'", {1, 4}, "b c", {1, 3}, {1, 7}},
      {"literal", "a: |\n  b\n  c d\n", {1, 4}, "b\nc d\n", {2, 3}, {3, 5}},
      {"literal, its first line", "a: |-\n  b\n", {1, 4}, "b", {1, 1}, {2, 3}},
      {"literal that indents further", "a: |\n  b\n    c\n", {1, 4}, "b\n  c\n", {2, 3}, {3, 5}},
      {"folded", "a: >-\n  b\n  c d\n", {1, 4}, "b c d", {1, 5}, {3, 5}},
      {"plain, of several lines", "a: b\n  c\n", {1, 4}, "b c", {1, 3}, {2, 3}},
      {"behind an escape: the scalar", "a: \"\\u0062 c\"", {1, 4}, "b c", {1, 3}, {1, 4}},
      {"at its end", "a: b", {1, 4}, "b", {1, 2}, {1, 5}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(PlaceInScalar(c.text, c.at, c.value, c.within), c.want) << c.name;
  }
}

TEST(PlacesInScalar, AreThoseOfEachOffsetAlone) {
  const size_t offsets[] = {0, 2, 4, 4, 9};
  const std::vector<Position> want = {{2, 3}, {3, 3}, {4, 5}, {4, 5}, {1, 4}};
  EXPECT_EQ(PlacesInScalar("a: |\n  b\n  c\n    d", {1, 4}, "b\nc\n  d e", offsets), want);
  EXPECT_EQ(PlacesInScalar("a: b", {1, 4}, "b", {}), std::vector<Position>());
}

}  // namespace
}  // namespace mindgate::json
