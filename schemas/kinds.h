#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>

#include "json/value.h"

namespace mindgate::schemas {

// Every kind that mindgate handles. Matching is by API group and kind: serving.kserve.io and other
// look-alikes are not ours.
enum class Kind : uint8_t {
  kAscendJob,
  kVolcanoJob,
  kVolcanoCronJob,
  kJob,
  kCronJob,
  kDeployment,
  kReplicaSet,
  kStatefulSet,
  kDaemonSet,
  kReplicationController,
  kLeaderWorkerSet,
  kServingRuntime,
  kClusterServingRuntime,
  kInferenceService,
  kStormService,
  kRoleSet,
  kPodSet,
  kInferServiceSet,
  kInferService,
  kInstanceSet,
  kPod,
  kConfigMap,
  kService,
  kPodGroup,
};

// Whose habits decide the injected defaults; the key of a profile in mindgate.yaml.
enum class Framework : uint8_t {
  kMindIE,  // an AscendJob with labels jobID and app
  kAscendJob,
  kOme,
  kAibrix,
  kLeaderWorkerSet,
  kVolcano,  // vcjobs
  kDeployment,
  kStatefulSet,
  kJob,  // batch/v1
  kInferOperator,
  kPod,
};
inline constexpr int kFrameworkCount = 11;

std::string_view FrameworkName(
    Framework framework);  // as written in mindgate.yaml: "mindie", "ome", ...

// What fills the view of an object, one function for the kinds of a framework (schemas/views).
namespace views {

class Builder;
void ReadNative(Builder& builder);
void ReadVolcanoJob(Builder& builder);
void ReadAscendJob(Builder& builder);
void ReadLeaderWorkerSet(Builder& builder);
void ReadOme(Builder& builder);
void ReadAibrix(Builder& builder);
void ReadInferOperator(Builder& builder);
void ReadConfigMap(Builder& builder);
void ReadService(Builder& builder);
void ReadPodGroup(Builder& builder);

}  // namespace views

struct KindInfo {
  Kind kind;
  std::string_view group;  // "" for core
  std::string_view version;
  std::string_view name;  // "Deployment"
  bool built_in;         // the API server writes defaults (schedulerName: default-scheduler) before
                         // admission
  bool template_frozen;  // the pod template cannot change after creation: an UPDATE only puts back
  // Where its pods take labels (or annotations, for "*") from, as people write field paths.
  std::string_view pod_metadata;
  void (*read)(views::Builder& builder);
};

// In the order of Kind.
inline constexpr KindInfo kKinds[] = {
    {Kind::kAscendJob, "mindxdl.gitee.com", "v1", "AscendJob", false, false,
     "spec.template.metadata.*", views::ReadAscendJob},
    {Kind::kVolcanoJob, "batch.volcano.sh", "v1alpha1", "Job", false, true,
     "spec.template.metadata.*", views::ReadVolcanoJob},
    {Kind::kVolcanoCronJob, "batch.volcano.sh", "v1alpha1", "CronJob", false, false,
     "spec.jobTemplate.metadata.*", views::ReadVolcanoJob},
    {Kind::kJob, "batch", "v1", "Job", true, true, "spec.template.metadata.*", views::ReadNative},
    {Kind::kCronJob, "batch", "v1", "CronJob", true, false,
     "spec.jobTemplate.spec.template.metadata.*", views::ReadNative},
    {Kind::kDeployment, "apps", "v1", "Deployment", true, false, "spec.template.metadata.*",
     views::ReadNative},
    {Kind::kReplicaSet, "apps", "v1", "ReplicaSet", true, false, "spec.template.metadata.*",
     views::ReadNative},
    {Kind::kStatefulSet, "apps", "v1", "StatefulSet", true, false, "spec.template.metadata.*",
     views::ReadNative},
    {Kind::kDaemonSet, "apps", "v1", "DaemonSet", true, false, "spec.template.metadata.*",
     views::ReadNative},
    {Kind::kReplicationController, "", "v1", "ReplicationController", true, false,
     "spec.template.metadata.*", views::ReadNative},
    {Kind::kLeaderWorkerSet, "leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", false, false,
     "metadata.* of the leader and worker template", views::ReadLeaderWorkerSet},
    {Kind::kServingRuntime, "ome.io", "v1beta1", "ServingRuntime", false, false,
     "* of spec.engineConfig and spec.decoderConfig", views::ReadOme},
    {Kind::kClusterServingRuntime, "ome.io", "v1beta1", "ClusterServingRuntime", false, false,
     "* of spec.engineConfig and spec.decoderConfig", views::ReadOme},
    {Kind::kInferenceService, "ome.io", "v1beta1", "InferenceService", false, false,
     "* of spec.engine and spec.decoder", views::ReadOme},
    {Kind::kStormService, "orchestration.aibrix.ai", "v1alpha1", "StormService", false, false,
     "spec.template.spec.roles[].template.metadata.*", views::ReadAibrix},
    {Kind::kRoleSet, "orchestration.aibrix.ai", "v1alpha1", "RoleSet", false, false,
     "spec.roles[].template.metadata.*", views::ReadAibrix},
    {Kind::kPodSet, "orchestration.aibrix.ai", "v1alpha1", "PodSet", false, false,
     "spec.template.metadata.*", views::ReadAibrix},
    {Kind::kInferServiceSet, "mindcluster.huawei.com", "v1", "InferServiceSet", false, false,
     "metadata.* of the role's pod template", views::ReadInferOperator},
    {Kind::kInferService, "mindcluster.huawei.com", "v1", "InferService", false, false,
     "metadata.* of the role's pod template", views::ReadInferOperator},
    {Kind::kInstanceSet, "mindcluster.huawei.com", "v1", "InstanceSet", false, false,
     "metadata.* of the role's pod template", views::ReadInferOperator},
    {Kind::kPod, "", "v1", "Pod", true, true, "spec.template.metadata.*", views::ReadNative},
    {Kind::kConfigMap, "", "v1", "ConfigMap", true, false, "", views::ReadConfigMap},
    {Kind::kService, "", "v1", "Service", true, false, "", views::ReadService},
    {Kind::kPodGroup, "scheduling.volcano.sh", "v1beta1", "PodGroup", false, false, "",
     views::ReadPodGroup},
};
inline constexpr int kKindCount = static_cast<int>(std::size(kKinds));
static_assert(std::ranges::all_of(kKinds, [](const KindInfo& info) {
  return &info - kKinds == static_cast<int>(info.kind);
}));

constexpr const KindInfo& InfoOf(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }
std::string_view KindName(Kind kind);  // "Deployment"; vcjobs are "Job" of batch.volcano.sh

// `api_version` is "group/version" or "v1".
std::string_view GroupOf(std::string_view api_version);
std::optional<Kind> KindOf(std::string_view group, std::string_view kind);
std::optional<Kind> KindOf(const json::Value& object);

// A set of kinds, for what a rule applies to.
class KindSet {
 public:
  constexpr KindSet() = default;
  constexpr KindSet(std::initializer_list<Kind> kinds) {
    for (Kind kind : kinds) bits_ |= Bit(kind);
  }
  constexpr bool Has(Kind kind) const { return (bits_ & Bit(kind)) != 0; }
  constexpr bool Intersects(KindSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr KindSet operator|(KindSet other) const {
    KindSet set;
    set.bits_ = bits_ | other.bits_;
    return set;
  }
  constexpr KindSet operator-(KindSet other) const {
    KindSet set;
    set.bits_ = bits_ & ~other.bits_;
    return set;
  }

 private:
  static constexpr uint32_t Bit(Kind kind) { return 1u << static_cast<unsigned>(kind); }
  uint32_t bits_ = 0;
};

// By framework.
inline constexpr KindSet kAscendJobs = {Kind::kAscendJob};
inline constexpr KindSet kOmeRuntimes = {Kind::kServingRuntime, Kind::kClusterServingRuntime};
inline constexpr KindSet kInferenceServices = {Kind::kInferenceService};
inline constexpr KindSet kOmeKinds = kOmeRuntimes | kInferenceServices;
inline constexpr KindSet kStormServices = {Kind::kStormService};
inline constexpr KindSet kAibrixWithRoles = kStormServices | KindSet{Kind::kRoleSet};
inline constexpr KindSet kAibrixKinds = kAibrixWithRoles | KindSet{Kind::kPodSet};
inline constexpr KindSet kLeaderWorkerSets = {Kind::kLeaderWorkerSet};
inline constexpr KindSet kInferServiceSets = {Kind::kInferServiceSet};
inline constexpr KindSet kInferWithRoles = kInferServiceSets | KindSet{Kind::kInferService};
inline constexpr KindSet kInstanceSets = {Kind::kInstanceSet};
inline constexpr KindSet kInferOperatorKinds = kInferWithRoles | kInstanceSets;
inline constexpr KindSet kVolcanoJobs = {Kind::kVolcanoJob, Kind::kVolcanoCronJob};
inline constexpr KindSet kBatchJobs = {Kind::kJob, Kind::kCronJob};
inline constexpr KindSet kDeployments = {Kind::kDeployment};
// Whose pods are of ReplicaSets.
inline constexpr KindSet kReplicaSets = kDeployments | KindSet{Kind::kReplicaSet};
inline constexpr KindSet kStatefulSets = {Kind::kStatefulSet};
// All of Kubernetes itself that keep independent pods running.
inline constexpr KindSet kPlainSets =
    kReplicaSets | kStatefulSets | KindSet{Kind::kDaemonSet, Kind::kReplicationController};
inline constexpr KindSet kPods = {Kind::kPod};
// Whose rank tables ascend-operator makes.
inline constexpr KindSet kRankTableKinds =
    kAscendJobs | kDeployments | kStatefulSets | KindSet{Kind::kVolcanoJob};
inline constexpr KindSet kConfigMaps = {Kind::kConfigMap};
inline constexpr KindSet kServices = {Kind::kService};
inline constexpr KindSet kPodGroups = {Kind::kPodGroup};

// Every kind that makes pods, and these with bare pods.
inline constexpr KindSet kPodMakers = kAscendJobs | kOmeKinds | kAibrixKinds | kLeaderWorkerSets |
                                      kInferOperatorKinds | kVolcanoJobs | kBatchJobs | kPlainSets;
inline constexpr KindSet kWorkloads = kPodMakers | kPods;
// Whose labels and annotations the scheduler reads.
inline constexpr KindSet kScheduled = kWorkloads | kPodGroups;
inline constexpr KindSet kEveryKind = kScheduled | kConfigMaps | kServices;

}  // namespace mindgate::schemas
