#include "support/mutations.h"

namespace mindgate::testing {
namespace {

using json::Json;
using schemas::Kind;

void ExpectVisibleDevices(std::vector<MutationCase> cases) {
  ExpectMutationsBy("visible-devices", std::move(cases));
}

std::string Env(const std::string& container,
                const std::string& resource = "huawei.com/Ascend910") {
  return container +
         R"(/env/- = {"name":"ASCEND_VISIBLE_DEVICES","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations[')" +
         resource + R"(']"}}})";
}

TEST(VisibleDevices, EveryKind) {
  ExpectVisibleDevices(
      EveryKind([](const Injected& row) { return std::vector{Env(row.container())}; }));
}

std::string DeploymentWith(const std::string& pod_spec, const std::string& metadata = "{}") {
  return "{apiVersion: apps/v1, kind: Deployment, spec: {template: {metadata: " + metadata +
         ", spec: " + pod_spec + "}}}";
}

TEST(VisibleDevices, Resource) {
  const std::string path = "/spec/template/spec/containers/0";
  const std::string vnpu =
      "/spec/template/spec/containers/0/env: a virtual NPU is mounted by the device plugin; the "
      "variable must be absent";
  const auto with = [](const std::string& resources) {
    return DeploymentWith("{containers: [{name: a, resources: " + resources + "}]}");
  };
  ExpectVisibleDevices({
      {"Ascend310P",
       with("{requests: {huawei.com/Ascend310P: '1'}}"),
       {Env(path, "huawei.com/Ascend310P")}},
      {"Ascend310",
       with("{limits: {huawei.com/Ascend310: 1}}"),
       {Env(path, "huawei.com/Ascend310")}},
      {"huawei.com/npu selects its own annotation",
       with("{limits: {huawei.com/npu: 8}}"),
       {Env(path, "huawei.com/npu")}},
      {"a static virtual NPU gets none",
       with("{limits: {huawei.com/Ascend310P-2c: 1}}"),
       {},
       "",
       {},
       "",
       {},
       {{vnpu}}},
      {"a static virtual NPU with CPUs gets none",
       with("{limits: {huawei.com/Ascend910-12c.3cpu.32g: 1}}"),
       {},
       "",
       {},
       "",
       {},
       {{vnpu}}},
      {"a dynamic virtual NPU gets none",
       with("{limits: {huawei.com/npu-core: 2}}"),
       {},
       "",
       {},
       "",
       {},
       {{vnpu}}},
      {"another device of the vendor gets none",
       with("{limits: {huawei.com/rdma: 1}}"),
       {},
       "",
       {},
       "",
       {},
       {{}}},
      {"another device beside an NPU does not matter",
       with("{limits: {huawei.com/Ascend910: 8, huawei.com/rdma: 1}}"),
       {Env(path)}},
      {"two products: the variable could name one only",
       with("{limits: {huawei.com/Ascend910: 8, huawei.com/Ascend310P: 1}}"),
       {},
       "",
       {},
       "",
       {},
       {{"/spec/template/spec/containers/0/env: the container requests two NPU products, and the "
         "variable can name only one"}}},
      {"one of two products requested with zero",
       with("{limits: {huawei.com/Ascend910: 8, huawei.com/Ascend310P: 0}}"),
       {Env(path)}},
      {"a quantity as text", with("{limits: {huawei.com/Ascend910: '8'}}"), {Env(path)}},
  });
}

