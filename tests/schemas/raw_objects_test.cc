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

TEST(ControllerOf, IsTheOwnerThatSaysSo) {
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

}  // namespace
}  // namespace mindgate::schemas
