#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "doctor/context.h"

namespace mindgate::doctor {
namespace {

// Kubernetes: "Labels and Selectors"; k8s.io/apimachinery, LabelSelectorAsSelector.
TEST(Selects, AsKubernetesDoes) {
  struct Case {
    const char* selector;
    const char* labels;
    bool selected;
  };
  const Case cases[] = {
      {"{}", "{}", true},
      {"{}", R"({"a": "1"})", true},
      {R"({"matchLabels": {"a": "1"}})", R"({"a": "1", "b": "2"})", true},
      {R"({"matchLabels": {"a": "1"}})", R"({"a": "2"})", false},
      {R"({"matchLabels": {"a": "1"}})", "{}", false},
      {R"({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]})",
       R"({"a": "2"})", true},
      {R"({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]})", "{}",
       false},
      {R"({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]})", "{}", true},
      {R"({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]})",
       R"({"a": "1"})", false},
      {R"({"matchExpressions": [{"key": "a", "operator": "Exists"}]})", R"({"a": ""})", true},
      {R"({"matchExpressions": [{"key": "a", "operator": "Exists"}]})", "{}", false},
      {R"({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]})", "{}", true},
      {R"({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]})", R"({"a": "1"})",
       false},
      {R"({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "Exists"}]})",
       R"({"a": "1"})", false},
  };
  for (const Case& c : cases) {
    const Json selector = Json::parse(c.selector);
    const Json labels = Json::parse(c.labels);
    EXPECT_EQ(Selects(&selector, &labels), c.selected) << c.selector << " " << c.labels;
  }
  EXPECT_TRUE(Selects(nullptr, nullptr));
}

}  // namespace
}  // namespace mindgate::doctor
