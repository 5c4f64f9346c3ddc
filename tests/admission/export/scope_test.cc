#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "admission/export/cel_text.h"
#include "admission/export/injections.h"

namespace mindgate::exported {
namespace {

TEST(OfOld, ReadsTheObjectBefore) {
  const struct {
    std::string_view now;
    std::string_view before;
  } rows[] = {
      {"object.spec.replicas > 1", "oldObject.spec.replicas > 1"},
      {"has(object.metadata.object)", "has(oldObject.metadata.object)"},
      {"'object' in object.metadata.labels", "'object' in oldObject.metadata.labels"},
      {"'it\\'s object' == object.kind", "'it\\'s object' == oldObject.kind"},
      {"variables.templates.exists(t, t.npus)", "variables.oldTemplates.exists(t, t.npus)"},
      {"variables.kind == 'apps/Deployment' && variables.declined",
       "variables.kind == 'apps/Deployment' && variables.declined"},
      {"request.operation == 'UPDATE' && namespaceObject != null",
       "request.operation == 'UPDATE' && namespaceObject != null"},
      {"objects.object", "objects.object"},
  };
  for (const auto& row : rows) EXPECT_EQ(OfOld(row.now), row.before);
}

std::vector<std::string> NamesFor(std::string_view expression, bool old) {
  std::vector<std::string> names;
  for (const Variable& each : VariablesFor(expression, {schemas::Kind::kDeployment}, {}, old)) {
    names.push_back(each.name);
  }
  return names;
}

TEST(VariablesFor, HasWhatIsNamedInOrder) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(NamesFor("true", false), Names{});
  EXPECT_EQ(NamesFor("size(variables.labelMaps) > 0", false), (Names{"labelMaps"}));
  EXPECT_EQ(
      NamesFor("variables.npuTemplates == []", false),
      (Names{"rawTemplates", "podTemplates", "countedTemplates", "templates", "npuTemplates"}));
  EXPECT_EQ(NamesFor("variables.npuTemplates.all(t, t.volcano)", false),
            (Names{"kind", "declined", "rawTemplates", "podTemplates", "countedTemplates",
                   "templates", "npuTemplates"}));
  EXPECT_EQ(NamesFor("variables.labels == {}", true), (Names{"labels", "oldLabels"}));
  EXPECT_EQ(NamesFor("variables.anyNpus && variables.labels == {}", true),
            (Names{"labels", "oldLabels", "rawTemplates", "oldRawTemplates", "podTemplates",
                   "oldPodTemplates", "countedTemplates", "oldCountedTemplates", "anyNpus",
                   "oldAnyNpus"}));
}

// "c0" to the last one, each with its number as its expression.
std::vector<Condition> Conditions(size_t count) {
  std::vector<Condition> conditions;
  for (size_t i = 0; i < count; ++i) {
    conditions.push_back({"c" + std::to_string(i), std::to_string(i) + " > x"});
  }
  return conditions;
}

TEST(MatchConditions, AreNoMoreThanTheApiServerTakes) {
  const struct {
    size_t written;
    size_t ours;
    size_t all;
    std::string last_name;
    std::string last;
  } rows[] = {
      {0, 1, 1, "c0", "0 > x"},
      {2, 1, 3, "c0", "0 > x"},
      {0, 64, 64, "c63", "63 > x"},
      {0, 65, 64, "c63", "(63 > x) && (64 > x)"},
      {0, 67, 64, "c63", "(63 > x) && (64 > x) && (65 > x) && (66 > x)"},
      {63, 2, 64, "c0", "(0 > x) && (1 > x)"},
      {64, 2, 64, "w63", "(w63) && (0 > x) && (1 > x)"},
  };
  for (const auto& row : rows) {
    nlohmann::ordered_json written;
    for (size_t i = 0; i < row.written; ++i) {
      const std::string name = "w" + std::to_string(i);
      written.push_back({{"name", name}, {"expression", name}});
    }
    const auto all = MatchConditions(Conditions(row.ours), written);
    ASSERT_EQ(all.size(), row.all);
    EXPECT_EQ(all.back(),
              (nlohmann::ordered_json{{"name", row.last_name}, {"expression", row.last}}));
    for (size_t i = 0; i < row.written && i + 1 < row.all; ++i) EXPECT_EQ(all[i], written[i]);
  }
}

}  // namespace
}  // namespace mindgate::exported
