#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "schemas/config.h"
#include "schemas/config_table.h"
#include "schemas/kinds.h"
#include "schemas/site_kinds.h"

namespace mindgate::schemas {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Every fault as "line:column field: message (hint)".
std::vector<std::string> FaultsOfKinds(std::string_view text) {
  const auto config = LoadConfig(text, {});
  std::vector<std::string> out;
  if (config) return out;
  for (const json::Issue& issue : config.error().items()) {
    out.push_back(std::to_string(issue.at.line) + ":" + std::to_string(issue.at.column) + " " +
                  issue.field + ": " + issue.message +
                  (issue.hint.empty() ? "" : " (" + issue.hint + ")"));
  }
  return out;
}

SiteKinds KindsOf(std::string_view text) {
  const auto config = LoadConfig(text, {});
  if (!config) ADD_FAILURE() << json::Render(config.error(), "mindgate.yaml", text);
  return config ? config->kinds : SiteKinds();
}

FieldRoute RouteOf(std::string_view text) { return *FieldRoute::Read(text, true); }

TEST(SiteKindTable, EveryKeyIsRead) {
  const SiteKinds got = KindsOf(R"(
kinds:
  - group: example.com
    version: v1beta2
    kind: Trainer
    plural: trainers
    framework: job
    serves: true
    templateFrozen: true
    passesMetadataOn: true
    namesScheduler: true
    makes: [Pod, Job.batch]
    podGroup: template
    minMember: gang.least
    copies: {spec.sets: 2}
    templates:
      - path: spec.roles[].template
        nameFrom: role.name
        name: main
        pods: {replicas: 1, hosts: 3}
        copies: {groups: 1}
        restartPolicy: restartPolicy
      - {path: spec.driver, podSpec: true, labels: spec.driver.labels, annotations: spec.notes,
         container: model, name: driver, unknownPods: true}
)");
  SiteTemplate roles;
  roles.path = RouteOf("spec.roles[].template");
  roles.name_from = RouteOf("role.name");
  roles.name = "main";
  roles.pods = {{RouteOf("hosts"), 3}, {RouteOf("replicas"), 1}};
  roles.copies = {{RouteOf("groups"), 1}};
  roles.restart_policy = RouteOf("restartPolicy");
  SiteTemplate driver;
  driver.path = RouteOf("spec.driver");
  driver.pod_spec = true;
  driver.labels = RouteOf("spec.driver.labels");
  driver.annotations = RouteOf("spec.notes");
  driver.container = "model";
  driver.name = "driver";
  driver.unknown_pods = true;
  SiteKind want;
  want.group = "example.com";
  want.version = "v1beta2";
  want.kind = "Trainer";
  want.plural = "trainers";
  want.framework = Framework::kJob;
  want.serves = true;
  want.template_frozen = true;
  want.passes_metadata_on = true;
  want.names_scheduler = true;
  want.makes = {"Pod", "Job.batch"};
  want.templates = {roles, driver};
  want.grouping = SiteGrouping::kEachTemplate;
  want.min_member = RouteOf("gang.least");
  want.copies = {{RouteOf("spec.sets"), 2}};
  EXPECT_EQ(got, SiteKinds({want}));
}

TEST(SiteKindTable, AShortRowHasTheDefaults) {
  SiteKind want;
  want.group = "example.com";
  want.version = "v1";
  want.kind = "Server";
  want.plural = "servers";
  want.templates.resize(1);
  want.templates[0].path = RouteOf("spec.template");
  EXPECT_EQ(KindsOf("kinds: [{group: example.com, version: v1, kind: Server, plural: servers, "
                    "templates: [{path: spec.template}]}]"),
            SiteKinds({want}));
  EXPECT_EQ(want.makes, std::vector<std::string>{"Pod"});
}

TEST(SiteKindTable, NamesStandForShippedRows) {
  std::vector<SiteKind> want = ShippedKindsNamed("jobset");
  for (SiteKind& kind : ShippedKindsNamed("kruise")) want.push_back(std::move(kind));
  EXPECT_EQ(KindsOf("kinds: [{use: jobset}, {use: kruise}]"), SiteKinds(std::move(want)));
  EXPECT_EQ(KindsOf("kinds:\n"), SiteKinds());
  EXPECT_EQ(KindsOf("kinds: []"), SiteKinds());
}

std::string FrameworkNames() {
  std::vector<std::string_view> names;
  for (const FrameworkInfo& framework : kFrameworks) names.push_back(framework.name);
  return OneOf(names);
}

TEST(SiteKindTable, ReportsEveryFaultWithItsPlace) {
  EXPECT_THAT(
      FaultsOfKinds(R"(kinds:
  - group: example
    version: 1
    kind: server
    plural: Servers
    framework: deployments
    makes: [Pods.]
    podGroup: all
    minMember: spec.least
    templates:
      - {path: "spec.a[].b[]", nameFrom: name}
      - {path: spec.t, labels: spec.l}
      - {path: spec.t, podSpec: true, name: x}
      - {path: spec.u, nameFrom: name, unknownPods: true, pods: {"a[]": 1, b: -1}}
      - {path: spec.v, pods: {n: 1}, unknownPods: true}
      - {path: spec.w}
  - use: rays
  - {use: ray, kind: RayCluster}
  - {kind: Thing}
)"),
      ElementsAre(
          "2:12 kinds[0].group: \"example\" is not an API group with a domain (write the part of "
          "apiVersion before the slash)",
          "3:14 kinds[0].version: must be a string, not an integer (quote it: \"1\")",
          "4:11 kinds[0].kind: \"server\" is not the name of a kind (write it as in manifests, "
          "such as RayCluster)",
          "5:13 kinds[0].plural: \"Servers\" is not the name of a resource (write it as kubectl "
          "api-resources does, such as rayclusters)",
          "6:16 kinds[0].framework: \"deployments\" is not allowed here: must be " +
              FrameworkNames() + " (did you mean \"deployment\"?)",
          "7:13 kinds[0].makes[0]: \"Pods.\" is not the name of a kind with its group (write Pod, "
          "or a kind and its group, such as Job.batch)",
          "8:15 kinds[0].podGroup: \"all\" is not allowed here: must be \"object\", \"template\", "
          "\"pods\" or \"none\"",
          "9:16 kinds[0].minMember: has no effect without podGroup: object or template (remove it, "
          "or write podGroup:)",
          "11:16 kinds[0].templates[0].path: the path has more than one [] or {} (write members "
          "with dots between them, such as spec.workerGroupSpecs[].template)",
          "12:32 kinds[0].templates[1].labels: a pod template has its own metadata and containers: "
          "this is for podSpec: true alone (remove it, or add podSpec: true)",
          "13:16 kinds[0].templates[2].path: \"spec.t\" is there twice (remove one of the two)",
          "13:33 kinds[0].templates[2].podSpec: a pod spec has no metadata: labels or annotations "
          "are missing (add labels: and annotations:, where those of its pods are)",
          "14:34 kinds[0].templates[3].nameFrom: only items of a list have a member that names "
          "them (write name: instead; in a map the key is the name)",
          "14:79 kinds[0].templates[3].pods.b: -1 is too small (write 0 or more)",
          "15:9 kinds[0].templates[4].name: another template has no name either (write a name of "
          "its own)",
          "15:24 kinds[0].templates[4].pods: has no effect: unknownPods is true (remove one of "
          "them)",
          "16:9 kinds[0].templates[5].name: another template has no name either (write a name of "
          "its own)",
          "17:10 kinds[1].use: \"rays\" is not allowed here: must be \"ray\", \"kubeflow\", "
          "\"jobset\", \"kthena\", \"kserve\" or \"kruise\" (did you mean \"ray\"?)",
          "18:22 kinds[2].kind: \"kind\" has no effect beside use (write a row of its own)",
          "19:5 kinds[3].group: \"group\" is missing (add group:)",
          "19:5 kinds[3].version: \"version\" is missing (add version:)",
          "19:5 kinds[3].plural: \"plural\" is missing (add plural:)",
          "19:5 kinds[3].templates: \"templates\" is missing (add templates:)"));
}

TEST(SiteKindTable, ReportsWhatRowsDoToEachOther) {
  const std::string row = "version: v1, plural: things, templates: [{path: spec.template}]";
  EXPECT_THAT(FaultsOfKinds("kinds:\n- {group: apps, kind: Deployment, " + row + "}\n"),
              ElementsAre("2:11 kinds[0].group: \"apps\" is not an API group with a domain (write "
                          "the part of apiVersion before the slash)"));
  EXPECT_THAT(FaultsOfKinds("kinds:\n- {group: ome.io, kind: InferenceService, " + row + "}\n"),
              ElementsAre("2:25 kinds[0].kind: InferenceService.ome.io is built in, and cannot be "
                          "described here (remove it)"));
  EXPECT_THAT(
      FaultsOfKinds("kinds:\n- {use: ray}\n- {group: ray.io, kind: RayJob, " + row + "}\n"),
      ElementsAre(
          "3:3 kinds[1]: RayJob.ray.io is described by item 0 already (keep one of the two)"));
  EXPECT_THAT(FaultsOfKinds("kinds:\n- {group: a.io, kind: A, makes: [B.a.io], " + row + "}\n"),
              ElementsAre("2:34 kinds[0].makes[0]: \"B.a.io\" is neither built in nor described "
                          "here (describe it as well, or remove it)"));
  EXPECT_THAT(FaultsOfKinds("kinds:\n- {group: a.io, kind: A, makes: [B.a.io], " + row +
                            "}\n- {group: a.io, kind: B, " + row + "}\n"),
              IsEmpty());
}

TEST(SiteKindTable, BoundsHowMuchThereIs) {
  std::string templates;
  for (int i = 0; i < 17; ++i) {
    templates += "{path: spec.t" + std::to_string(i) + ", name: t" + std::to_string(i) + "},";
  }
  EXPECT_THAT(
      FaultsOfKinds("kinds:\n- {group: a.io, version: v1, kind: A, plural: as, templates: [" +
                    templates + "]}\n"),
      ElementsAre("2:51 kinds[0].templates: there are more than 16 templates (one path with [] or "
                  "{} stands for all items of a list or map)"));
  std::string kinds = "kinds:\n";
  for (int i = 0; i < 65; ++i) {
    kinds += "- {group: a.io, version: v1, kind: A" + std::to_string(i) +
             ", plural: as, templates: [{path: spec.template}]}\n";
  }
  EXPECT_THAT(
      FaultsOfKinds(kinds),
      ElementsAre(
          "1:1 kinds: there are more than 64 kinds (keep those whose objects request NPUs)"));
}

}  // namespace
}  // namespace mindgate::schemas
