#include "json/scanner.h"

#include <gtest/gtest.h>

namespace mindgate::json {
namespace {

constexpr size_t kNoEnd = std::string_view::npos;

TEST(ScannerText, SpaceStringsAndValuesEndWhereTheyEnd) {
  struct Case {
    std::string_view text;
    size_t (*of)(std::string_view text, size_t at);
    size_t at;
    size_t expected;
  };
  const Case cases[] = {
      {"a", SkipSpace, 0, 0},
      {" \t\r\n{", SkipSpace, 0, 4},
      {"{  ", SkipSpace, 1, 3},
      {"", SkipSpace, 0, 0},
      {R"("")", EndOfString, 0, 2},
      {R"({"a": 1})", EndOfString, 1, 4},
      {R"("a\"b" )", EndOfString, 0, 6},
      {R"("a\\" ")", EndOfString, 0, 5},
      {R"("\\\"" )", EndOfString, 0, 6},
      {R"("a)", EndOfString, 0, kNoEnd},
      {R"("a\")", EndOfString, 0, kNoEnd},
      {R"("a}" ,)", EndOfValue, 0, 4},
      {"12, 3", EndOfValue, 0, 2},
      {"true}", EndOfValue, 0, 4},
      {"null\n]", EndOfValue, 0, 4},
      {"12", EndOfValue, 0, kNoEnd},
      {R"({"a": [1, {"b": "]}"}]} x)", EndOfValue, 0, 23},
      {R"([[], []])", EndOfValue, 1, 3},
      {R"({"a": [1})", EndOfValue, 0, kNoEnd},
      {R"(["a)", EndOfValue, 0, kNoEnd},
      {", 1", EndOfValue, 0, kNoEnd},
      {"", EndOfValue, 0, kNoEnd},
  };
  for (const Case& c : cases) EXPECT_EQ(c.of(c.text, c.at), c.expected) << c.text << " at " << c.at;
}

}  // namespace
}  // namespace mindgate::json
