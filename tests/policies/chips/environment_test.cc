#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

const std::string kSelector = "spec.template.spec.nodeSelector";
const std::string kEnv = "spec.template.spec.containers[0].env[0]";

TEST(NodeSelectorMisplacedField, Table) {
  const auto misplaced = [](std::string_view field) {
    return std::string(field) +
           " under nodeSelector asks for a node label of that name: no node has it, and the field "
           "itself "
           "stays unset";
  };
  ExpectFindings(
      "MG100",
      {
          {"frameworks 7.5: the documents' runtime sample",
           R"(
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: srt-llama-3-2-1b-instruct-distributed}
spec:
  decoderConfig:
    annotations: {sp-block: "16", huawei.com/schedule_minAvailable: "2"}
    leader:
      nodeSelector: {accelerator-type: module-a3-16-super-pod, schedulerName: volcano}
      runner:
        name: sglang-decoder
        resources: {limits: {huawei.com/Ascend910: 16}, requests: {huawei.com/Ascend910: 16}}
)",
           {"spec.decoderConfig.leader.nodeSelector.schedulerName: " + misplaced("schedulerName")}},
          {"a service that names no chips",
           R"(
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: i}
spec: {engine: {nodeSelector: {schedulerName: volcano}}}
)",
           {"spec.engine.nodeSelector.schedulerName: " + misplaced("schedulerName")}},
          {"several",
           Deployment({.selector = "hostNetwork: true, restartPolicy: Never"}),
           {kSelector + ".hostNetwork: " + misplaced("hostNetwork"),
            kSelector + ".restartPolicy: " + misplaced("restartPolicy")}},
          {"labels", Deployment({.selector = "host-arch: huawei-arm, accelerator-type: half"}), {}},
          {"without NPUs a label may have any name",
           Deployment({.chips = "", .selector = "nodeName: a"}),
           {}},
      });
}

TEST(HostArch, Table) {
  const auto none = [](std::string_view value) {
    return std::vector<std::string>{
        kSelector + "[host-arch]: no node has host-arch \"" + std::string(value) +
        "\": MindCluster labels them huawei-arm or huawei-x86, and the pods stay Pending"};
  };
  ExpectFindings(
      "MG101",
      {
          {"arm", Deployment({.selector = "host-arch: huawei-arm"}), {}},
          {"x86", Deployment({.selector = "host-arch: huawei-x86"}), {}},
          {"not demanded", Deployment({}), {}},
          {"another name", Deployment({.selector = "host-arch: arm64"}), none("arm64")},
          {"near miss", Deployment({.selector = "host-arch: huawei_arm"}), none("huawei_arm")},
          {"as a pod label it selects nothing", Deployment({.labels = "host-arch: arm"}), {}},
          {"without NPUs", Deployment({.chips = "", .selector = "host-arch: arm"}), {}},
      });
}

TEST(AcceleratorSelector, Table) {
  ExpectFindings(
      "MG102",
      {
          {"the product", Deployment({.selector = "accelerator: huawei-Ascend910"}), {}},
          {"near miss",
           Deployment({.selector = "accelerator: huawei-ascend910"}),
           {kSelector + ".accelerator: Ascend Device Plugin labels no node with accelerator "
                        "\"huawei-ascend910\": the pods stay Pending"}},
          {"another product",
           Deployment({.selector = "accelerator: huawei-Ascend310P"}),
           {kSelector +
            ".accelerator: accelerator \"huawei-Ascend310P\" nodes have no huawei.com/Ascend910, "
            "which the pod asks for: it stays Pending"}},
          {"a site's own label", Deployment({.selector = "accelerator: pool-7"}), {}},
          {"nothing is demanded", Deployment({}), {}},
          {"a type that only names hardware",
           Deployment({.annotations = "huawei.com/schedule_policy: chip1-node8",
                       .selector = "accelerator-type: 350-Atlas-8"}),
           {}},
          {"a type nobody writes",
           Deployment({.annotations = "huawei.com/schedule_policy: chip8-node8",
                       .selector = "accelerator-type: module_910b_8"}),
           {kSelector + "[accelerator-type]: accelerator-type \"module_910b_8\" is not a name that "
                        "MindCluster documents: possibly no node carries it"}},
      });
}

std::string Reads(std::string_view field_path) {
  return "{name: ASCEND_VISIBLE_DEVICES, valueFrom: {fieldRef: {fieldPath: \"" +
         std::string(field_path) + "\"}}}";
}

