#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  return at == std::string::npos ? text + " <- lacks " + std::string(from)
                                 : text.replace(at, from.size(), to);
}

std::string WithoutInjection(const std::string& text, const std::string& name) {
  return Replaced(text, "metadata: {name: " + name,
                  "metadata: {labels: {mindgate.io/inject: disabled}, name: " + name);
}

TEST(SchedulerMisspelled, Table) {
  const auto none = [](std::string_view name, std::string_view field) {
    return std::string(field) + ": there is no scheduler \"" + std::string(name) +
           "\", did you mean \"volcano\"? No scheduler takes these pods, and they stay Pending";
  };
  const std::string of_template = "spec.template.spec.schedulerName";
  ExpectFindings(
      "MG004",
      {
          {"in capitals", Deployment({.scheduler = "Volcano"}), {none("Volcano", of_template)}},
          {"a letter too few",
           StatefulSet({.scheduler = "vocano"}, 2),
           {none("vocano", of_template)}},
          {"once for a job",
           Replaced(VolcanoJob("", {.scheduler = ""}, {.scheduler = ""}), "schedulerName: volcano",
                    "schedulerName: volcnao"),
           {none("volcnao", "spec.schedulerName")}},
          {"of one template of a group",
           LeaderWorkerSet({}, {.scheduler = "volcanp"}, 2),
           {none("volcanp", "spec.leaderWorkerTemplate.workerTemplate.spec.schedulerName")}},
          {"in a role of AIBrix",
           StormService({.scheduler = "VOLCANO"}, {}),
           {none("VOLCANO", "spec.template.spec.roles[0].template.spec.schedulerName")}},
          {"Volcano", Deployment({}), {}},
          {"another instance of it", Deployment({.scheduler = "volcano-2"}), {}},
          {"another scheduler", Deployment({.scheduler = "kai-scheduler"}), {}},
          {"left out", Deployment({.scheduler = ""}), {}},
          {"without NPUs", Deployment({.chips = "", .scheduler = "Volcano"}), {}},
      });
}

TEST(SchedulerNotVolcano, Table) {
  const auto placed = [](std::string_view scheduler, std::string_view field) {
    return std::string(field) + ": scheduler \"" + std::string(scheduler) +
           "\" places these NPU pods: no gang, no chip topology, no rescheduling after faults";
  };
  const std::string of_template = "spec.template.spec.schedulerName";
  const std::string of_leader = "spec.leaderWorkerTemplate.leaderTemplate.spec.schedulerName";
  ExpectFindings(
      "MG105",
      {
          {"volcano", Deployment({}), {}},
          {"another",
           Deployment({.scheduler = "my-scheduler"}),
           {placed("my-scheduler", of_template)}},
          {"a misspelled one has its own rule", Deployment({.scheduler = "Volcano"}), {}},
          {"the default is filled in by injection",
           Deployment({.scheduler = "default-scheduler"}),
           {}},
          {"unless that is off",
           WithoutInjection(Deployment({.scheduler = "default-scheduler"}), "d"),
           {placed("default-scheduler", of_template)}},
          {"nothing at all",
           WithoutInjection(Deployment({.scheduler = ""}), "d"),
           {placed("default-scheduler", of_template)}},
          {"when it was made before mindgate came",
           BarePod({.scheduler = "default-scheduler"}),
           {},
           BarePod({.scheduler = "default-scheduler"})},
          {"in a custom kind too",
           WithoutInjection(LeaderWorkerSet({.scheduler = ""}, {}, 2), "l"),
           {placed("default-scheduler", of_leader)}},
          {"in every role without one",
           WithoutInjection(StormService({.scheduler = ""}, {.scheduler = ""}), "s"),
           {placed("default-scheduler", "spec.template.spec.roles[0].template.spec.schedulerName"),
            placed("default-scheduler",
                   "spec.template.spec.roles[1].template.spec.schedulerName")}},
          {"an AscendJob's operator names Volcano itself",
           Replaced(AscendJob("", "mindgate.io/inject: disabled", "Master", {.scheduler = ""},
                              {.scheduler = ""}),
                    "schedulerName: volcano, ", ""),
           {}},
          {"a job names it once",
           Replaced(VolcanoJob("", {.scheduler = ""}, {.chips = ""}), "schedulerName: volcano",
                    "schedulerName: kai"),
           {placed("kai", "spec.schedulerName")}},
          {"default-scheduler is a choice in a custom kind",
           LeaderWorkerSet({.scheduler = "default-scheduler"}, {}, 2),
           {placed("default-scheduler", of_leader)}},
          {"without NPUs", Deployment({.chips = "", .scheduler = "my-scheduler"}), {}},
      });
}

TEST(VisibleDevicesMissing, Table) {
  const std::string message =
      "container \"main\" asks for NPUs but lacks ASCEND_VISIBLE_DEVICES: unless Ascend Device "
      "Plugin sets it, Ascend Docker Runtime mounts no chips";
  const std::string variable =
      "{name: ASCEND_VISIBLE_DEVICES, valueFrom: {fieldRef: {fieldPath: "
      "\"metadata.annotations['huawei.com/Ascend910']\"}}}";
  ExpectFindings(
      "MG009",
      {
          {"injection adds it", Deployment({}), {}},
          {"nobody fills the annotation without Volcano",
           WithoutInjection(Deployment({.scheduler = ""}), "d"),
           {}},
          {"unless that is off",
           WithoutInjection(Deployment({}), "d"),
           {"spec.template.spec.containers[0].env: " + message}},
          {"there", WithoutInjection(Deployment({.env = variable}), "d"), {}},
          {"in both templates of a group",
           WithoutInjection(LeaderWorkerSet({}, {}, 2), "l"),
           {"spec.leaderWorkerTemplate.leaderTemplate.spec.containers[0].env: " + message,
            "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].env: " + message}},
          {"in the runtime",
           Replaced(ServingRuntime({}), "metadata: {name: r",
                    "metadata: {labels: {mindgate.io/inject: disabled}, name: r"),
           {"spec.engineConfig.runner.env: container \"engine\" asks for NPUs but lacks "
            "ASCEND_VISIBLE_DEVICES: unless Ascend Device Plugin sets it, Ascend Docker Runtime "
            "mounts no chips"}},
          {"the operator sets it in ascend",
           AscendJob("", "framework: pytorch, mindgate.io/inject: disabled", "Master", {}, {}),
           {}},
          {"a virtual NPU must not have it",
           WithoutInjection(Deployment({.chips = "1", .resource = "huawei.com/Ascend910-4c"}), "d"),
           {}},
          {"another scheduler writes no annotation to read",
           WithoutInjection(Deployment({.scheduler = "kai"}), "d"),
           {}},
          {"without NPUs", WithoutInjection(Deployment({.chips = ""}), "d"), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
