#include "schemas/raw_objects.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "json/decode.h"
#include "json/value.h"

namespace mindgate::schemas {
namespace {

using json::Json;

TEST(ControllerOf, IsTheOwnerThatClaimsIt) {
  const Json a = {{"name", "a"}};
  const Json b = {{"name", "b"}, {"controller", true}};
  const Json c = {{"name", "c"}, {"controller", true}};
  const std::pair<Json, const char*> cases[] = {
      {{{"ownerReferences", {a, b}}}, "b"},
      {{{"ownerReferences", {c, b}}}, "c"},
      {{{"ownerReferences", {a}}}, ""},
      {{{"ownerReferences", {{{"name", "d"}, {"controller", false}}}}}, ""},
      {{{"ownerReferences", {{{"name", "e"}, {"controller", "true"}}}}}, ""},
      {{{"ownerReferences", Json::array({1, nullptr, "f"})}}, ""},
      {{{"ownerReferences", b}}, ""},
      {{{"ownerReferences", nullptr}}, ""},
      {Json::object(), ""},
      {Json("text"), ""},
  };
  for (const auto& [metadata, want] : cases) {
    const json::Document document(metadata);
    const json::Value* owner = ControllerOf(&document.root());
    EXPECT_EQ(owner == nullptr ? "" : json::TextAt(owner, {"name"}), want) << metadata;
  }
  EXPECT_EQ(ControllerOf(nullptr), nullptr);
}

TEST(ConditionStatus, IsThatOfTheConditionOfItsType) {
  const auto with = [](Json conditions) {
    return Json{{"status", {{"conditions", std::move(conditions)}}}};
  };
  const Json ready = {{"type", "Ready"}, {"status", "True"}};
  const Json placed = {{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Gated"}};
  const struct {
    Json object;
    const char* type;
    const char* want;  // "none": there is no such condition
  } cases[] = {
      {with({placed, ready}), "Ready", "True"},
      {with({placed, ready}), "PodScheduled", "False"},
      {with({placed, ready}), "ready", "none"},
      {with(Json::array({nullptr, "Ready", 1, ready})), "Ready", "True"},
      {with({{{"type", "Ready"}}}), "Ready", ""},
      {with({{{"type", "Ready"}, {"status", true}}}), "Ready", ""},
      {with(Json::array()), "Ready", "none"},
      {with(ready), "Ready", "none"},
      {with(nullptr), "Ready", "none"},
      {{{"status", "Ready"}}, "Ready", "none"},
      {Json::object(), "Ready", "none"},
      {Json("text"), "Ready", "none"},
  };
  for (const auto& [object, type, want] : cases) {
    const json::Document document(object);
    EXPECT_EQ(ConditionStatus(document.root(), type).value_or("none"), want) << object;
    EXPECT_EQ(ConditionStatus(object, type).value_or("none"), want) << object;
  }
  const Json object = with(Json::array({placed}));
  EXPECT_EQ(*FindCondition(object, "PodScheduled"), placed);
  EXPECT_EQ(FindCondition(object, "Ready"), nullptr);
}

}  // namespace
}  // namespace mindgate::schemas
