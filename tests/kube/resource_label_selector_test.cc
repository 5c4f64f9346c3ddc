#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kube/resource.h"

namespace mindgate::kube {
namespace {

using json::Json;

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

TEST(ParseLabelSelector, AsKubectlReadsIt) {
  const struct {
    const char* text;
    const char* expressions;
  } cases[] = {
      {"a=1", R"([{"key": "a", "operator": "In", "values": ["1"]}])"},
      {"a==1", R"([{"key": "a", "operator": "In", "values": ["1"]}])"},
      {"a = 1", R"([{"key": "a", "operator": "In", "values": ["1"]}])"},
      {"a=", R"([{"key": "a", "operator": "In", "values": [""]}])"},
      {"a!=1", R"([{"key": "a", "operator": "NotIn", "values": ["1"]}])"},
      {"a", R"([{"key": "a", "operator": "Exists"}])"},
      {"!a", R"([{"key": "a", "operator": "DoesNotExist"}])"},
      {"app.kubernetes.io/name in (x, y)",
       R"([{"key": "app.kubernetes.io/name", "operator": "In", "values": ["x", "y"]}])"},
      {"a notin (x),b=2",
       R"([{"key": "a", "operator": "NotIn", "values": ["x"]},
           {"key": "b", "operator": "In", "values": ["2"]}])"},
  };
  for (const auto& c : cases) {
    const auto got = ParseLabelSelector(c.text);
    ASSERT_TRUE(got) << c.text << ": " << got.error().message();
    EXPECT_EQ(*got, Json({{"matchExpressions", Json::parse(c.expressions)}})) << c.text;
  }
}

TEST(ParseLabelSelector, ReportsWhatIsWrong) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"", "a requirement is empty: write key=value"},
      {"a=1,", "a requirement is empty: write key=value"},
      {"=1", "\"\" is not the key of a label: write key=value"},
      {"a b", "\"a b\" is not the key of a label: write key=value"},
      {"a>1", "\"a>1\" is not the key of a label: write key=value"},
      {"/a=1", "\"/a\" is not the key of a label: write key=value"},
      {"a=b c", "\"b c\" cannot be the value of a label"},
      {"a=b=c", "\"b=c\" cannot be the value of a label"},
      {"a in (x", "\"a in (x\" is not a requirement: write key in (a,b) or key notin (a,b)"},
      {"a is (x)", "\"a is (x)\" is not a requirement: write key in (a,b) or key notin (a,b)"},
  };
  for (const auto& c : cases) {
    const auto got = ParseLabelSelector(c.text);
    ASSERT_FALSE(got) << c.text;
    EXPECT_EQ(got.error().message(), c.message) << c.text;
  }
}

}  // namespace
}  // namespace mindgate::kube