// Injection is declined.
std::string Unchanged(std::string object) {
  const std::string_view metadata = "\nmetadata: {";
  const size_t at = object.find(metadata);
  return object.insert(at + metadata.size(), "labels: {mindgate.io/inject: disabled}, ");
}

TEST(VisibleDevices, Table) {
  const std::string variable = "ASCEND_VISIBLE_DEVICES";
  const std::string literal = "{name: ASCEND_VISIBLE_DEVICES, value: \"0,1\"}";
  const std::string of_910 = Reads("metadata.annotations['huawei.com/Ascend910']");
  ExpectFindings(
      "MG103",
      {
          {"right", Deployment({.env = of_910}), {}},
          {"the other quotes",
           Deployment({.env = "{name: ASCEND_VISIBLE_DEVICES, valueFrom: {fieldRef: {fieldPath: "
                              "'metadata.annotations[\"huawei.com/Ascend910\"]'}}}"}),
           {}},
          {"another resource",
           Deployment({.resource = "huawei.com/npu", .env = of_910}),
           {kEnv + ".valueFrom.fieldRef.fieldPath: ASCEND_VISIBLE_DEVICES reads "
                   "\"metadata.annotations['huawei.com/Ascend910']\", but the pod asks for "
                   "huawei.com/npu: the "
                   "container sees no chips"}},
          {"a fixed value",
           Deployment({.env = literal}),
           {kEnv + ": ASCEND_VISIBLE_DEVICES is a fixed value: the container gets those chips, not "
                   "the ones "
                   "that the scheduler chose"}},
          {"an empty value",
           Deployment({.env = "{name: ASCEND_VISIBLE_DEVICES, value: \"\"}"}),
           {kEnv + ": ASCEND_VISIBLE_DEVICES is empty: the container gets no chips"}},
          {"no value at all",
           Deployment({.env = "{name: ASCEND_VISIBLE_DEVICES}"}),
           {kEnv + ": ASCEND_VISIBLE_DEVICES is empty: the container gets no chips"}},
          {"void",
           Deployment({.env = "{name: ASCEND_VISIBLE_DEVICES, value: void}"}),
           {kEnv + ": ASCEND_VISIBLE_DEVICES is \"void\": the container gets no chips"}},
          {"right first, fixed last",
           Deployment({.env = of_910 + ", " + literal}),
           {"spec.template.spec.containers[0].env[1]: ASCEND_VISIBLE_DEVICES is a fixed value: the "
            "container gets those chips, not the ones that the scheduler chose"}},
          {"under another scheduler nobody writes the annotation",
           Deployment({.env = of_910, .scheduler = "kai"}),
           {kEnv + ": ASCEND_VISIBLE_DEVICES must be absent for pods that Volcano does not place: "
                   "it hides the chips that the device plugin mounts"}},
          {"Volcano is meant, but its name stands below nodeSelector",
           Unchanged(
               Deployment({.selector = "schedulerName: volcano", .env = of_910, .scheduler = ""})),
           {}},
          {"and nowhere",
           Unchanged(Deployment({.env = of_910, .scheduler = ""})),
           {kEnv + ": ASCEND_VISIBLE_DEVICES must be absent for pods that Volcano does not place: "
                   "it hides the chips that the device plugin mounts"}},
          {"from a ConfigMap",
           Deployment({.env = "{name: ASCEND_VISIBLE_DEVICES, valueFrom: {configMapKeyRef: {name: "
                              "c, key: k}}}"}),
           {kEnv + ": ASCEND_VISIBLE_DEVICES does not read the pod's annotation: the container "
                   "does not get "
                   "the chips that the scheduler chose"}},
          {"another field",
           Deployment({.env = Reads("metadata.name")}),
           {kEnv + ".valueFrom.fieldRef.fieldPath: ASCEND_VISIBLE_DEVICES reads \"metadata.name\", "
                   "but the pod "
                   "asks for huawei.com/Ascend910: the container sees no chips"}},
          {"a virtual NPU",
           Deployment({.chips = "1", .resource = "huawei.com/Ascend910-4c", .env = of_910}),
           {kEnv + ": ASCEND_VISIBLE_DEVICES must be absent for a virtual NPU: it hides the chips "
                   "that the "
                   "device plugin mounts"}},
          {"soft share",
           Deployment({.chips = "1",
                       .annotations = "huawei.com/schedule_policy: chip1-softShareDev",
                       .env = of_910}),
           {kEnv + ": ASCEND_VISIBLE_DEVICES must be absent for softly shared chips: it hides the "
                   "chips that "
                   "the device plugin mounts"}},
          {"a sidecar without chips may do as it likes",
           R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - {name: sidecar, env: [{name: ASCEND_VISIBLE_DEVICES, value: void}]}
  - {name: a, resources: {limits: {huawei.com/Ascend910: 1}}}
)",
           {}},
          {.name = "the runtime names the chips",
           .object = R"(
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: i}
spec: {runtime: {name: r}, engine: {runner: {env: [{name: ASCEND_VISIBLE_DEVICES, value: "0"}]}}}
)",
           .want = {"spec.engine.runner.env[0]: ASCEND_VISIBLE_DEVICES is a fixed value: the "
                    "container gets "
                    "those chips, not the ones that the scheduler chose"},
           .others = {ServingRuntime({})}},
          {"absent", Deployment({}), {}},
      });
}

