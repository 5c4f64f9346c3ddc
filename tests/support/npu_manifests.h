#pragma once

#include <string>
#include <string_view>

// Small manifests of workloads that ask for NPUs; maps are written as YAML flow maps without the
// braces.
namespace mindgate::testing {

// The key of an annotation, for its value to follow.
inline const std::string kPolicy = "huawei.com/schedule_policy: ";

struct NpuPod {
  std::string chips = "8";  // empty: no resources at all
  std::string resource = "huawei.com/Ascend910";
  std::string annotations = "";
  std::string labels = "";
  std::string selector = "";
  std::string env = "";  // YAML flow list items
  std::string scheduler = "volcano";
};

inline std::string PodTemplate(const NpuPod& pod, bool named_ascend = false) {
  std::string resources = "{}";
  if (!pod.chips.empty()) {
    const std::string entry = "{" + pod.resource + ": " + pod.chips + "}";
    resources = "{requests: " + entry + ", limits: " + entry + "}";
  }
  return "{metadata: {labels: {" + pod.labels + "}, annotations: {" + pod.annotations +
         "}}, spec: {" + (pod.scheduler.empty() ? "" : "schedulerName: " + pod.scheduler + ", ") +
         "nodeSelector: {" + pod.selector +
         "}, containers: [{name: " + (named_ascend ? "ascend" : "main") + ", image: a:1, env: [" +
         pod.env + "], resources: " + resources + "}]}}";
}

inline std::string Deployment(const NpuPod& pod, int replicas = 1) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: " +
         std::to_string(replicas) + ", template: " + PodTemplate(pod) + "}";
}

inline std::string StatefulSet(const NpuPod& pod, int replicas) {
  return "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec: {replicas: " +
         std::to_string(replicas) + ", template: " + PodTemplate(pod) + "}";
}

inline std::string BarePod(const NpuPod& pod, std::string_view metadata = "name: p") {
  const std::string text = PodTemplate(pod);
  return "apiVersion: v1\nkind: Pod\n" +
         ("metadata: {" + std::string(metadata) + ", annotations: {" + pod.annotations +
          "}, labels: {" + pod.labels + "}}") +
         "\nspec: " + text.substr(text.find("spec: ") + 6, text.size() - text.find("spec: ") - 7);
}

// Leader type first; an AscendJob's PodGroup copies the annotations and labels of its metadata.
inline std::string AscendJob(std::string_view annotations, std::string_view labels,
                             std::string_view leader_type, const NpuPod& leader,
                             const NpuPod& worker, int workers = 1) {
  return "apiVersion: mindxdl.gitee.com/v1\nkind: AscendJob\nmetadata: {name: j, annotations: {" +
         std::string(annotations) + "}, labels: {" + std::string(labels) +
         "}}\nspec: {schedulerName: volcano, replicaSpecs: {" + std::string(leader_type) +
         ": {replicas: 1, template: " + PodTemplate(leader, true) +
         "}, Worker: {replicas: " + std::to_string(workers) +
         ", template: " + PodTemplate(worker, true) + "}}}";
}

inline std::string LeaderWorkerSet(const NpuPod& leader, const NpuPod& worker, int size) {
  return "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: l}\n"
         "spec: {replicas: 1, leaderWorkerTemplate: {size: " +
         std::to_string(size) + ", leaderTemplate: " + PodTemplate(leader) +
         ", workerTemplate: " + PodTemplate(worker) + "}}";
}

inline std::string VolcanoJob(std::string_view annotations, const NpuPod& first,
                              const NpuPod& second, int seconds = 1,
                              std::string_view first_name = "first") {
  return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: v, annotations: {" +
         std::string(annotations) +
         "}}\nspec: {schedulerName: volcano, tasks: [{name: " + std::string(first_name) +
         ", replicas: 1, template: " + PodTemplate(first) +
         "}, {name: second, replicas: " + std::to_string(seconds) +
         ", template: " + PodTemplate(second) + "}]}";
}

inline std::string StormService(const NpuPod& prefill, const NpuPod& decode) {
  return "apiVersion: orchestration.aibrix.ai/v1alpha1\nkind: StormService\nmetadata: {name: s}\n"
         "spec: {replicas: 1, template: {spec: {roles: [{name: prefill, replicas: 1, template: " +
         PodTemplate(prefill) + "}, {name: decode, replicas: 1, template: " + PodTemplate(decode) +
         "}]}}}";
}

// An OME runtime with one engine component.
inline std::string ServingRuntime(const NpuPod& engine, std::string_view more_spec = "") {
  const std::string entry = "{" + engine.resource + ": " + engine.chips + "}";
  return "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: r}\nspec: {" +
         std::string(more_spec) + "engineConfig: {schedulerName: volcano, annotations: {" +
         engine.annotations + "}, nodeSelector: {" + engine.selector +
         "}, runner: {name: engine, image: a:1, env: [" + engine.env +
         "], resources: {requests: " + entry + ", limits: " + entry + "}}}}";
}

// The spec of a pod with NPUs that names no scheduler.
inline constexpr char kNpuSpec[] =
    "spec: {containers: [{name: c, resources: {limits: {huawei.com/Ascend910: 8}}}]}";

}  // namespace mindgate::testing