// As `kubectl apply` merges a manifest without the variable into what was injected.
TEST(VisibleDevices, WhatAnUpdateLeavesBehindFollows) {
  const std::string env = "/spec/template/spec/containers/0/env";
  const auto container = [](const std::string& requests, const std::string& limits,
                            const std::string& field_path) {
    return DeploymentWith("{containers: [{name: a, resources: {requests: " + requests +
                          ", limits: " + limits +
                          "}, env: [{name: A}, {name: ASCEND_VISIBLE_DEVICES, valueFrom: "
                          "{fieldRef: {apiVersion: v1, fieldPath: \"" +
                          field_path + "\"}}}, {name: B}]}]}");
  };
  const std::string before = "{huawei.com/Ascend910: 8}";
  const std::string reads = "metadata.annotations['huawei.com/Ascend910']";
  const std::string old = container(before, before, reads);
  const std::string gone = env + R"( = [{"name":"A"},{"name":"B"}])";
  ExpectVisibleDevices({
      {"another product",
       container(before, "{huawei.com/npu: 8}", reads),
       {env + R"(/1/valueFrom/fieldRef/fieldPath = "metadata.annotations['huawei.com/npu']")"},
       old},
      {"another product, in both",
       container("{huawei.com/npu: 8}", "{huawei.com/npu: 8}", reads),
       {env + R"(/1/valueFrom/fieldRef/fieldPath = "metadata.annotations['huawei.com/npu']")"},
       old},
      {"a slice", container(before, "{huawei.com/Ascend910-4c: 1}", reads), {gone}, old},
      {"no NPUs any more", container(before, "{}", reads), {gone}, old},
      {"another amount", container(before, "{huawei.com/Ascend910: 4}", reads), {}, old},
      {"a variable of the user's",
       container(before, "{huawei.com/npu: 8}", "metadata.annotations['mine']"),
       {},
       container(before, before, "metadata.annotations['mine']")},
      {"a variable that the update writes",
       container(before, "{huawei.com/npu: 8}", reads),
       {},
       container(before, before, "metadata.annotations['mine']")},
  });
}

TEST(VisibleDevices, Containers) {
  const std::string npu = "resources: {limits: {huawei.com/Ascend910: 8}}";
  const std::string containers = "/spec/template/spec/containers/";
  ExpectVisibleDevices({
      {"a sidecar at index 0 requests no NPUs",
       DeploymentWith("{containers: [{name: aibrix-runtime}, {name: engine, " + npu +
                      "}, {name: mesh}]}"),
       {Env(containers + "1")}},
      {"every container that requests NPUs",
       DeploymentWith("{containers: [{name: a, " + npu + "}, {name: b, " + npu + "}]}"),
       {Env(containers + "0"), Env(containers + "1")}},
      {"an init container that requests NPUs",
       DeploymentWith("{initContainers: [{name: check, " + npu + "}], containers: [{name: a}]}"),
       {Env("/spec/template/spec/initContainers/0")}},
      {"the list exists",
       DeploymentWith("{containers: [{name: a, env: [{name: X, value: '1'}], " + npu + "}]}"),
       {Env(containers + "0")}},
      {"the list is empty",
       DeploymentWith("{containers: [{name: a, env: [], " + npu + "}]}"),
       {Env(containers + "0")}},
      {"the list is null",
       DeploymentWith("{containers: [{name: a, env: null, " + npu + "}]}"),
       {Env(containers + "0")}},
      {"the list is none",
       DeploymentWith("{containers: [{name: a, env: {X: 1}, " + npu + "}]}"),
       {}},
      {"entries of odd types",
       DeploymentWith("{containers: [{name: a, env: [1, null, {}], " + npu + "}]}"),
       {Env(containers + "0")}},
      {"set with a value",
       DeploymentWith(
           "{containers: [{name: a, env: [{name: ASCEND_VISIBLE_DEVICES, value: '0'}], " + npu +
           "}]}"),
       {}},
      {"set to nothing",
       DeploymentWith("{containers: [{name: a, env: [{name: ASCEND_VISIBLE_DEVICES}], " + npu +
                      "}]}"),
       {}},
      {"set from another annotation",
       DeploymentWith(
           "{containers: [{name: a, env: [{name: ASCEND_VISIBLE_DEVICES, valueFrom: {fieldRef: "
           "{fieldPath: \"metadata.annotations['x']\"}}}], " +
           npu + "}]}"),
       {}},
      {"two variables whose names differ in case are two",
       DeploymentWith(
           "{containers: [{name: a, env: [{name: ascend_visible_devices, value: '0'}], " + npu +
           "}]}"),
       {Env(containers + "0")}},
      {"another scheduler writes no annotation",
       DeploymentWith("{schedulerName: mine, containers: [{name: a, " + npu + "}]}"),
       {},
       "",
       {},
       "",
       {},
       {{containers + "0/env: only Volcano writes the annotation that the variable reads"}}},
      {"default-scheduler will be volcano",
       DeploymentWith("{schedulerName: default-scheduler, containers: [{name: a, " + npu + "}]}"),
       {Env(containers + "0")}},
      {"a job that names another scheduler",
       "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, spec: {schedulerName: mine, "
       "replicaSpecs: "
       "{Worker: {template: {spec: {containers: [{name: ascend, " +
           npu + "}]}}}}}}",
       {}},
      {"softly shared chips, by policy",
       DeploymentWith("{containers: [{name: a, " + npu + "}]}",
                      "{annotations: {huawei.com/schedule_policy: chip1-softShareDev}}"),
       {},
       "",
       {},
       "",
       {},
       {{containers + "0/env: the chips are shared softly; the variable must be absent"}}},
      {"softly shared chips, by label",
       DeploymentWith("{containers: [{name: a, " + npu + "}]}",
                      "{labels: {huawei.com/scheduler.softShareDev.aicoreQuota: '10'}}"),
       {}},
      {"another policy",
       DeploymentWith("{containers: [{name: a, " + npu + "}]}",
                      "{annotations: {huawei.com/schedule_policy: chip8-node8}}"),
       {Env(containers + "0")}},
      {"opted in without NPUs: nothing says which resource",
       R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"labels": {"mindgate.io/inject": "enabled"}},
           "spec": {"template": {"spec": {"containers": [{"name": "a"}]}}}})",
       {}},
  });
}

