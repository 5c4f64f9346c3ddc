#include "support/mutations.h"

// Null, missing and wrongly typed members: nothing crashes, nothing is written below them.
namespace mindgate::testing {
namespace {

TEST(OddShapes, Table) {
  const auto object = [](const std::string& type, const std::string& spec) {
    return "{" + type + ", metadata: {labels: {mindgate.io/inject: enabled}}, spec: " + spec + "}";
  };
  const std::string storm = "apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService";
  const std::string role_set = "apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet";
  const std::string infer = "apiVersion: mindcluster.huawei.com/v1, kind: InferService";
  const std::string deployment = "apiVersion: apps/v1, kind: Deployment";
  ExpectMutations({
      {"StormService with spec.template.spec: null", object(storm, "{template: {spec: null}}"), {}},
      {"StormService with spec.template: null", object(storm, "{template: null}"), {}},
      {"StormService with roles: null", object(storm, "{template: {spec: {roles: null}}}"), {}},
      {"RoleSet role without template", object(role_set, "{roles: [{name: a, replicas: 1}]}"), {}},
      {"RoleSet role that is null", object(role_set, "{roles: [null, 3]}"), {}},
      {"InferService role without spec", object(infer, "{roles: [{name: a}]}"), {}},
      {"InferService role whose spec has no template",
       object(infer, "{roles: [{name: a, spec: {}}]}"),
       {}},
      {"a Deployment whose template is no map", object(deployment, "{template: text}"), {}},
      {"a Deployment whose pod spec is no map", object(deployment, "{template: {spec: 5}}"), {}},
      {"a Deployment whose template metadata is no map: the pod spec is still ours",
       object(deployment, "{template: {metadata: [], spec: {containers: []}}}"),
       {R"(/spec/template/spec/schedulerName = "volcano"  (scheduler-name))"}},
      {"containers of odd types",
       object(deployment,
              "{template: {metadata: 1, spec: {schedulerName: mine, containers: [null, 3, {}, "
              "{resources: 5}, "
              "{resources: {limits: [huawei.com/Ascend910]}}]}}}"),
       {}},
      {"a job whose metadata is no map",
       "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: text, spec: {replicaSpecs: "
       "{Worker: {template: {spec: "
       "{schedulerName: volcano, containers: [{env: [{name: ASCEND_VISIBLE_DEVICES}], resources: "
       "{limits: {huawei.com/Ascend910: 8}, requests: {huawei.com/Ascend910: 8}}}]}}}}}}",
       {}},
      {"a job whose spec is no map",
       "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {labels: "
       "{mindgate.io/inject: enabled}}, spec: 7}",
       {}},
      {"an object of nothing but its kind", "{apiVersion: apps/v1, kind: Deployment}", {}},
  });
}

}  // namespace
}  // namespace mindgate::testing
