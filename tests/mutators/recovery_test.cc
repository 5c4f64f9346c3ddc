#include "support/mutations.h"

namespace mindgate::testing {
namespace {

using schemas::Kind;

std::string Pod(const std::string& labels, const std::string& annotations,
                const std::string& spec = "") {
  return "{metadata: {labels: {" + labels + "}, annotations: {" + annotations + "}}, spec: {" +
         spec + "containers: [{name: e, resources: {limits: {huawei.com/Ascend910: 8}}}]}}";
}

std::string Deployment(const std::string& pod) {
  return "{apiVersion: apps/v1, kind: Deployment, spec: {template: " + pod + "}}";
}

std::string Storm(const std::string& pod, const std::string& fields = "replicas: 1") {
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, spec: {template: "
         "{spec: {roles: [{name: p, " +
         fields + ", template: " + pod + "}]}}}}";
}

const std::string kStormPod = "/spec/template/spec/roles/0/template";

TEST(RecoverPolicy, Table) {
  const std::string set = "/huawei.com~1recover_policy_path = \"pod\"";
  const std::string on = "pod-rescheduling: 'on'";
  ExpectMutationsBy(
      "recover-policy",
      {
          {"beside pod-rescheduling on a Deployment",
           Deployment(Pod(on, "")),
           {"/spec/template/metadata/annotations" + set}},
          {"beside pod-rescheduling on a StormService",
           Storm(Pod(on, "")),
           {kStormPod + "/metadata/annotations" + set}},
          {"beside pod-rescheduling on a RoleSet",
           "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, spec: {roles: [{name: p, "
           "replicas: 1, template: " +
               Pod(on, "") + "}]}}",
           {"/spec/roles/0/template/metadata/annotations" + set}},
          {"not without pod-rescheduling", Deployment(Pod("", "")), {}},
          {"not when it is switched off", Deployment(Pod("pod-rescheduling: 'off'", "")), {}},
          {"not when it is no string", Deployment(Pod("pod-rescheduling: true", "")), {}},
          {"a value of the user stays",
           Deployment(Pod(on, "huawei.com/recover_policy_path: 'pod,job'")),
           {}},
          {"a value of another type stays",
           Deployment(Pod(on, "huawei.com/recover_policy_path: true")),
           {}},
          {"OME assumes it by itself",
           "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, spec: {engineConfig: "
           "{labels: {" +
               on + "}, runner: {resources: {limits: {huawei.com/Ascend910: 8}}}}}}",
           {}},
          {"not on a StatefulSet",
           "{apiVersion: apps/v1, kind: StatefulSet, spec: {template: " + Pod(on, "") + "}}",
           {}},
          {"not on a CPU-only Deployment",
           Deployment("{metadata: {labels: {" + on + "}}, spec: {containers: [{name: a}]}}"),
           {}},
      });
}

TEST(RecoverPolicy, GoesWithWhatPodReschedulingInjects) {
  schemas::Config config;
  for (const auto& mutator : mutators::Mutators()) {
    if (mutator.name != "pod-rescheduling" && mutator.name != "recover-policy") {
      config.disabled_mutators.emplace(mutator.name);
    }
  }
  ExpectMutations({
      {"Deployment",
       Deployment(Pod("", "")),
       {"/spec/template/metadata/annotations/huawei.com~1recover_policy_path = \"pod\"  "
        "(recover-policy)",
        "/spec/template/metadata/labels/pod-rescheduling = \"on\"  (pod-rescheduling)"},
       "",
       {},
       "",
       config},
      {"StormService",
       Storm(Pod("", "")),
       {kStormPod +
            "/metadata/annotations/huawei.com~1recover_policy_path = \"pod\"  (recover-policy)",
        kStormPod + "/metadata/labels/pod-rescheduling = \"on\"  (pod-rescheduling)"},
       "",
       {},
       "",
       config},
      {"StormService with podGroupSize 2",
       Storm(Pod("", ""), "replicas: 1, podGroupSize: 2"),
       {},
       "",
       {},
       "",
       config},
  });
}

TEST(RestartPolicy, Table) {
  const std::string retries = "fault-retry-times: '10'";
  const std::string never = kStormPod + "/spec/restartPolicy = \"Never\"";
  ExpectMutationsBy(
      "restart-policy",
      {
          {"a role that counts retries", Storm(Pod(retries, "")), {never}},
          {"also with podGroupSize",
           Storm(Pod(retries, ""), "replicas: 1, podGroupSize: 2"),
           {never}},
          {"a RoleSet",
           "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, spec: {roles: [{name: p, "
           "replicas: 1, template: " +
               Pod(retries, "") + "}]}}",
           {"/spec/roles/0/template/spec/restartPolicy = \"Never\""}},
          {"a PodSet",
           "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: PodSet, spec: {template: " +
               Pod(retries, "") + "}}",
           {"/spec/template/spec/restartPolicy = \"Never\""}},
          {"no retries", Storm(Pod("", "")), {}},
          {"zero retries", Storm(Pod("fault-retry-times: '0'", "")), {}},
          {"retries that do not parse", Storm(Pod("fault-retry-times: ' 3'", "")), {}},
          {"retries as a number", Storm(Pod("fault-retry-times: 3", "")), {}},
          {"set by the user", Storm(Pod(retries, "", "restartPolicy: Always, ")), {}},
          {"with rescheduling off nobody counts",
           Storm(Pod(retries + ", fault-scheduling: 'off'", "")),
           {}},
          {"another scheduler counts nothing",
           Storm(Pod(retries, "", "schedulerName: mine, ")),
           {}},
          {"a role without NPUs",
           Storm("{metadata: {labels: {" + retries + "}}, spec: {containers: [{name: r}]}}"),
           {}},
          {"a Deployment must restart always", Deployment(Pod(retries, "")), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
