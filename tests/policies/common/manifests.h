#pragma once

#include <string>

#include "support/npu_manifests.h"

// Manifests for tests of rules about all kinds: with labels and annotations, with a minAvailable,
// and with autoscalers.
namespace mindgate::testing {

inline const std::string kNpuContainers =
    "containers: [{name: m, resources: {limits: {huawei.com/Ascend910: 8}}}]";

// A workload "chat" whose pods are a gang of `k`, and what scales it.
inline std::string ScaledGang(const std::string& kind, const std::string& replicas,
                              const std::string& k) {
  const std::string api = kind == "ReplicationController" ? "v1" : "apps/v1";
  return "{apiVersion: " + api + ", kind: " + kind + ", metadata: {name: chat}, spec: {" +
         replicas + "podManagementPolicy: Parallel, template: " +
         PodTemplate({.annotations = "huawei.com/schedule_minAvailable: '" + k + "'"}) + "}}";
}

inline std::string ScaledBy(const std::string& api_version, const std::string& kind,
                            const std::string& target, const std::string& spec) {
  return "{apiVersion: " + api_version + ", kind: " + kind +
         ", metadata: {name: scaler}, spec: {scaleTargetRef: {" + target + "}, " + spec + "}}";
}

inline const std::string kDeploymentChat = "apiVersion: apps/v1, kind: Deployment, name: chat";

inline std::string Hpa(const std::string& bounds, const std::string& target = kDeploymentChat) {
  return ScaledBy("autoscaling/v2", "HorizontalPodAutoscaler", target, bounds);
}

// A Deployment whose template has these labels and annotations and one container with NPUs.
inline std::string LabelledDeployment(const std::string& labels,
                                      const std::string& annotations = "",
                                      const std::string& metadata = "") {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, " + metadata +
         "}, spec: {template: {metadata: {labels: {" + labels + "}, annotations: {" + annotations +
         "}}, spec: {containers: [{name: m, resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}";
}

inline std::string LabelledAscendJob(const std::string& metadata,
                                     const std::string& worker_metadata = "") {
  return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a, " + metadata +
         "}, spec: {replicaSpecs: {Worker: {template: {metadata: {" + worker_metadata +
         "}, spec: {containers: [{name: ascend, resources: {limits: {huawei.com/Ascend910: "
         "8}}}]}}}}}}";
}

inline std::string LabelledService(const std::string& engine, const std::string& metadata = "") {
  return "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: i, " + metadata +
         "}, spec: {runtime: {name: r}, engine: {" + engine + "}}}";
}

inline std::string LabelledRuntime(const std::string& engine, const std::string& metadata = "",
                                   const std::string& spec = "") {
  return "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: r, " +
         metadata + "}, spec: {" + spec + "engineConfig: {" + engine + "}}}";
}

inline const std::string kTemplateLabels = "spec.template.metadata.labels";

// Gangs: the annotation of their size, its end in a path, and pod metadata that has it.
inline const std::string kName = "huawei.com/schedule_minAvailable";
inline const std::string kAt = "[huawei.com/schedule_minAvailable]: ";

inline std::string K(const std::string& k) {
  return "annotations: {huawei.com/schedule_minAvailable: '" + k + "'}";
}

// apps/v1 or batch/v1 object whose template has K; `spec` stands beside the template.
inline std::string Native(const std::string& kind, const std::string& spec, const std::string& k,
                          const std::string& metadata = "") {
  const std::string api = kind == "Job" ? "batch/v1" : "apps/v1";
  return "{apiVersion: " + api + ", kind: " + kind + ", metadata: {name: d, " + metadata +
         "}, spec: {" + spec + "template: {metadata: {" + (k.empty() ? "" : K(k)) + "}, spec: {" +
         kNpuContainers + "}}}}";
}

inline std::string OmeService(const std::string& engine, const std::string& metadata = "",
                              const std::string& rest = "") {
  return "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: i, " + metadata +
         "}, spec: {runtime: {name: r}, engine: {" + engine + "}" + rest + "}}";
}

inline std::string OmeRuntime(const std::string& engine) {
  return "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: r}, spec: "
         "{engineConfig: {" +
         engine + "}}}";
}

inline std::string Lws(const std::string& spec, const std::string& leader,
                       const std::string& worker) {
  const auto pods = [](const std::string& key, const std::string& metadata) {
    return key + ": {metadata: {" + metadata + "}, spec: {" + kNpuContainers + "}}";
  };
  return "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: l}, "
         "spec: {" +
         spec + "leaderWorkerTemplate: {size: 4, " + pods("leaderTemplate", leader) + ", " +
         pods("workerTemplate", worker) + "}}}";
}

inline std::string TwoTasks(const std::string& spec, const std::string& k,
                            const std::string& k2 = "") {
  const auto task = [](const std::string& name, const std::string& value) {
    return "{name: " + name + ", replicas: 2, template: {metadata: {" +
           (value.empty() ? "" : K(value)) + "}, spec: {" + kNpuContainers + "}}}";
  };
  return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: v}, spec: {" + spec +
         "tasks: [" + task("a", k) + ", " + task("b", k2) + "]}}";
}

inline std::string TwoRoles(const std::string& first, const std::string& k,
                            const std::string& second, const std::string& k2) {
  const auto role = [](const std::string& name, const std::string& fields, const std::string& v) {
    return "{name: " + name + ", " + fields + ", template: {metadata: {" + (v.empty() ? "" : K(v)) +
           "}, spec: {schedulerName: volcano, " + kNpuContainers + "}}}";
  };
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, metadata: {name: r}, spec: "
         "{roles: [" +
         role("prefill", first, k) + ", " + role("decode", second, k2) + "]}}";
}

inline std::string DeploymentWith(const std::string& metadata) {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: "
         "{metadata: {" +
         metadata + "}, spec: {" + kNpuContainers + "}}}}";
}

inline std::string AscendJobWith(const std::string& metadata,
                                 const std::string& replica_spec = "") {
  return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a, " + metadata +
         "}, spec: {replicaSpecs: {Worker: {" + replica_spec + "template: {spec: {" +
         kNpuContainers + "}}}}}}";
}

}  // namespace mindgate::testing
