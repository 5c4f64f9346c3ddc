#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "json/value.h"

namespace mindgate::json {
namespace {

constexpr const Json* kNone = nullptr;

TEST(Find, TreatsNullAsAbsent) {
  const Json object = Json::parse(R"({"a": {"b": 1}, "n": null, "": 2})");
  EXPECT_EQ(*Find(object, "a"), object["a"]);
  EXPECT_EQ(*Find(object, ""), 2);
  EXPECT_EQ(Find(object, "n"), nullptr);
  EXPECT_EQ(Find(object, "x"), nullptr);
  EXPECT_EQ(Find(Json::array({1}), "0"), nullptr);
  EXPECT_EQ(Find(Json("a"), "a"), nullptr);
  EXPECT_EQ(Find(kNone, "a"), nullptr);
}

TEST(FindPath, FollowsMembers) {
  const Json object = Json::parse(R"({"a": {"b": {"c": 1}, "n": null, "l": [1]}})");
  EXPECT_EQ(*FindPath(object, {"a", "b", "c"}), 1);
  EXPECT_EQ(*FindPath(object, {}), object);
  EXPECT_EQ(FindPath(object, {"a", "n"}), nullptr);
  EXPECT_EQ(FindPath(object, {"a", "n", "c"}), nullptr);
  EXPECT_EQ(FindPath(object, {"a", "l", "0"}), nullptr);
  EXPECT_EQ(FindPath(object, {"x", "b"}), nullptr);
  EXPECT_EQ(FindPath(static_cast<const Json*>(nullptr), {"a"}), nullptr);
}

TEST(As, GivesTheValueOfTheWantedType) {
  struct Case {
    Json value;
    std::optional<std::string_view> text;
    std::optional<int64_t> integer;
    std::optional<bool> boolean;
    std::string_view type;
  };
  const Case cases[] = {
      {"x", "x", {}, {}, "string"},
      {"", "", {}, {}, "string"},
      {1, {}, 1, {}, "integer"},
      {1u, {}, 1, {}, "integer"},
      {INT64_MIN, {}, INT64_MIN, {}, "integer"},
      {static_cast<uint64_t>(INT64_MAX), {}, INT64_MAX, {}, "integer"},
      {static_cast<uint64_t>(INT64_MAX) + 1, {}, {}, {}, "integer"},
      {1.0, {}, {}, {}, "number"},
      {"1", "1", {}, {}, "string"},
      {true, {}, {}, true, "boolean"},
      {false, {}, {}, false, "boolean"},
      {nullptr, {}, {}, {}, "null"},
      {Json::object(), {}, {}, {}, "object"},
      {Json::array(), {}, {}, {}, "list"},
  };
  for (const auto& [value, text, integer, boolean, type] : cases) {
    EXPECT_EQ(AsString(&value), text) << value;
    EXPECT_EQ(AsInt(&value), integer) << value;
    EXPECT_EQ(AsBool(&value), boolean) << value;
    EXPECT_EQ(TypeName(value), type) << value;
    EXPECT_EQ(IsObject(&value), type == "object") << value;
    EXPECT_EQ(IsArray(&value), type == "list") << value;
    EXPECT_EQ(FindString(Json{{"k", value}}, "k").has_value(), text.has_value()) << value;
  }
  EXPECT_EQ(AsString(kNone), std::nullopt);
  EXPECT_EQ(AsInt(kNone), std::nullopt);
  EXPECT_EQ(AsBool(kNone), std::nullopt);
  EXPECT_FALSE(IsObject(kNone));
  EXPECT_FALSE(IsArray(kNone));
}

}  // namespace
}  // namespace mindgate::json