// Runtime and service are merged by container; an entry with `value` from one side and `valueFrom`
// from the other is refused by the API server.
TEST(VisibleDevices, OmeRuntimeAndService) {
  const auto runtime = [](const std::string& component) {
    return std::vector<std::string>{
        "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: rt}, spec: "
        "{engineConfig: " +
        component + "}}"};
  };
  const auto service = [](const std::string& engine) {
    return "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s, namespace: "
           "n}, spec: "
           "{runtime: {name: rt}, engine: " +
           engine + "}}";
  };
  const std::string npu = "resources: {limits: {huawei.com/Ascend910: 8}}";
  const std::string by_runtime = "/env: the runtime sets the variable for this container";
  ExpectVisibleDevices({
      {"the runtime sets it with `value`, the service gets no `valueFrom` twin",
       service("{runner: {name: e, " + npu + "}}"),
       {},
       "",
       runtime("{runner: {name: e, env: [{name: ASCEND_VISIBLE_DEVICES, value: '0'}], " + npu +
               "}}"),
       "",
       {},
       {{"/spec/engine/runner" + by_runtime}}},
      {"also in a service that leaves the NPUs to the runtime",
       service("{runner: {name: e}}"),
       {},
       "",
       runtime("{runner: {name: e, env: [{name: ASCEND_VISIBLE_DEVICES, value: '0'}], " + npu +
               "}}")},
      {"the runtime lacks it: the service's runner has it",
       service("{runner: {name: e}}"),
       {Env("/spec/engine/runner")},
       "",
       runtime("{runner: {name: e, " + npu + "}}")},
      {"a service without a runner never gains one",
       service("{minReplicas: 1}"),
       {},
       "",
       runtime("{runner: {name: e, " + npu + "}}")},
      {"the runtime's product counts, where the service names none",
       service("{runner: {name: e}}"),
       {Env("/spec/engine/runner", "huawei.com/npu")},
       "",
       runtime("{runner: {name: e, resources: {limits: {huawei.com/npu: 8}}}}")},
      {"containers meet by name",
       service("{containers: [{name: b, " + npu + "}]}"),
       {Env("/spec/engine/containers/0")},
       "",
       runtime("{containers: [{name: a, env: [{name: ASCEND_VISIBLE_DEVICES, value: '0'}]}]}")},
      {"leader and worker meet their own",
       service("{leader: {runner: {name: e}}, worker: {runner: {name: e}}}"),
       {Env("/spec/engine/worker/runner")},
       "",
       runtime("{leader: {runner: {name: e, env: [{name: ASCEND_VISIBLE_DEVICES, value: '0'}], " +
               npu + "}}, worker: {runner: {name: e, " + npu + "}}}")},
      {"a runtime that nobody knows",
       service("{runner: {name: e, " + npu + "}}"),
       {Env("/spec/engine/runner")}},
  });
}

}  // namespace
}  // namespace mindgate::testing
