#include <gtest/gtest.h>

#include "support/rules.h"

namespace mindgate::testing {
namespace {

std::string Storm(const std::string& spec, const std::string& role_set) {
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: s}, "
         "spec: {" +
         spec + (spec.empty() ? "" : ", ") + "template: {spec: {" + role_set + "}}}}";
}

std::string RoleSet(const std::string& spec) {
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, metadata: {name: r}, "
         "spec: {" +
         spec + "}}";
}

std::string PodSet(const std::string& spec) {
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: PodSet, metadata: {name: p}, "
         "spec: {" +
         spec + "}}";
}

constexpr char kNpuTemplate[] =
    "template: {spec: {schedulerName: volcano, containers: [{name: c, resources: {limits: "
    "{huawei.com/Ascend910: 8}}}]}}";
constexpr char kGpuTemplate[] =
    "template: {spec: {schedulerName: volcano, containers: [{name: c, resources: {limits: "
    "{nvidia.com/gpu: 8}}}]}}";

// "{name: NAME, FIELDS, template of NPUs}"
std::string NpuRole(const std::string& name, const std::string& fields) {
  return "{name: " + name + ", " + fields + (fields.empty() ? "" : ", ") + kNpuTemplate + "}";
}

std::string GpuRole(const std::string& name, const std::string& fields) {
  return "{name: " + name + ", " + fields + (fields.empty() ? "" : ", ") + kGpuTemplate + "}";
}

TEST(AibrixReplicas, Table) {
  const std::string service =
      "spec.replicas: spec.replicas is missing: AIBrix counts it as 0 and makes no RoleSet, or its "
      "controller crashes";
  ExpectFindings(
      "MG120",
      {
          {"everywhere missing",
           Storm("", "roles: [" + NpuRole("prefill", "") + ", {name: routing, template: {}}]"),
           {service,
            "spec.template.spec.roles[0].replicas: role \"prefill\" has no replicas: AIBrix counts "
            "them as 0 and makes no pods, or its controller crashes",
            "spec.template.spec.roles[1].replicas: role \"routing\" has no replicas: AIBrix counts "
            "them as 0 and makes no pods, or its controller crashes"}},
          {"written",
           Storm("replicas: 1", "roles: [" + NpuRole("prefill", "replicas: 0") + "]"),
           {}},
          {"a RoleSet has no replicas of its own",
           RoleSet("roles: [" + NpuRole("decode", "") + "]"),
           {"spec.roles[0].replicas: role \"decode\" has no replicas: AIBrix counts them as 0 and "
            "makes no pods, or its controller crashes"}},
          {"a role without name is called by its index",
           RoleSet("roles: [{" + std::string(kNpuTemplate) + "}]"),
           {"spec.roles[0].replicas: role 0 has no replicas: AIBrix counts them as 0 and makes no "
            "pods, or its controller crashes"}},
          {"GPUs", Storm("", "roles: [" + GpuRole("prefill", "") + "]"), {}},
          {"template.spec is null",
           "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {labels: "
           "{mindgate.io/inject: enabled}}, spec: {template: {spec: null}}}",
           {service}},
          {"role without template", RoleSet("roles: [{name: a}, null, 3]"), {}},
      });
}

TEST(AibrixVolcanoStrategy, Table) {
  const std::string message =
      "the PodGroup names no NPUs in minResources, so Volcano handles these pods as pods without "
      "NPUs: no chips are assigned and faults are ignored";
  const std::string empty = "schedulingStrategy: {volcanoSchedulingStrategy: {minMember: 2}}";
  ExpectFindings(
      "MG121",
      {
          {"at the RoleSet",
           Storm("replicas: 1", empty + ", roles: [" + NpuRole("p", "replicas: 1") + "]"),
           {"spec.template.spec.schedulingStrategy.volcanoSchedulingStrategy.minResources: " +
            message}},
          {"at the role",
           RoleSet("roles: [" + NpuRole("p", "podGroupSize: 2, " + empty) + "]"),
           {"spec.roles[0].schedulingStrategy.volcanoSchedulingStrategy.minResources: " + message}},
          {"in a PodSet",
           PodSet("podGroupSize: 2, " + empty + ", " + kNpuTemplate),
           {"spec.schedulingStrategy.volcanoSchedulingStrategy.minResources: " + message}},
          {"minResources without NPUs",
           PodSet("podGroupSize: 2, schedulingStrategy: {volcanoSchedulingStrategy: {minResources: "
                  "{cpu: 1}}}, " +
                  std::string(kNpuTemplate)),
           {"spec.schedulingStrategy.volcanoSchedulingStrategy.minResources: " + message}},
          {"with NPUs",
           PodSet("podGroupSize: 2, schedulingStrategy: {volcanoSchedulingStrategy: {minResources: "
                  "{huawei.com/Ascend910: '16'}}}, " +
                  std::string(kNpuTemplate)),
           {}},
          {"at a role without NPUs",
           RoleSet("roles: [" + GpuRole("g", "podGroupSize: 2, " + empty) + ", " +
                   NpuRole("p", "podGroupSize: 2") + "]"),
           {}},
          {"GPUs", RoleSet(empty + ", roles: [" + GpuRole("g", "") + "]"), {}},
          {"wrong type", RoleSet("schedulingStrategy: 3, roles: [" + NpuRole("p", "") + "]"), {}},
      });
}

TEST(AibrixSchedulingStrategy, Table) {
  const std::string message =
      "MindCluster supports NPU roles only without a schedulingStrategy: gang size and fault "
      "labels are not kept in sync with this PodGroup";
  ExpectFindings(
      "MG122",
      {
          {"complete minResources",
           RoleSet("schedulingStrategy: {volcanoSchedulingStrategy: {minResources: "
                   "{huawei.com/Ascend910: '16'}}}, roles: [" +
                   NpuRole("p", "") + "]"),
           {"spec.schedulingStrategy.volcanoSchedulingStrategy: " + message}},
          {"another scheduler's",
           RoleSet("roles: [" +
                   NpuRole("p", "schedulingStrategy: {godelSchedulingStrategy: {minMember: 1}}") +
                   "]"),
           {"spec.roles[0].schedulingStrategy.godelSchedulingStrategy: " + message}},
          {"without NPUs in minResources MG121 reports it",
           RoleSet("schedulingStrategy: {volcanoSchedulingStrategy: {}}, roles: [" +
                   NpuRole("p", "") + "]"),
           {}},
          {"none", RoleSet("roles: [" + NpuRole("p", "") + "]"), {}},
          {"GPUs",
           RoleSet("schedulingStrategy: {godelSchedulingStrategy: {}}, roles: [" +
                   GpuRole("g", "") + "]"),
           {}},
      });
}

TEST(AibrixStrategyTwice, Table) {
  const std::string strategy = "schedulingStrategy: {volcanoSchedulingStrategy: {}}";
  ExpectFindings(
      "MG123",
      {
          {"both levels",
           Storm("",
                 strategy + ", roles: [" + NpuRole("p", strategy) + ", " + NpuRole("d", "") + "]"),
           {"spec.template.spec.roles[0].schedulingStrategy: role \"p\" and the RoleSet both have "
            "a schedulingStrategy: two PodGroups claim the same pods"}},
          {"one level", RoleSet(strategy + ", roles: [" + NpuRole("p", "") + "]"), {}},
          {"GPUs", RoleSet(strategy + ", roles: [" + GpuRole("g", strategy) + "]"), {}},
      });
}

TEST(AibrixServiceReplicas, Table) {
  const std::string roles = "roles: [" + NpuRole("p", "replicas: 1") + "]";
  ExpectFindings("MG124",
                 {
                     {"several",
                      Storm("replicas: 3", roles),
                      {"spec.replicas: spec.replicas is 3, but MindCluster defines NPU services "
                       "with 1 only"}},
                     {"one", Storm("replicas: 1", roles), {}},
                     {"stopped", Storm("replicas: 0", roles), {}},
                     {"GPUs", Storm("replicas: 3", "roles: [" + GpuRole("g", "") + "]"), {}},
                 });
}

TEST(AibrixStateful, Table) {
  ExpectFindings(
      "MG125",
      {
          {"neither service nor role",
           Storm("replicas: 1", "roles: [" + NpuRole("prefill", "replicas: 1") +
                                    ", {name: routing, template: {}}]"),
           {"spec.stateful: the StormService is not stateful: names and order of its RoleSets "
            "change when they are replaced",
            "spec.template.spec.roles[0].stateful: role \"prefill\" is not stateful: a replaced "
            "instance gets another index, which the engines use as their rank"}},
          {"explicit false",
           RoleSet("roles: [" + NpuRole("prefill", "stateful: false") + "]"),
           {"spec.roles[0].stateful: role \"prefill\" is not stateful: a replaced instance gets "
            "another index, which the engines use as their rank"}},
          {"both",
           Storm("stateful: true", "roles: [" + NpuRole("prefill", "stateful: true") + "]"),
           {}},
          RefusedBefore({"another type is the API server's",
                         RoleSet("roles: [" + NpuRole("p", "stateful: 'yes'") + "]"),
                         {}}),
          {"GPUs", Storm("", "roles: [" + GpuRole("g", "") + "]"), {}},
      });
}

TEST(AibrixCpuRoleInGroup, Table) {
  const std::string router =
      "{name: routing, replicas: 1, template: {spec: {schedulerName: volcano, containers: [{name: "
      "r}]}}}";
  ExpectFindings(
      "MG126",
      {
          {"a routing role under Volcano shares the PodGroup",
           Storm("", "roles: [" + NpuRole("prefill", "podGroupSize: 1") + ", " + router + "]"),
           {"spec.template.spec.roles[1].template.spec.schedulerName: role \"routing\" has no NPUs "
            "but joins the PodGroup of the NPU roles: when Volcano sees it first, the whole group "
            "loses chip topology and rescheduling"}},
          {"NPU roles have PodGroups of their own",
           Storm("", "roles: [" + NpuRole("prefill", "podGroupSize: 2") + ", " + router + "]"),
           {}},
          {"the default scheduler's",
           RoleSet("roles: [" + NpuRole("prefill", "") +
                   ", {name: routing, template: {spec: {containers: [{name: r}]}}}]"),
           {}},
          {"GPUs", RoleSet("roles: [" + GpuRole("g", "") + ", " + router + "]"), {}},
      });
}

TEST(AibrixPodGroupSize, Table) {
  ExpectFindings(
      "MG127",
      {
          {"too small and too large",
           Storm("", "roles: [" + NpuRole("a", "podGroupSize: 0") + ", " +
                         NpuRole("b", "podGroupSize: 101") + ", " +
                         NpuRole("c", "podGroupSize: 100") + ", " + NpuRole("d", "") + "]"),
           {"spec.template.spec.roles[0].podGroupSize: podGroupSize is 0, but AIBrix accepts 1 to "
            "100: "
            "the API server refuses the object",
            "spec.template.spec.roles[1].podGroupSize: podGroupSize is 101, but AIBrix accepts 1 "
            "to "
            "100: the API server refuses the object"}},
          {"a PodSet of one",
           PodSet("podGroupSize: 1, " + std::string(kNpuTemplate)),
           {"spec.podGroupSize: podGroupSize is 1, but AIBrix accepts 2 to 100: the API server "
            "refuses the object"}},
          {"a PodSet of two", PodSet("podGroupSize: 2, " + std::string(kNpuTemplate)), {}},
          {"text is MG001's", RoleSet("roles: [" + NpuRole("a", "podGroupSize: '0'") + "]"), {}},
          {"GPUs", RoleSet("roles: [" + GpuRole("g", "podGroupSize: 0") + "]"), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
