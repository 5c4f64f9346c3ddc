#include "support/mutations.h"

namespace mindgate::testing {
namespace {

using schemas::Kind;

std::string PodWith(const std::string& labels, const std::string& annotations,
                    const std::string& spec = "") {
  return "{metadata: {labels: {" + labels + "}, annotations: {" + annotations + "}}, spec: {" +
         spec + "containers: [{name: e, resources: {limits: {huawei.com/Ascend910: 8}}}]}}";
}

std::string DeploymentOf(const std::string& pod) {
  return "{apiVersion: apps/v1, kind: Deployment, spec: {template: " + pod + "}}";
}

std::string StormOf(const std::string& pod, const std::string& fields = "replicas: 1") {
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, spec: {template: "
         "{spec: {roles: [{name: p, " +
         fields + ", template: " + pod + "}]}}}}";
}

const std::string kStormPod = "/spec/template/spec/roles/0/template";

TEST(RecoverPolicy, OnlyBesideWhatIsInjected) {
  const std::string on = "pod-rescheduling: 'on'";
  ExpectMutationsBy(
      "recover-policy",
      {
          {"the user's own label on a Deployment", DeploymentOf(PodWith(on, "")), {}},
          {"the user's own label on a StormService", StormOf(PodWith(on, "")), {}},
          {"no label", DeploymentOf(PodWith("", "")), {}},
          {"not on a CPU-only Deployment",
           DeploymentOf("{metadata: {labels: {" + on + "}}, spec: {containers: [{name: a}]}}"),
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
       DeploymentOf(PodWith("", "", "schedulerName: volcano, ")),
       {"/spec/template/metadata/annotations/huawei.com~1recover_policy_path = \"pod\"  "
        "(recover-policy)",
        "/spec/template/metadata/labels/pod-rescheduling = \"on\"  (pod-rescheduling)"},
       "",
       {},
       "",
       config},
      {"StatefulSet",
       "{apiVersion: apps/v1, kind: StatefulSet, spec: {template: " +
           PodWith("", "", "schedulerName: volcano, ") + "}}",
       {"/spec/template/metadata/annotations/huawei.com~1recover_policy_path = \"pod\"  "
        "(recover-policy)",
        "/spec/template/metadata/labels/pod-rescheduling = \"on\"  (pod-rescheduling)"},
       "",
       {},
       "",
       config},
      {"a value of the user's stays",
       DeploymentOf(
           PodWith("", "huawei.com/recover_policy_path: 'pod,job'", "schedulerName: volcano, ")),
       {"/spec/template/metadata/labels/pod-rescheduling = \"on\"  (pod-rescheduling)"},
       "",
       {},
       "",
       config},
      {"a value of another type stays",
       DeploymentOf(
           PodWith("", "huawei.com/recover_policy_path: true", "schedulerName: volcano, ")),
       {"/spec/template/metadata/labels/pod-rescheduling = \"on\"  (pod-rescheduling)"},
       "",
       {},
       "",
       config},
      {"OME assumes it by itself",
       "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, spec: {engineConfig: "
       "{schedulerName: volcano, runner: "
       "{resources: {limits: {huawei.com/Ascend910: 8}}}}}}",
       {"/spec/engineConfig/labels/pod-rescheduling = \"on\"  (pod-rescheduling)"},
       "",
       {},
       "",
       config},
      {"all pods of the group, as the scheduler reads any of them",
       "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, spec: {roles: [{name: p, "
       "replicas: 1, template: " +
           PodWith("pod-rescheduling: 'on'", "", "schedulerName: volcano, ") +
           "}, {name: d, replicas: 1, template: " + PodWith("", "", "schedulerName: volcano, ") +
           "}]}}",
       {"/spec/roles/0/template/metadata/annotations/huawei.com~1recover_policy_path = \"pod\"  "
        "(recover-policy)",
        "/spec/roles/1/template/metadata/annotations/huawei.com~1recover_policy_path = \"pod\"  "
        "(recover-policy)",
        "/spec/roles/1/template/metadata/labels/pod-rescheduling = \"on\"  (pod-rescheduling)"},
       "",
       {},
       "",
       config},
      {"StormService",
       StormOf(PodWith("", "", "schedulerName: volcano, ")),
       {kStormPod +
            "/metadata/annotations/huawei.com~1recover_policy_path = \"pod\"  (recover-policy)",
        kStormPod + "/metadata/labels/pod-rescheduling = \"on\"  (pod-rescheduling)"},
       "",
       {},
       "",
       config},
      {"StormService with podGroupSize 2",
       StormOf(PodWith("", "", "schedulerName: volcano, "), "replicas: 1, podGroupSize: 2"),
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
          {"a role that counts retries", StormOf(PodWith(retries, "")), {never}},
          {"also with podGroupSize",
           StormOf(PodWith(retries, ""), "replicas: 1, podGroupSize: 2"),
           {never}},
          {"a RoleSet",
           "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, spec: {roles: [{name: p, "
           "replicas: 1, template: " +
               PodWith(retries, "") + "}]}}",
           {"/spec/roles/0/template/spec/restartPolicy = \"Never\""}},
          {"a PodSet",
           "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: PodSet, spec: {template: " +
               PodWith(retries, "") + "}}",
           {"/spec/template/spec/restartPolicy = \"Never\""}},
          {"no retries", StormOf(PodWith("", "")), {}},
          {"zero retries", StormOf(PodWith("fault-retry-times: '0'", "")), {}},
          {"retries that do not parse", StormOf(PodWith("fault-retry-times: ' 3'", "")), {}},
          {"retries as a number", StormOf(PodWith("fault-retry-times: 3", "")), {}},
          {"set by the user", StormOf(PodWith(retries, "", "restartPolicy: Always, ")), {}},
          {"with rescheduling off nobody counts",
           StormOf(PodWith(retries + ", fault-scheduling: 'off'", "")),
           {}},
          {"another scheduler counts nothing",
           StormOf(PodWith(retries, "", "schedulerName: mine, ")),
           {}},
          {"a role without NPUs",
           StormOf("{metadata: {labels: {" + retries + "}}, spec: {containers: [{name: r}]}}"),
           {}},
          {"a Deployment must restart always", DeploymentOf(PodWith(retries, "")), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
