#include "policies/chips/manifests.h"
#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(NpuSchedulePolicy, Table) {
  const NpuPod npu{.resource = "huawei.com/npu"};
  const std::string message =
      "huawei.com/npu needs the annotation huawei.com/schedule_policy: without it the plugin has "
      "no "
      "handler and the job stays Pending";
  const std::string service = R"(
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: i}
spec: {runtime: {name: r}, engine: {runner: {name: e, resources: {limits: {huawei.com/npu: 8}}}}}
)";
  ExpectFindings(
      "MG085",
      {
          {"a Deployment",
           Deployment(npu),
           {"spec.template.metadata.annotations[huawei.com/schedule_policy]: " + message}},
          {"an AscendJob says it on its metadata",
           AscendJob("", "", "Master", npu, npu),
           {"metadata.annotations[huawei.com/schedule_policy]: " + message}},
          {"named",
           Deployment({.resource = "huawei.com/npu", .annotations = kPolicy + "chip8-node8"}),
           {}},
          {"E.2 row 3: an unknown value falls through and is another rule's",
           Deployment({.resource = "huawei.com/npu", .annotations = kPolicy + "nope"}),
           {}},
          {"Ascend910 needs none", Deployment({}), {}},
          {"a runtime leaves it to its services", ServingRuntime(npu), {}},
          {.name = "a service whose runtime is not known", .object = service, .want_skipped = true},
      });
}

TEST(UnknownSchedulePolicy, Table) {
  const std::string field = "spec.template.metadata.annotations[huawei.com/schedule_policy]: ";
  ExpectFindings(
      "MG086",
      {
          {"falls back to the default",
           WithPolicy("chip8node8", "8"),
           {field + "\"chip8node8\" is not a schedule policy: the plugin falls back to Atlas 800 "
                    "rules (1, 2, 4 or 8 chips)"}},
          {"no plugin reads it",
           Deployment({.annotations = kPolicy + "chip8node8", .scheduler = "kai"}),
           {}},
          {"falls back to sp-block",
           Deployment({.annotations = kPolicy + "superpod, sp-block: \"16\""}),
           {field + "\"superpod\" is not a schedule policy: the plugin falls back to sp-block for "
                    "A3 super pods"}},
          {"falls back to the type",
           Deployment({.annotations = kPolicy + "A2", .selector = kType + "module-910b-8"}),
           {field + "\"A2\" is not a schedule policy: the plugin falls back to accelerator-type "
                    "module-910b-8"}},
          {"nothing to fall back to",
           Deployment({.annotations = kPolicy + "A2", .selector = kType + "A2"}),
           {field + "\"A2\" is not a schedule policy: the plugin finds no handler at all"}},
          {"where chips are not named",
           R"(
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: i}
spec: {engine: {annotations: {huawei.com/schedule_policy: chip2-nod16}}}
)",
           {"spec.engine.annotations[huawei.com/schedule_policy]: \"chip2-nod16\" is not a "
            "schedule policy: the plugin uses sp-block and accelerator-type instead"}},
          {"Ascend310 goes by labels",
           Deployment({.resource = "huawei.com/Ascend310", .annotations = kPolicy + "any"}),
           {}},
          {"known", WithPolicy("multilevel", "8"), {}},
          {.name = "of a later release",
           .object = WithPolicy("multilevel", "8"),
           .want = {field + "\"multilevel\" is a schedule policy only from MindCluster 26.0.0 on: "
                            "the plugin falls back to Atlas 800 rules (1, 2, 4 or 8 chips)"},
           .versions = MindCluster({7, 3})},
          {.name = "before there were any",
           .object = WithPolicy("chip8-node8", "8"),
           .want = {field + "\"chip8-node8\" is a schedule policy only from MindCluster 7.3.0 on: "
                            "the plugin falls back to Atlas 800 rules (1, 2, 4 or 8 chips)"},
           .versions = MindCluster({7, 2})},
          {.name = "of this release",
           .object = WithPolicy("chip8-node8", "8"),
           .versions = MindCluster({7, 3})},
          {"no string is somebody else's", Deployment({.annotations = kPolicy + "8"}), {}},
      });
}

TEST(Chip4Node8OnAscend910, Table) {
  ExpectFindings(
      "MG087",
      {
          {"the policy of another server on Ascend910",
           WithPolicy("chip4-node8", "8"),
           {"spec.template.metadata.annotations[huawei.com/schedule_policy]: chip4-node8 is the "
            "policy of "
            "Atlas 350 cards: on Ascend910 it does not pick chips by the rings of Atlas 800 "
            "servers"}},
          {"on npu it is right",
           Deployment({.resource = "huawei.com/npu", .annotations = kPolicy + "chip4-node8"}),
           {}},
          {"another policy", WithPolicy("chip8-node8", "8"), {}},
          {.name = "in 7.3 it was theirs",
           .object = WithPolicy("chip4-node8", "8"),
           .versions = MindCluster({7, 3})},
      });
}

