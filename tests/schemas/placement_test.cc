#include "schemas/placement.h"

#include <gtest/gtest.h>

#include "schemas/names.h"
#include "support/npu_manifests.h"
#include "support/objects.h"

namespace mindgate::schemas {
namespace {

struct PlacementCase {
  std::string name;
  std::string object;
  bool by_volcano = false;
  std::string namespace_label = {};
  Config config = {};
};

std::string Labelled(std::string object, std::string_view label) {
  const std::string from = "metadata: {name: ";
  return object.replace(
      object.find(from), from.size(),
      "metadata: {labels: {mindgate.io/inject: " + std::string(label) + "}, name: ");
}

Config WithoutMutator(std::string_view name) {
  Config config;
  config.disabled_mutators.emplace(name);
  return config;
}

Config WithoutNamespace(std::string_view name) {
  Config config;
  config.namespaces.push_back({std::string(name), false, {}});
  return config;
}

TEST(Placement, TheSchedulerAfterMutation) {
  using testing::Deployment;
  const std::string unset = Deployment({.scheduler = ""});
  const std::string by_default = Deployment({.scheduler = "default-scheduler"});
  const std::string named = Deployment({});
  const std::vector<PlacementCase> cases = {
      {"named", named, true},
      {"left out", unset, true},
      {"what the API server fills in", by_default, true},
      {"misspelled", Deployment({.scheduler = "vocano"}), true},
      {"another", Deployment({.scheduler = "kai"}), false},
      {"the default scheduler in a custom kind",
       testing::LeaderWorkerSet({.scheduler = "default-scheduler"}, {}, 2), false},
      {"the object declines", Labelled(by_default, "disabled"), false},
      {"named where the object declines", Labelled(named, "disabled"), true},
      {"the namespace declines", unset, false, "disabled"},
      {"the object asks for it in such a namespace", Labelled(unset, "enabled"), true, "disabled"},
      {"the configuration declines", unset, false, "", WithoutNamespace("*")},
      {"the mutator is off", unset, false, "", WithoutMutator("scheduler-name")},
      {"another mutator is off", unset, true, "", WithoutMutator("visible-devices")},
      {"ascend-operator names Volcano",
       "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {labels: "
       "{mindgate.io/inject: disabled}}, spec: {replicaSpecs: {Worker: {template: {spec: "
       "{containers: [{name: ascend}]}}}}}}",
       true},
  };
  for (const PlacementCase& c : cases) {
    SCOPED_TRACE(c.name);
    const json::Document object = testing::YamlDocument(c.object);
    const auto view = BuildView(object.root());
    ASSERT_TRUE(view && !view->templates.empty());
    AdmissionRequest request;
    request.ns = "team";
    if (!c.namespace_label.empty())
      request.namespace_labels[std::string(kInject)] = c.namespace_label;
    EXPECT_EQ(IsPlacedByVolcano(*view, view->templates.front(), request, c.config), c.by_volcano);
  }
}

}  // namespace
}  // namespace mindgate::schemas
