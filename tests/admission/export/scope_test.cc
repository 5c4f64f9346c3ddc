#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace mindgate::exported
