#include "support/mutations.h"

namespace mindgate::testing {
namespace {

schemas::Config ConfigWith(schemas::EnforcementMode mode) {
  schemas::Config config;
  config.elastic_scaling.mode = mode;
  return config;
}

constexpr const char* kRule = "jobID: s, mind-cluster/scaling-rule: r, mind-cluster/group-name: g0";

std::string Pod(const std::string& labels, const std::string& spec = "",
                const std::string& metadata = "") {
  return "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {" + labels + "}" + metadata +
         "}, spec: {" + spec + "containers: [{name: a, image: i}]}}";
}

constexpr const char* kOwned =
    ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: u, controller: "
    "true}]";

TEST(ScalingGate, Table) {
  const schemas::Config enforce = ConfigWith(schemas::EnforcementMode::kEnforce);
  const std::string gate = "/spec/schedulingGates/- = {\"name\":\"mindgate.io/elastic-scaling\"}";
  const std::string gates = "/spec/schedulingGates = [{\"name\":\"mindgate.io/elastic-scaling\"}]";
  ExpectMutationsBy(
      "scaling-gate",
      {
          {.name = "a pod under a rule", .object = Pod(kRule), .want = {gate}, .config = enforce},
          {.name = "also of a controller that was injected itself",
           .object = Pod(kRule, "", kOwned),
           .want = {gate},
           .config = enforce},
          {.name = "beside ascend-operator's own gate",
           .object = Pod(kRule, "schedulingGates: [{name: other}], "),
           .want = {gate},
           .config = enforce},
          {.name = "once",
           .object = Pod(kRule, "schedulingGates: [{name: mindgate.io/elastic-scaling}], "),
           .want = {},
           .config = enforce},
          {.name = "no rule", .object = Pod("jobID: s"), .want = {}, .config = enforce},
          {.name = "without jobID nobody would open it",
           .object = Pod("mind-cluster/scaling-rule: r, mind-cluster/group-name: g0"),
           .want = {},
           .config = enforce},
          {.name = "without a group nobody would open it",
           .object = Pod("mind-cluster/scaling-rule: r, jobID: s"),
           .want = {},
           .config = enforce},
          {.name = "a pod that has its node already",
           .object = Pod(kRule, "nodeName: n, "),
           .want = {},
           .config = enforce},
          {.name = "gates that are no list",
           .object = Pod(kRule, "schedulingGates: text, "),
           .want = {},
           .config = enforce},
          {.name = "an update: gates can only go",
           .object = Pod(kRule),
           .want = {},
           .old_object = Pod(kRule),
           .config = enforce},
          {.name = "the mode observe touches nothing",
           .object = Pod(kRule),
           .want = {},
           .config = ConfigWith(schemas::EnforcementMode::kObserve)},
          {.name = "the mode off touches nothing",
           .object = Pod(kRule),
           .want = {},
           .config = ConfigWith(schemas::EnforcementMode::kOff)},
          {.name = "a namespace that is opted out",
           .object = Pod(kRule),
           .want = {},
           .namespace_label = "disabled",
           .config = enforce},
          {.name = "templates are left alone: their pods get the gate",
           .object =
               "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: "
               "{metadata: {labels: {" +
               std::string(kRule) + "}}, spec: {containers: [{name: a}]}}}}",
           .want = {},
           .config = enforce},
      });
}

TEST(ScalingGate, LabelsOfAWorkloadReachItsPods) {
  const auto deployment = [](const std::string& labels, const std::string& of_pods) {
    return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, labels: {" + labels +
           "}}, spec: {template: {metadata: {labels: {" + of_pods +
           "}}, spec: {containers: [{name: a}]}}}}";
  };
  const std::string at = "/spec/template/metadata/labels/";
  ExpectMutationsBy(
      "mindie-labels",
      {
          {.name = "what the template lacks",
           .object = deployment(std::string(kRule) + ", app: d", "app: d"),
           .want = {at + "jobID = \"s\"", at + "mind-cluster~1group-name = \"g0\"",
                    at + "mind-cluster~1scaling-rule = \"r\""}},
          {.name = "what it has stays",
           .object = deployment(kRule, "jobID: other, mind-cluster/group-name: g1"),
           .want = {at + "mind-cluster~1scaling-rule = \"r\""}},
          {.name = "no rule", .object = deployment("jobID: s", "app: d"), .want = {}},
          {.name = "which of several roles is meant is not known",
           .object = "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: "
                     "{name: s, labels: {" +
                     std::string(kRule) +
                     "}}, spec: {template: {spec: {roles: [{name: prefill, template: {spec: "
                     "{containers: [{name: a}]}}}, {name: routing, template: {spec: {containers: "
                     "[{name: a}]}}}]}}}}",
           .want = {}},
      });
}

// A gang of instances that are let in one by one could never start.
TEST(ScalingGate, NoGangOfInstancesThatWaitForEachOther) {
  const auto service = [](const std::string& labels) {
    return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: "
           "s}, spec: {replicas: 1, template: {spec: {roles: [{name: prefill, replicas: 2, "
           "template: {metadata: {labels: {" +
           labels +
           "}}, spec: {schedulerName: volcano, containers: [{name: a, resources: {limits: "
           "{huawei.com/Ascend910: 8}}}]}}}]}}}}";
  };
  const std::string at =
      "/spec/template/spec/roles/0/template/metadata/annotations/huawei.com~1schedule_minAvailable";
  ExpectMutationsBy("min-available",
                    {
                        {.name = "enforced",
                         .object = service(kRule),
                         .want = {},
                         .config = ConfigWith(schemas::EnforcementMode::kEnforce)},
                        {.name = "observed", .object = service(kRule), .want = {at + " = \"2\""}},
                        {.name = "no rule",
                         .object = service("a: b"),
                         .want = {at + " = \"2\""},
                         .config = ConfigWith(schemas::EnforcementMode::kEnforce)},
                    });
}

// Without a gang size MindCluster's plugin takes all live replicas of a ReplicaSet for its gang,
// and those behind the gate are live: nothing would ever run.
TEST(ScalingGate, ReplicasOfADeploymentAreGangsOfOne) {
  const auto deployment = [](const std::string& more) {
    return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 4, "
           "template: {metadata: {labels: {" +
           std::string(kRule) + "}" + more +
           "}, spec: {schedulerName: volcano, containers: [{name: a, resources: {limits: "
           "{huawei.com/Ascend910: 8}}}]}}}}";
  };
  const std::string at = "/spec/template/metadata/annotations/huawei.com~1schedule_minAvailable";
  ExpectMutationsBy(
      "min-available",
      {
          {.name = "enforced",
           .object = deployment(""),
           .want = {at + " = \"1\""},
           .config = ConfigWith(schemas::EnforcementMode::kEnforce)},
          {.name = "a person's value stays",
           .object = deployment(", annotations: {huawei.com/schedule_minAvailable: \"2\"}"),
           .want = {},
           .config = ConfigWith(schemas::EnforcementMode::kEnforce)},
          {.name = "observed", .object = deployment(""), .want = {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
