#include "json/value.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/any_json.h"
#include "json/decode.h"

namespace mindgate::json {
namespace {

using ::mindgate::testing::AnyJson;
using ::mindgate::testing::Identical;

TEST(Value, FindTreatsNullAsAbsent) {
  const auto object = Document::Decode(R"({"a": {"b": 1}, "n": null, "": 2})").value();
  EXPECT_EQ(Dump(*Find(object.root(), "a")), R"({"b":1})");
  EXPECT_EQ(AsInt(Find(object.root(), "")), 2);
  EXPECT_EQ(Find(object.root(), "n"), nullptr);
  EXPECT_TRUE(object.root().Lookup("n")->is_null());
  EXPECT_EQ(Find(object.root(), "x"), nullptr);
  EXPECT_EQ(FindPath(object.root(), {"a", "b", "c"}), nullptr);
  EXPECT_EQ(AsInt(FindPath(object.root(), {"a", "b"})), 1);
  EXPECT_EQ(FindPath(object.root(), {}), &object.root());
  EXPECT_EQ(Find(static_cast<const Value*>(nullptr), "a"), nullptr);
  EXPECT_EQ(Find(Value::OfText("a"), "a"), nullptr);
  EXPECT_EQ(FindString(Find(object.root(), "a"), "b"), std::nullopt);
}

TEST(Value, GivesWhatItsTypeHolds) {
  struct Case {
    std::string_view text;
    std::optional<std::string_view> string;
    std::optional<int64_t> integer;
    std::optional<bool> boolean;
    double number;
    size_t size;
    std::string_view type;
  };
  const Case cases[] = {
      {R"("x")", "x", {}, {}, 0, 0, "string"},
      {R"("")", "", {}, {}, 0, 0, "string"},
      {"1", {}, 1, {}, 1, 0, "integer"},
      {"-9223372036854775808", {}, INT64_MIN, {}, -9223372036854775808.0, 0, "integer"},
      {"9223372036854775807", {}, INT64_MAX, {}, 9223372036854775808.0, 0, "integer"},
      {"18446744073709551615", {}, {}, {}, 18446744073709551616.0, 0, "integer"},
      {"1.0", {}, {}, {}, 1, 0, "number"},
      {"true", {}, {}, true, 0, 0, "boolean"},
      {"false", {}, {}, false, 0, 0, "boolean"},
      {"null", {}, {}, {}, 0, 0, "null"},
      {R"({"a":1,"b":2})", {}, {}, {}, 0, 2, "object"},
      {"[1,2,3]", {}, {}, {}, 0, 3, "list"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto document = Document::Decode(c.text).value();
    const Value& value = document.root();
    EXPECT_EQ(AsString(&value), c.string);
    EXPECT_EQ(AsInt(&value), c.integer);
    EXPECT_EQ(AsBool(&value), c.boolean);
    EXPECT_EQ(value.number(), c.number);
    EXPECT_EQ(value.size(), c.size);
    EXPECT_EQ(TypeName(value), c.type);
    EXPECT_EQ(IsObject(&value), c.type == "object");
    EXPECT_EQ(IsArray(&value), c.type == "list");
    EXPECT_EQ(value.text(), c.string.value_or(""));
    EXPECT_EQ(Dump(value), Json::parse(c.text).dump());
  }
  EXPECT_EQ(AsString(static_cast<const Value*>(nullptr)), std::nullopt);
  EXPECT_FALSE(IsObject(static_cast<const Value*>(nullptr)));
}

// Rows of few members are looked through, those of many are searched.
TEST(Value, FindsEveryMemberOfARowOfAnyLength) {
  for (const int members : {0, 1, 2, 15, 16, 17, 18, 100, 1000}) {
    SCOPED_TRACE(members);
    Json tree = Json::object();
    for (int i = 0; i < members; ++i) tree["k" + std::to_string(i * 7919 % 10007)] = i;
    const Document document(tree);
    for (const auto& [key, value] : tree.items()) {
      EXPECT_EQ(AsInt(Find(document.root(), key)), value.get<int64_t>());
      EXPECT_EQ(Find(document.root(), key + "x"), nullptr);
      EXPECT_EQ(document.root().MembersFrom(key).front().key, key);
    }
    EXPECT_TRUE(document.root().MembersFrom("l").empty());
    EXPECT_EQ(document.root().MembersFrom("").size(), tree.size());
  }
}

TEST(Value, MembersStandInTheOrderOfTheirKeys) {
  const auto document =
      Document::Decode(R"({"b":1,"a/b":2,"":3,"B":4,"a":5,"\u00e9":6,"a-b":7})").value();
  std::vector<std::string_view> keys;
  for (const Member& member : document.root().members()) keys.push_back(member.key);
  EXPECT_EQ(keys, (std::vector<std::string_view>{"", "B", "a", "a-b", "a/b", "b", "\xc3\xa9"}));
}

TEST(Document, OutlivesWhatItWasMadeOf) {
  std::optional<Document> copy;
  {
    std::string text = R"({"a":["b",{"c":"d"}]})";
    Document decoded = Document::Decode(text).value();
    text.assign(text.size(), 'x');
    Document moved = std::move(decoded);
    copy = Document::CopyOf(moved.root());
  }
  EXPECT_EQ(Dump(copy->root()), R"({"a":["b",{"c":"d"}]})");
  EXPECT_TRUE(Document().root().is_null());
}

RC_GTEST_PROP(ValueProperty, IsTheTreeThatNlohmannReads, ()) {
  const Json tree = *AnyJson();
  const std::string text = tree.dump();
  const auto decoded = Document::Decode(text);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(Identical(TreeOf(decoded->root()), Json::parse(text)));
  const Document laid(tree);
  RC_ASSERT(Identical(TreeOf(laid.root()), tree));
  RC_ASSERT(laid.root() == decoded->root());
  RC_ASSERT(Document::CopyOf(laid.root()).root() == laid.root());
}

RC_GTEST_PROP(ValueProperty, EqualsAsTreesDo, ()) {
  const Json a = *AnyJson();
  const Json b = *rc::gen::oneOf(AnyJson(), rc::gen::just(a));
  RC_ASSERT((Document(a).root() == Document(b).root()) == (a == b));
}

}  // namespace
}  // namespace mindgate::json
