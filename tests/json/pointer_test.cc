#include "json/pointer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/any_json.h"

namespace mindgate::json {
namespace {

using ::mindgate::testing::AnyJson;
using ::mindgate::testing::AnyText;

TEST(Child, EscapesOneToken) {
  EXPECT_EQ(Child("", "spec"), "/spec");
  EXPECT_EQ(Child("/spec", ""), "/spec/");
  EXPECT_EQ(Child("/spec", "huawei.com/Ascend910"), "/spec/huawei.com~1Ascend910");
  EXPECT_EQ(Child("", "~1"), "/~01");
  EXPECT_EQ(Child("/a~1b", "c"), "/a~1b/c");
  EXPECT_EQ(Child("/a", size_t{0}), "/a/0");
  EXPECT_EQ(Child("/a", size_t{12}), "/a/12");
}

TEST(Tokens, AreUnescaped) {
  struct Case {
    std::string_view pointer;
    std::optional<std::vector<std::string>> want;
  };
  const Case cases[] = {
      {"", {{}}},
      {"/", {{""}}},
      {"/a", {{"a"}}},
      {"/a/0/b", {{"a", "0", "b"}}},
      {"/a//b/", {{"a", "", "b", ""}}},
      {"/huawei.com~1Ascend910", {{"huawei.com/Ascend910"}}},
      {"/~01", {{"~1"}}},
      {"/~1~0", {{"/~"}}},
      {"a", std::nullopt},
      {"a/b", std::nullopt},
      {"#/a", std::nullopt},
      {"/~", std::nullopt},
      {"/a~", std::nullopt},
      {"/~2", std::nullopt},
      {"/~/a", std::nullopt},
  };
  for (const auto& [pointer, want] : cases) EXPECT_EQ(Tokens(pointer), want) << pointer;
}

TEST(ListIndex, IsDecimalWithoutSignOrLeadingZero) {
  EXPECT_EQ(ListIndex("0"), 0u);
  EXPECT_EQ(ListIndex("10"), 10u);
  EXPECT_EQ(ListIndex("18446744073709551615"), 18446744073709551615u);
  for (const std::string_view token : {"", "-", "-1", "+1", "01", "00", "1.0", "1e1", "0x1", " 1",
                                       "1 ", "a", "18446744073709551616"}) {
    EXPECT_EQ(ListIndex(token), std::nullopt) << token;
  }
}

TEST(Resolve, FindsValuesAndNothingElse) {
  const Json root = Json::parse(R"({"a": [1, {"b/c": null}], "": {"~": 2}, "0": 3})");
  struct Case {
    std::string_view pointer;
    std::optional<Json> want;
  };
  const Case cases[] = {
      {"", root},
      {"/a", root["a"]},
      {"/a/0", 1},
      {"/a/1", root["a"][1]},
      {"/a/1/b~1c", nullptr},
      {"//~0", 2},
      {"/0", 3},
      {"/b", std::nullopt},
      {"/a/2", std::nullopt},
      {"/a/-", std::nullopt},
      {"/a/-1", std::nullopt},
      {"/a/00", std::nullopt},
      {"/a/x", std::nullopt},
      {"/a/0/x", std::nullopt},
      {"/a/1/b~1c/d", std::nullopt},
      {"a", std::nullopt},
      {"/a~", std::nullopt},
  };
  for (const auto& [pointer, want] : cases) {
    const Json* value = Resolve(root, pointer);
    ASSERT_EQ(value != nullptr, want.has_value()) << pointer;
    EXPECT_TRUE(value == nullptr || *value == *want) << pointer;
  }
}

TEST(FieldPath, IsWrittenAsKubernetesDoes) {
  const Json root = Json::parse(R"({
    "spec": {"containers": [{"resources": {"limits": {"huawei.com/Ascend910": 8}}}],
             "_x1": 1, "1x": 2, "a-b": 3, "0": 4},
    "huawei.com/x": 1})");
  struct Case {
    std::string_view pointer;
    std::string_view want;
  };
  const Case cases[] = {
      {"", ""},
      {"/spec", "spec"},
      {"/spec/containers", "spec.containers"},
      {"/spec/containers/0", "spec.containers[0]"},
      {"/spec/containers/0/resources/limits/huawei.com~1Ascend910",
       "spec.containers[0].resources.limits[huawei.com/Ascend910]"},
      {"/spec/_x1", "spec._x1"},
      {"/spec/1x", "spec[1x]"},
      {"/spec/a-b", "spec[a-b]"},
      {"/spec/0", "spec[0]"},
      {"/huawei.com~1x", "[huawei.com/x]"},
      {"/huawei.com~1x/y", "[huawei.com/x].y"},
      {"/spec/", "spec[]"},
      // not there, or not there yet
      {"/spec/containers/-", "spec.containers[-]"},
      {"/spec/containers/7/env/0/name", "spec.containers[7].env[0].name"},
      {"/metadata/labels/a.b~1c", "metadata.labels[a.b/c]"},
      {"/metadata/name", "metadata.name"},
      // no pointer
      {"spec", "spec"},
      {"/~", "/~"},
  };
  for (const auto& [pointer, want] : cases) EXPECT_EQ(FieldPath(root, pointer), want) << pointer;
}

// Calls visit(pointer, value) for every value of a tree.
template <typename Visit>
void ForEach(const Json& value, const std::string& pointer, const Visit& visit) {
  visit(pointer, value);
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) ForEach(item, Child(pointer, key), visit);
  }
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) ForEach(value[i], Child(pointer, i), visit);
  }
}

RC_GTEST_PROP(PointerProperty, TokensUndoChild, ()) {
  const auto keys = *rc::gen::container<std::vector<std::string>>(AnyText());
  std::string pointer;
  for (const std::string& key : keys) pointer = Child(pointer, key);
  RC_ASSERT(Tokens(pointer) == keys);
}

RC_GTEST_PROP(PointerProperty, ResolveFindsEveryValue, ()) {
  const Json root = *AnyJson();
  ForEach(root, "", [&](const std::string& pointer, const Json& value) {
    RC_ASSERT(Resolve(root, pointer) == &value);
    RC_ASSERT(&root.at(nlohmann::json_pointer<std::string>(pointer)) == &value);
  });
}

RC_GTEST_PROP(PointerProperty, AnyBytesAreTaken, (const std::string& pointer)) {
  const Json root = *AnyJson();
  (void)Resolve(root, pointer);
  (void)FieldPath(root, pointer);
}

}  // namespace
}  // namespace mindgate::json
