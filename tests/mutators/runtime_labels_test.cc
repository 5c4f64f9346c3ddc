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
  std::vector<std::string> decoder_and_engine = {
      "/spec/decoderConfig/annotations/sp-block = \"16\""};
  for (const std::string& line : fault_labels("decoderConfig")) decoder_and_engine.push_back(line);
  decoder_and_engine.push_back("/spec/engineConfig/annotations/sp-block = \"16\"");
  for (const std::string& line : fault_labels("engineConfig")) decoder_and_engine.push_back(line);

  ExpectMutationsBy(
      "runtime-labels",
      {
          {"to engine and decoder, not to the router", Runtime(all, "sp-block: '16'", both),
           decoder_and_engine},
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
             "has no effect"}}},
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

// The copied value is the one that every other mutator then sees.
TEST(RuntimeLabels, CopiedValuesComeBeforeDefaults) {
  ExpectMutations(
      {{"grace and off on the runtime's metadata",
        Runtime("fault-scheduling: grace, pod-rescheduling: 'off', fault-retry-times: '7'", "",
                "engineConfig: {schedulerName: volcano, runner: {name: e, env: [{name: "
                "ASCEND_VISIBLE_DEVICES}], "
                "resources: {limits: {huawei.com/Ascend910: 8}}}}"),
        {"/spec/engineConfig/labels/fault-retry-times = \"7\"  (runtime-labels)",
         "/spec/engineConfig/labels/fault-scheduling = \"grace\"  (runtime-labels)",
         "/spec/engineConfig/labels/pod-rescheduling = \"off\"  (runtime-labels)"}}});
}

}  // namespace
}  // namespace mindgate::testing