TEST(EnvValueAndSource, Table) {
  const std::string source = "valueFrom: {fieldRef: {fieldPath: status.podIP}}";
  const auto service = [](std::string_view env) {
    return "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: i}\n"
           "spec: {runtime: {name: r}, engine: {runner: {env: [" +
           std::string(env) + "]}}}";
  };
  const std::string merged =
      "spec.engine.runner.env[0]: variable \"A\" gets value and valueFrom when OME merges it with "
      "the "
      "runtime's: Kubernetes refuses the pods";
  ExpectFindings(
      "MG104",
      {
          {"both",
           Deployment({.env = "{name: A, value: x, " + source + "}"}),
           {kEnv + ": variable \"A\" has value and valueFrom: Kubernetes refuses the pods"}},
          {"an empty value is none",
           Deployment({.env = "{name: A, value: \"\", " + source + "}"}),
           {}},
          {"one", Deployment({.env = "{name: A, value: x}, {name: B, " + source + "}"}), {}},
          {.name = "a value in the runtime",
           .object = service("{name: A, " + source + "}"),
           .want = {merged},
           .others = {ServingRuntime({.env = "{name: A, value: x}"})}},
          {.name = "a source in the runtime",
           .object = service("{name: A, value: x}"),
           .want = {merged},
           .others = {ServingRuntime({.env = "{name: A, " + source + "}"})}},
          {.name = "a runtime that is not known",
           .object = service("{name: A, value: x}"),
           .want_skipped = true},
          {.name = "ASCEND_VISIBLE_DEVICES has a rule of its own",
           .object = service("{name: ASCEND_VISIBLE_DEVICES, value: \"0\"}"),
           .want = {},
           .others = {ServingRuntime({.env = "{name: ASCEND_VISIBLE_DEVICES, " + source + "}"})}},
          {.name = "the same way in both",
           .object = service("{name: A, value: x}"),
           .want = {},
           .others = {ServingRuntime({.env = "{name: A, value: y}"})}},
          {"without NPUs",
           Deployment({.chips = "", .env = "{name: A, value: x, " + source + "}"}),
           {}},
      });
}

TEST(VisibleDevicesRepeated, Table) {
  const std::string fixed = "{name: ASCEND_VISIBLE_DEVICES, value: \"0\"}";
  const std::string right = Reads("metadata.annotations['huawei.com/Ascend910']");
  const std::string field = "spec.template.spec.containers[0].env";
  const auto message = [](int times) {
    return ": ASCEND_VISIBLE_DEVICES stands " + std::to_string(times) +
           " times here with different values: Ascend Docker Runtime takes the last and its hook "
           "the first, so the container does not get its chips";
  };
  ExpectFindings("MG184",
                 {
                     {"the right one first",
                      Deployment({.env = right + ", " + fixed}),
                      {field + "[1]" + message(2)}},
                     {"the right one last",
                      Deployment({.env = fixed + ", {name: A, value: b}, " + right}),
                      {field + "[2]" + message(2)}},
                     {"the third differs",
                      Deployment({.env = right + ", " + right + ", " + fixed}),
                      {field + "[2]" + message(3)}},
                     {"twice the same", Deployment({.env = right + ", " + right}), {}},
                     {"once", Deployment({.env = right}), {}},
                     {"without chips", Deployment({.chips = "", .env = right + ", " + fixed}), {}},
                 });
}

}  // namespace
}  // namespace mindgate::testing
