#include "support/rules.h"

namespace mindgate::testing {
namespace {

std::string Storm(const std::string& spec) {
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: s}, "
         "spec: {replicas: 1, template: {spec: {" +
         spec + "}}}}";
}

TEST(MisspelledField, Table) {
  const auto dropped = [](std::string_view field, std::string_view key, std::string_view meant) {
    return std::string(field) + ": there is no field \"" + std::string(key) +
           "\", did you mean \"" + std::string(meant) +
           "\"? The API server drops it, and the object is as if it were not written";
  };
  ExpectFindings(
      "MG128",
      {
          {"podgroupSize",
           Storm("roles: [{name: a, replicas: 1, podgroupSize: 4, template: {}}]"),
           {dropped("spec.template.spec.roles[0].podgroupSize", "podgroupSize", "podGroupSize")}},
          {"role instead of roles",
           Storm("role: [{name: a}]"),
           {dropped("spec.template.spec.role", "role", "roles")}},
          {"of a RoleSet",
           "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, metadata: {name: s}, "
           "spec: {roles: [{name: a, replica: 1}]}}",
           {dropped("spec.roles[0].replica", "replica", "replicas")}},
          {"of infer-operator",
           "{apiVersion: mindcluster.huawei.com/v1, kind: InferServiceSet, metadata: {name: s}, "
           "spec: {template: {role: []}}}",
           {dropped("spec.template.role", "role", "roles")}},
          {"in a role of infer-operator",
           "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, metadata: {name: s}, spec: "
           "{roles: [{name: a, workLoad: {}}]}}",
           {dropped("spec.roles[0].workLoad", "workLoad", "workload")}},
          {"in a replica type of an AscendJob",
           "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: j}, spec: "
           "{replicaSpecs: {Worker: {replocas: 2, template: {}}}}}",
           {dropped("spec.replicaSpecs.Worker.replocas", "replocas", "replicas")}},
          {"in a task of a vcjob",
           "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}, spec: {tasks: "
           "[{name: a, replocas: 2, template: {}}]}}",
           {dropped("spec.tasks[0].replocas", "replocas", "replicas")}},
          {"right in both",
           "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}, spec: {tasks: "
           "[{name: a, replicas: 2, policies: [], template: {}}]}}",
           {}},
          {"right",
           Storm("roles: [{name: a, replicas: 1, podGroupSize: 4, stateful: true, template: {}}]"),
           {}},
          {"beside the right one",
           Storm("roles: [{name: a, replicas: 1, replica: 2, template: {}}]"),
           {}},
          {"far from any", Storm("roles: [{name: a, upgradeOrder: 1, dependencies: []}]"), {}},
          {"not roles at all", Storm("roles: 3"), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
