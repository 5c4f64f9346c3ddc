#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

constexpr std::string_view kNpus8 = "resources: {limits: {huawei.com/Ascend910: 8}}";

// A Deployment whose pods have these containers, and what else the pod spec says.
std::string WithContainers(const std::string& containers, const std::string& more = "",
                           const std::string& selector = "module-a3-16") {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: "
         "{schedulerName: volcano, nodeSelector: {accelerator-type: " +
         selector + "}, " + more + "containers: [" + containers + "]}}}";
}

std::string Container(const std::string& name, std::string_view resources) {
  return "{name: " + name + ", " + std::string(resources) + "}";
}

TEST(OneNpuContainer, Table) {
  const auto second = [](std::string_view field, std::string_view name) {
    return std::string(field) + ": container \"" + std::string(name) +
           "\" is not the only one of its pod that asks for NPUs: Ascend Device Plugin serves one "
           "container of a pod, and the pod never starts";
  };
  const std::string limits = ".resources.limits[huawei.com/Ascend910]";
  const std::string two = Container("a", kNpus8) + ", " + Container("b", kNpus8);
  ExpectFindings(
      "MG005",
      {
          {"two", WithContainers(two), {second("spec.template.spec.containers[1]" + limits, "b")}},
          {"every further one",
           WithContainers(two + ", " + Container("c", kNpus8)),
           {second("spec.template.spec.containers[1]" + limits, "b"),
            second("spec.template.spec.containers[2]" + limits, "c")}},
          {"one and a sidecar", WithContainers(Container("a", kNpus8) + ", {name: proxy}"), {}},
          {"a sidecar that asks for none",
           WithContainers(Container("a", kNpus8) + ", " +
                          Container("b", "resources: {limits: {huawei.com/Ascend910: 0}}")),
           {}},
          {"one that takes the whole node is served without the annotation",
           WithContainers(Container("a", "resources: {limits: {huawei.com/Ascend910: 16}}") + ", " +
                          Container("b", kNpus8)),
           {}},
          {"slices cut beforehand are handed out by the kubelet",
           WithContainers(Container("a", "resources: {limits: {huawei.com/Ascend910-4c: 1}}") +
                          ", " +
                          Container("b", "resources: {limits: {huawei.com/Ascend910-4c: 1}}")),
           {}},
          {"slices cut by the scheduler are not",
           WithContainers(Container("a", "resources: {limits: {huawei.com/npu-core: 4}}") + ", " +
                          Container("b", "resources: {limits: {huawei.com/npu-core: 4}}")),
           {second("spec.template.spec.containers[1].resources.limits[huawei.com/npu-core]", "b")}},
          {"a bare pod",
           "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [" + two + "]}}",
           {second("spec.containers[1].resources.limits[huawei.com/Ascend910]", "b")}},
          {"beside the runner of the runtime",
           "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: i}\nspec: "
           "{runtime: {name: r}, engine: {schedulerName: volcano, containers: [" +
               Container("b", kNpus8) + "]}}",
           {second("spec.engine.containers[0]" + limits, "b")},
           "",
           {ServingRuntime({})}},
          {"merged with the runner of the runtime",
           "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: i}\nspec: "
           "{runtime: {name: r}, engine: {schedulerName: volcano, runner: " +
               Container("engine", kNpus8) + "}}",
           {},
           "",
           {ServingRuntime({})}},
          {"under a misspelled scheduler all faults are reported at once",
           "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: Volcano, "
           "containers: [" +
               two + "]}}",
           {second("spec.containers[1].resources.limits[huawei.com/Ascend910]", "b")}},
          {"another scheduler's pods are served otherwise",
           "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: kai, "
           "containers: [" +
               two + "]}}",
           {}},
      });
}

TEST(NpuInitContainer, Table) {
  const auto init = [](const std::string& resources) {
    return "initContainers: [" + Container("warm-up", resources) + "], ";
  };
  const std::string message =
      "spec.template.spec.initContainers[0].resources.limits[huawei.com/Ascend910]: init container "
      "\"warm-up\" asks for NPUs, which Ascend Device Plugin gives to one main container of a pod "
      "only: the pod never starts";
  ExpectFindings(
      "MG006",
      {
          {"beside a main container",
           WithContainers(Container("a", kNpus8), init(std::string(kNpus8))),
           {message}},
          {"alone", WithContainers("{name: a}", init(std::string(kNpus8))), {message}},
          {"the whole node",
           WithContainers(Container("a", "resources: {limits: {huawei.com/Ascend910: 16}}"),
                          init("resources: {limits: {huawei.com/Ascend910: 16}}")),
           {}},
          {"on CPUs", WithContainers(Container("a", kNpus8), init("image: i")), {}},
      });
}

TEST(BareNpuResource, Table) {
  const auto bare = [](std::string_view field, std::string_view name) {
    return "spec.template.spec.containers[0].resources." + std::string(field) + ": resource \"" +
           std::string(name) + "\" lacks its domain, did you mean \"huawei.com/" +
           std::string(name) + "\"? Kubernetes refuses pods with a resource of this name";
  };
  ExpectFindings(
      "MG007",
      {
          {"requests and limits",
           WithContainers(
               Container("a", "resources: {requests: {Ascend910: 8}, limits: {Ascend910: 8}}")),
           {bare("requests.Ascend910", "Ascend910"), bare("limits.Ascend910", "Ascend910")}},
          {"npu-core",
           WithContainers(Container("a", "resources: {limits: {npu-core: '4'}}")),
           {bare("limits[npu-core]", "npu-core")}},
          {"in a role of AIBrix",
           StormService({.resource = "npu"}, {}),
           {"spec.template.spec.roles[0].template.spec.containers[0].resources.requests.npu: "
            "resource \"npu\" lacks its domain, did you mean \"huawei.com/npu\"? Kubernetes "
            "refuses pods with a resource of this name",
            "spec.template.spec.roles[0].template.spec.containers[0].resources.limits.npu: "
            "resource \"npu\" lacks its domain, did you mean \"huawei.com/npu\"? Kubernetes "
            "refuses pods with a resource of this name"}},
          {"with its domain", Deployment({}), {}},
          {"cpu and memory",
           WithContainers(Container("a", "resources: {limits: {cpu: 8, memory: 1Gi}}")),
           {}},
      });
}

TEST(NodeName, Table) {
  const std::string message =
      "nodeName \"n1\" bypasses the scheduler: nobody chooses chips for these pods, and Ascend "
      "Device Plugin refuses to start them unless they take all chips of the node";
  const std::string pod =
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n1, containers: [" +
      Container("a", kNpus8) + "]}}";
  ExpectFindings(
      "MG008",
      {
          {"in a template",
           WithContainers(Container("a", kNpus8), "nodeName: n1, "),
           {"spec.template.spec.nodeName: " + message}},
          {"a bare pod", pod, {"spec.nodeName: " + message}},
          {"a pod that runs is bound rightly", pod, {}, pod},
          {"a pod of a controller",
           "{apiVersion: v1, kind: Pod, metadata: {name: p, ownerReferences: [{apiVersion: x/v1, "
           "kind: Y, name: y, controller: true}]}, spec: {nodeName: n1, containers: [" +
               Container("a", kNpus8) + "]}}",
           {}},
          {"without NPUs", WithContainers("{name: a}", "nodeName: n1, "), {}},
          {"empty", WithContainers(Container("a", kNpus8), "nodeName: '', "), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
