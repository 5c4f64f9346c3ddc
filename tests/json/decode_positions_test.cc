#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "json/any_json.h"
#include "json/decode.h"
#include "json/issues.h"
#include "json/pointer.h"

namespace mindgate::json {
namespace {

using ::mindgate::testing::AnyJson;

TEST(PositionsOf, GivesThePlaceOfEveryValue) {
  const std::string text =
      "{\n"
      "  \"apiVersion\": \"v1\",\n"
      "  \"spec\": {\n"
      "    \"containers\": [\n"
      "      {\"name\": \"é\", \"args\": [1, true]},\n"
      "      7, []\n"
      "    ],\n"
      "    \"a/b~\\u0063\" : null\n"
      "  }\n"
      "}\n";
  const Positions places = PositionsOf(text);
  const std::map<std::string, Position> want = {
      {"", {1, 1}},
      {"/apiVersion", {2, 17}},
      {"/spec", {3, 3}},
      {"/spec/containers", {4, 5}},
      {"/spec/containers/0", {5, 7}},
      {"/spec/containers/0/name", {5, 16}},
      {"/spec/containers/0/args", {5, 22}},
      {"/spec/containers/0/args/0", {5, 31}},
      {"/spec/containers/0/args/1", {5, 34}},
      {"/spec/containers/1", {6, 7}},
      {"/spec/containers/2", {6, 10}},
      {"/spec/a~1b~0c", {8, 20}},
      // what is not there has the place of where it would be
      {"/metadata/name", {1, 1}},
      {"/spec/nodeName", {3, 3}},
      {"/spec/containers/3", {4, 5}},
      {"/spec/containers/0/args/0/x", {5, 31}},
      {"no pointer", {1, 1}},
  };
  for (const auto& [pointer, at] : want) EXPECT_EQ(places.At(pointer), at) << pointer;
}

TEST(PositionsOf, CountsNoByteOrderMark) {
  EXPECT_EQ(PositionsOf("\xEF\xBB\xBF[1]").At("/0"), (Position{1, 2}));
}

TEST(PositionsOf, StopsAtAFault) {
  EXPECT_TRUE(PositionsOf("").empty());
  EXPECT_TRUE(PositionsOf("\xff").empty());
  const Positions places = PositionsOf("{\"a\": 1,\n\"b\": x");
  EXPECT_EQ(places.At("/a"), (Position{1, 7}));
  EXPECT_EQ(places.At("/b"), (Position{2, 6}));
}

TEST(PositionsOf, TakesLongKeysAboveManyValuesAndDeepNesting) {
  // A place must not cost its whole pointer: these would take gigabytes.
  std::string wide = "{\"" + std::string(1'000'000, 'k') + "\":[0";
  for (int i = 0; i < 100'000; ++i) wide += ",0";
  wide += "]}";
  EXPECT_EQ(PositionsOf(wide).At("/" + std::string(1'000'000, 'k') + "/99999"),
            (Position{1, 1'000'006 + 199'998}));
  EXPECT_EQ(PositionsOf(std::string(150'000, '[')).At("/0/0/0"), (Position{1, 4}));
}

TEST(Positions, AreEmptyUntilSet) {
  Positions places;
  EXPECT_TRUE(places.empty());
  EXPECT_EQ(places.At(""), Position());
  EXPECT_EQ(places.At("/a"), Position());
  places.Set("", {1, 1});
  EXPECT_FALSE(places.empty());
}

TEST(Positions, SetAddsAndMoves) {
  Positions places;
  places.Set("/a/b", {3, 5});
  EXPECT_EQ(places.At("/a/b"), (Position{3, 5}));
  EXPECT_EQ(places.At("/a/b/c"), (Position{3, 5}));
  EXPECT_EQ(places.At("/a"), Position());
  places.Set("/a", {2, 3});
  places.Set("/a/b", {4, 4});
  places.Set("/x~1y", {9, 9});
  places.Set("no pointer", {7, 7});
  EXPECT_EQ(places.At("/a"), (Position{2, 3}));
  EXPECT_EQ(places.At("/a/b"), (Position{4, 4}));
  EXPECT_EQ(places.At("/a/c"), (Position{2, 3}));
  EXPECT_EQ(places.At("/x~1y"), (Position{9, 9}));
  EXPECT_EQ(places.At("/x"), Position());
}

// Calls visit(pointer, value, is_member) for every value of a tree.
template <typename Visit>
void ForEachPlace(const Json& value, const std::string& pointer, bool is_member,
                  const Visit& visit) {
  visit(pointer, value, is_member);
  if (value.is_object()) {
    for (const auto& [key, item] : value.items())
      ForEachPlace(item, Child(pointer, key), true, visit);
  }
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i)
      ForEachPlace(value[i], Child(pointer, i), false, visit);
  }
}

RC_GTEST_PROP(LocateProperty, PointsAtTheTextOfEveryValue, (bool pretty)) {
  const Json root = *AnyJson();
  const std::string text = root.dump(pretty ? 2 : -1);
  std::vector<size_t> lines = {0};
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') lines.push_back(i + 1);
  }
  const Positions places = PositionsOf(text);
  ForEachPlace(root, "", false, [&](const std::string& pointer, const Json& value, bool is_member) {
    const Position at = places.At(pointer);
    RC_ASSERT(at.line >= 1 && at.line <= static_cast<int>(lines.size()));
    const std::string here = text.substr(lines[at.line - 1] + at.column - 1);
    const std::string key = Json(Tokens(pointer)->empty() ? "" : Tokens(pointer)->back()).dump();
    const std::string want = value.is_structured() && is_member ? key : value.dump(pretty ? 2 : -1);
    // Inner lines of a pretty value are indented further than it would be alone.
    const std::string first_line = want.substr(0, want.find('\n'));
    RC_ASSERT(here.starts_with(first_line));
  });
}

}  // namespace
}  // namespace mindgate::json
