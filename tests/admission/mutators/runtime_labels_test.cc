#include "support/mutations.h"

namespace mindgate::testing {
namespace {

std::string Runtime(const std::string& labels, const std::string& annotations,
                    const std::string& spec, const std::string& kind = "ClusterServingRuntime") {
  return "{apiVersion: ome.io/v1beta1, kind: " + kind + ", metadata: {name: rt, labels: {" +
         labels + "}, annotations: {" + annotations + "}}, spec: {" + spec + "}}";
}

TEST(RuntimeLabels, Table) {
  const std::string all = "fault-scheduling: force, pod-rescheduling: 'on', fault-retry-times: '3'";
  const std::string both =
      "engineConfig: {runner: {name: e}}, decoderConfig: {runner: {name: d}}, routerConfig: "
      "{runner: {name: r}}";
  const auto fault_labels = [](const std::string& component) {
    return std::vector<std::string>{"/spec/" + component + "/labels/fault-retry-times = \"3\"",
                                    "/spec/" + component + "/labels/fault-scheduling = \"force\"",
                                    "/spec/" + component + "/labels/pod-rescheduling = \"on\""};
  };
  std::vector<std::string> decoder_and_engine = fault_labels("decoderConfig");
  for (const std::string& line : fault_labels("engineConfig")) decoder_and_engine.push_back(line);

  ExpectMutationsBy(
      "runtime-labels",
      {
          {"to engine and decoder, not to the router", Runtime(all, "", both), decoder_and_engine},
          {"a namespaced runtime",
           Runtime(all, "", "engineConfig: {runner: {name: e}}", "ServingRuntime"),
           fault_labels("engineConfig")},
          {"once for leader and worker",
           Runtime(all, "",
                   "engineConfig: {leader: {runner: {name: e}}, worker: {runner: {name: e}}}"),
           fault_labels("engineConfig")},
          {"a component's own value stays",
           Runtime("fault-scheduling: force", "sp-block: '16'",
                   "engineConfig: {labels: {fault-scheduling: grace}, annotations: {sp-block: "
                   "'8'}, runner: {name: e}}"),
           {}},
          {"other labels and annotations are not ours",
           Runtime("app: x", "huawei.com/schedule_policy: chip8-node8", both),
           {}},
          {"a value that is not a string is not copied",
           Runtime("fault-retry-times: 3", "sp-block: 16", both),
           {}},
          {"values that nothing understands are not copied to where they would be refused",
           Runtime("fault-scheduling: Force, pod-rescheduling: maybe, fault-retry-times: '-1'",
                   "sp-block: x", "engineConfig: {runner: {name: e}}"),
           {},
           "",
           {},
           "",
           {},
           {{"/spec/engineConfig/labels/fault-scheduling: the value on the runtime's own metadata "
             "has no effect",
             "/spec/engineConfig/labels/pod-rescheduling: the value on the runtime's own metadata "
             "has no effect",
             "/spec/engineConfig/labels/fault-retry-times: the value on the runtime's own metadata "
             "has no effect",
             "/spec/engineConfig/annotations/sp-block: the component does not select super-pod "
             "servers by schedule_policy or accelerator-type"}}},
          {"an InferenceService hands its metadata on by itself",
           "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s, labels: {" +
               all + "}}, spec: {engine: {runner: {name: e}}}}",
           {}},
          {"a legacy runtime has no component",
           Runtime(all, "", "containers: [{name: ome-container}]"),
           {}},
          {"components that are null or no map",
           Runtime(all, "", "engineConfig: null, decoderConfig: text"),
           {}},
      });
}

// On a pod, sp-block selects the handler of A3 super pods by itself: elsewhere it would turn a
// service that runs into one that stays Pending.
TEST(RuntimeLabels, SpBlockOnlyWhereItDividesAnInstanceOnSuperPods) {
  const auto component = [](const std::string& annotations, const std::string& chips,
                            const std::string& fields = "") {
    return "{annotations: {" + annotations + "}, " + fields +
           "runner: {name: e, resources: {limits: {huawei.com/Ascend910: " + chips + "}}}}";
  };
  const std::string policy = "huawei.com/schedule_policy: chip2-node16-sp";
  const auto nodes = [&](const std::string& workers) {
    const std::string npu = "runner: {name: e, resources: {limits: {huawei.com/Ascend910: 16}}}";
    return "{annotations: {" + policy + "}, leader: {" + npu + "}, worker: {size: " + workers +
           ", " + npu + "}}";
  };
  const std::string at = "/spec/engineConfig/annotations/sp-block";
  const std::string no_super_pod =
      at +
      ": the component does not select super-pod servers by schedule_policy or "
      "accelerator-type";
  const std::string no_divisor =
      at + ": it does not divide the chips of one instance into blocks of whole nodes";
  const auto given = [&](const std::string& engine, const std::string& block = "16") {
    return Runtime("", "sp-block: '" + block + "'", "engineConfig: " + engine);
  };
  const std::vector<std::string> copied = {at + " = \"16\""};
  const auto withheld = [](const std::string& name, const std::string& object,
                           const std::string& why) {
    return MutationCase{name, object, {}, "", {}, "", {}, {{why}}};
  };
  ExpectMutationsBy(
      "runtime-labels",
      {
          {"a policy of super pods", given(component(policy, "16")), copied},
          {"accelerator-type of super pods",
           given(component("", "16", "nodeSelector: {accelerator-type: module-a3-16-super-pod}, ")),
           copied},
          {"an instance of two nodes, whole", given(nodes("1"), "32"), {at + " = \"32\""}},
          {"an instance of two nodes, in halves", given(nodes("1")), copied},
          withheld("A2", given(component("huawei.com/schedule_policy: chip8-node8", "8")),
                   no_super_pod),
          withheld("nothing selects servers", given(component("", "16")), no_super_pod),
          withheld("A3 servers without super pod",
                   given(component("huawei.com/schedule_policy: chip2-node16", "16")),
                   no_super_pod),
          withheld("more than an instance", given(component(policy, "16"), "32"), no_divisor),
          withheld("three nodes do not make blocks of two", given(nodes("2"), "32"), no_divisor),
          withheld("part of a node", given(component(policy, "8"), "8"), no_divisor),
          withheld("not a number", given(component(policy, "16"), "x"), no_divisor),
          {"the component's own stays",
           given(component(policy + ", sp-block: '16'", "16"), "32"),
           {}},
      });
}

// The copied value is the one that every other mutator then sees.
TEST(RuntimeLabels, CopiedValuesComeBeforeDefaults) {
  ExpectMutations(
      {{"grace and off on the runtime's metadata",
        Runtime("fault-scheduling: grace, pod-rescheduling: 'off', fault-retry-times: '7'", "",
                "engineConfig: {schedulerName: volcano, runner: {name: e, env: [{name: "
                "ASCEND_VISIBLE_DEVICES}], "
                "resources: {limits: {huawei.com/Ascend910: 8}, requests: {huawei.com/Ascend910: "
                "8}}}}"),
        {"/spec/engineConfig/labels/fault-retry-times = \"7\"  (runtime-labels)",
         "/spec/engineConfig/labels/fault-scheduling = \"grace\"  (runtime-labels)",
         "/spec/engineConfig/labels/pod-rescheduling = \"off\"  (runtime-labels)"}}});
}

}  // namespace
}  // namespace mindgate::testing
