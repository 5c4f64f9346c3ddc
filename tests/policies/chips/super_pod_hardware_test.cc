#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

const std::string kBlock16 = "sp-block: \"16\"";
const std::string kBlockAt = "spec.template.metadata.annotations[sp-block]: ";

std::string Selecting(std::string_view type, const std::string& annotations = kBlock16,
                      const std::string& chips = "16") {
  return Deployment({.chips = chips,
                     .annotations = annotations,
                     .selector = "accelerator-type: " + std::string(type)});
}

TEST(SuperPodHardware, Table) {
  const auto pending = [](std::string_view key, std::string_view type) {
    return std::string(key) + " asks for a super pod, but accelerator-type " + std::string(type) +
           " selects servers that form none: the job stays Pending";
  };
  ExpectFindings(
      "MG160",
      {
          {"Atlas A2",
           Selecting("module-910b-8"),
           {kBlockAt + pending("sp-block", "module-910b-8")}},
          {"Atlas 800", Selecting("module"), {kBlockAt + pending("sp-block", "module")}},
          {"by policy",
           Selecting("module-910b-8", kPolicy + "chip2-node16-sp"),
           {"spec.template.metadata.annotations[huawei.com/schedule_policy]: " +
            pending("huawei.com/schedule_policy", "module-910b-8")}},
          {"a job says it on its metadata",
           AscendJob(kBlock16, "", "Master",
                     {.chips = "16", .selector = "accelerator-type: module-910b-8"},
                     {.chips = "16", .selector = "accelerator-type: module-910b-8"}),
           {"metadata.annotations[sp-block]: " + pending("sp-block", "module-910b-8")}},
          {"a LeaderWorkerSet",
           LeaderWorkerSet({.chips = "16",
                            .annotations = kBlock16,
                            .selector = "accelerator-type: module-910b-8"},
                           {.chips = "16",
                            .annotations = kBlock16,
                            .selector = "accelerator-type: module-910b-8"},
                           2),
           {"spec.leaderWorkerTemplate.leaderTemplate.metadata.annotations[sp-block]: " +
            pending("sp-block", "module-910b-8")}},
          {"a super pod", Selecting("module-a3-16-super-pod"), {}},
          {"one of 8 chips a node", Selecting("module-a3-8-super-pod", "sp-block: \"8\"", "8"), {}},
          {"plain A3 servers have a warning", Selecting("module-a3-16"), {}},
          {"a site's own servers", Selecting("my-servers"), {}},
          {"another policy decides first",
           Selecting("module-910b-8", kBlock16 + ", " + kPolicy + "chip8-node8", "8"),
           {}},
          {"no selector", Deployment({.chips = "16", .annotations = kBlock16}), {}},
          {"no sp-block", Selecting("module-910b-8", "", "8"), {}},
          {"in a runtime, which a service may override",
           ServingRuntime({.chips = "16",
                           .annotations = kBlock16,
                           .selector = "accelerator-type: module-910b-8"}),
           {}},
      });
}

TEST(SuperPodHardwareLabel, Table) {
  ExpectFindings(
      "MG161",
      {
          {"plain A3 servers",
           Selecting("module-a3-16"),
           {kBlockAt +
            "sp-block asks for a super pod, but accelerator-type module-a3-16 selects servers "
            "without a super-pod network: the job stays Pending unless they report a super pod"}},
          {"in a runtime",
           ServingRuntime({.chips = "8",
                           .annotations = "sp-block: \"8\"",
                           .selector = "accelerator-type: module-910b-8"}),
           {"spec.engineConfig.annotations[sp-block]: sp-block asks for a super pod, but "
            "accelerator-type module-910b-8 selects servers that form none: services stay Pending "
            "unless they override one of the two"}},
          {"denied already", Selecting("module-910b-8"), {}},
          {"a super pod", Selecting("module-a3-16-super-pod"), {}},
      });
}

TEST(SpBlockOfRuntime, Table) {
  const auto runtime = [](const std::string& block, const std::string& chips) {
    return ServingRuntime({.chips = chips,
                           .annotations = "sp-block: \"" + block + "\"",
                           .selector = "accelerator-type: module-a3-16-super-pod"});
  };
  const auto several = [](const std::string& block, const std::string& size) {
    const std::string npus = "runner: {name: e, resources: {limits: {huawei.com/Ascend910: 16}}}";
    return "apiVersion: ome.io/v1beta1\nkind: ServingRuntime\nmetadata: {name: r}\nspec: "
           "{engineConfig: {annotations: {sp-block: '" +
           block + "'}, leader: {schedulerName: volcano, " + npus + "}, worker: {" + size +
           "schedulerName: volcano, " + npus + "}}}";
  };
  const std::string at = "spec.engineConfig.annotations[sp-block]: sp-block ";
  const std::string effect =
      " as this runtime makes it: services with one instance stay Pending unless they override one "
      "of the two";
  ExpectFindings(
      "MG162",
      {
          {"one pod", runtime("16", "16"), {}},
          {"twice the pod",
           runtime("32", "16"),
           {at + "32 is not the 16 chips of the job's only NPU pod" + effect}},
          {"not a multiple of a node",
           runtime("24", "16"),
           {at + "24 is not a multiple of the 16 chips of a node" + effect}},
          {"leader and worker", several("32", "size: 1, "), {}},
          {"half of them", several("16", "size: 1, "), {}},
          {"does not divide them",
           several("32", "size: 2, "),
           {at + "32 does not divide the 48 chips of the job" + effect}},
          {"the service says how many workers", several("48", ""), {}},
          {"a negative number of chips is MG084's", runtime("16", "-1"), {}},
          {"no number is MG090's", runtime("x", "16"), {}},
          {"a plain policy does not read it",
           ServingRuntime(
               {.chips = "16", .annotations = "sp-block: \"32\", " + kPolicy + "chip2-node16"}),
           {}},
      });
}

TEST(SpBlockOfInstance, Table) {
  const std::string npus =
      "runner: {name: e, resources: {requests: {huawei.com/Ascend910: 16}, limits: "
      "{huawei.com/Ascend910: 16}}}";
  const auto service = [&](const std::string& block, const std::string& pods) {
    return "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: i}\nspec: "
           "{engine: {minReplicas: 2, annotations: {sp-block: '" +
           block + "', " + kPolicy + "chip2-node16-sp, huawei.com/schedule_minAvailable: '2'}, " +
           pods + "}}";
  };
  const std::string one = "schedulerName: volcano, " + npus;
  const std::string two = "leader: {schedulerName: volcano, " + npus +
                          "}, worker: {size: 1, schedulerName: volcano, " + npus + "}";
  const std::string runtime =
      "apiVersion: ome.io/v1beta1\nkind: ServingRuntime\nmetadata: {name: r}";
  const auto with = [&](const std::string& name, const std::string& object,
                        std::vector<std::string> want) {
    std::string named = object;
    named.replace(named.find("spec: {"), 7, "spec: {runtime: {name: r, kind: ServingRuntime}, ");
    return RuleCase{name, named, std::move(want), {}, {runtime}};
  };
  ExpectFindings(
      "MG189",
      {
          with("two instances in one block", service("32", one),
               {"spec.engine.annotations[sp-block]: sp-block 32 is more than the 16 chips of one "
                "instance: several instances are placed and restarted as one logical super pod"}),
          with("an instance", service("16", one), {}),
          with("leader and worker", service("32", two), {}),
          with("half of them", service("16", two), {}),
          with("what is refused is reported once", service("24", one), {}),
      });
}

}  // namespace
}  // namespace mindgate::testing
