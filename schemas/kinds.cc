#include "schemas/kinds.h"

#include <array>

namespace mindgate::schemas {
namespace {

constexpr std::array<KindInfo, kKindCount> kKinds = {{
    {Kind::kAscendJob, "mindxdl.gitee.com", "v1", "AscendJob", false, false},
    {Kind::kVolcanoJob, "batch.volcano.sh", "v1alpha1", "Job", false, true},
    {Kind::kVolcanoCronJob, "batch.volcano.sh", "v1alpha1", "CronJob", false, false},
    {Kind::kJob, "batch", "v1", "Job", true, true},
    {Kind::kCronJob, "batch", "v1", "CronJob", true, false},
    {Kind::kDeployment, "apps", "v1", "Deployment", true, false},
    {Kind::kReplicaSet, "apps", "v1", "ReplicaSet", true, false},
    {Kind::kStatefulSet, "apps", "v1", "StatefulSet", true, false},
    {Kind::kLeaderWorkerSet, "leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", false, false},
    {Kind::kServingRuntime, "ome.io", "v1beta1", "ServingRuntime", false, false},
    {Kind::kClusterServingRuntime, "ome.io", "v1beta1", "ClusterServingRuntime", false, false},
    {Kind::kInferenceService, "ome.io", "v1beta1", "InferenceService", false, false},
    {Kind::kStormService, "orchestration.aibrix.ai", "v1alpha1", "StormService", false, false},
    {Kind::kRoleSet, "orchestration.aibrix.ai", "v1alpha1", "RoleSet", false, false},
    {Kind::kPodSet, "orchestration.aibrix.ai", "v1alpha1", "PodSet", false, false},
    {Kind::kInferServiceSet, "mindcluster.huawei.com", "v1", "InferServiceSet", false, false},
    {Kind::kInferService, "mindcluster.huawei.com", "v1", "InferService", false, false},
    {Kind::kInstanceSet, "mindcluster.huawei.com", "v1", "InstanceSet", false, false},
    {Kind::kPod, "", "v1", "Pod", true, true},
    {Kind::kConfigMap, "", "v1", "ConfigMap", true, false},
}};

constexpr std::array<std::string_view, kFrameworkCount> kFrameworkNames = {
    "mindie",  "ascendjob",  "ome",         "aibrix", "leaderworkerset",
    "volcano", "deployment", "statefulset", "job",    "infer-operator",
    "pod"};

}  // namespace

std::string_view FrameworkName(Framework framework) {
  return kFrameworkNames[static_cast<size_t>(framework)];
}

std::optional<Framework> FrameworkNamed(std::string_view name) {
  for (size_t i = 0; i < kFrameworkNames.size(); ++i) {
    if (kFrameworkNames[i] == name) return static_cast<Framework>(i);
  }
  return std::nullopt;
}

const KindInfo& InfoOf(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::string_view KindName(Kind kind) { return InfoOf(kind).name; }

std::string_view GroupOf(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

std::optional<Kind> KindOf(std::string_view group, std::string_view kind) {
  for (const KindInfo& info : kKinds) {
    if (info.name == kind && info.group == group) return info.kind;
  }
  return std::nullopt;
}

std::optional<Kind> KindOf(const json::Value& object) {
  const auto api_version = json::FindString(object, "apiVersion");
  const auto kind = json::FindString(object, "kind");
  if (!api_version || !kind) return std::nullopt;
  return KindOf(GroupOf(*api_version), *kind);
}

}  // namespace mindgate::schemas