TEST(AcceleratorType, Table) {
  const std::string field = "spec.template.spec.nodeSelector[accelerator-type]: ";
  const std::string none =
      " has no handler and there is no schedule_policy instead: the job stays Pending";
  const auto tasks = [](std::string_view annotations, std::string_view a, std::string_view b) {
    return VolcanoJob(annotations, {.selector = kType + std::string(a)},
                      {.selector = kType + std::string(b)});
  };
  ExpectFindings(
      "MG088",
      {
          {"unknown",
           Deployment({.selector = kType + "module-910b"}),
           {field + "accelerator-type \"module-910b\"" + none}},
          {"absent is fine", Deployment({}), {}},
          {"a policy stands in",
           Deployment({.annotations = kPolicy + "chip8-node8", .selector = kType + "ours"}),
           {}},
          {"so does sp-block",
           Deployment({.annotations = "sp-block: \"8\"", .selector = kType + "ours"}),
           {}},
          {"different types in one PodGroup",
           tasks("", "half", "module"),
           {"spec.tasks[1].template.spec.nodeSelector[accelerator-type]: accelerator-type differs "
            "within one "
            "PodGroup: the plugin joins it to \"half|module\", has no handler for that, and the "
            "job stays "
            "Pending"}},
          {"ignoring case", tasks("", "half", "Half"), {}},
          {"types do not matter beside a policy",
           tasks(kPolicy + "chip4-node4", "half", "module"),
           {}},
          {"a runtime's selector may be overridden",
           ServingRuntime({.selector = kType + "ours"}),
           {}},
          {"Ascend310 has other labels",
           Deployment({.resource = "huawei.com/Ascend310", .selector = kType + "ours"}),
           {}},
      });
}

// What the fix advises must fit the pod.
TEST(AcceleratorType, TheFixTakesThePodsChips) {
  const auto fix = [](std::string_view type, std::string_view chips, bool with_policy) {
    const json::Document object = YamlDocument(
        Deployment({.chips = std::string(chips),
                    .annotations = with_policy ? "huawei.com/schedule_policy: chip2-node16" : "",
                    .selector = "accelerator-type: " + std::string(type)}));
    const auto view = schemas::BuildView(object.root());
    schemas::AdmissionRequest request;
    request.object = &object.root();
    const schemas::Config config;
    const std::string_view rule = with_policy ? "MG102" : "MG088";
    for (const auto& finding : policies::Evaluate({*view, nullptr, request, config}).findings) {
      if (finding.rule->id == rule) return finding.fix;
    }
    return std::string("none");
  };
  for (bool with_policy : {false, true}) {
    EXPECT_EQ(fix("module-910c-8", "16", with_policy), "write accelerator-type: module-a3-16");
    EXPECT_EQ(fix("module-910b", "8", with_policy), "write accelerator-type: module-910b-8");
    EXPECT_EQ(fix("module-910b-1", "16", with_policy), "write accelerator-type: module-910b-16");
  }
}

TEST(PolicyDisagreement, Table) {
  const NpuPod a{.annotations = kPolicy + "chip8-node8"};
  const NpuPod b{.annotations = kPolicy + "chip2-node16"};
  const auto differs = [](std::string_view key) {
    return std::string(key) +
           " differs within one PodGroup: the plugin reads it from one arbitrary pod, so the "
           "result may change from one scheduling round to the next";
  };
  const std::string field = ".template.metadata.annotations[huawei.com/schedule_policy]: ";
  ExpectFindings(
      "MG089",
      {
          {"two roles, two policies",
           StormService(a, b),
           {"spec.template.spec.roles[0]" + field + differs("huawei.com/schedule_policy")}},
          {"only one role has it",
           StormService({}, b),
           {"spec.template.spec.roles[1]" + field + differs("huawei.com/schedule_policy")}},
          {"sp-block",
           StormService({.annotations = "sp-block: \"8\""}, {.annotations = "sp-block: \"16\""}),
           {"spec.template.spec.roles[0].template.metadata.annotations[sp-block]: " +
            differs("sp-block")}},
          {"the same on both", StormService(b, b), {}},
          {"the metadata of a vcjob decides", VolcanoJob(kPolicy + "chip8-node8", a, b), {}},
          {"tasks of a vcjob without it",
           VolcanoJob("", a, {}),
           {"spec.tasks[0]" + field + differs("huawei.com/schedule_policy")}},
      });
}

}  // namespace
}  // namespace mindgate::testing
