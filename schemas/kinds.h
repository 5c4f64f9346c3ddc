#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"
#include "schemas/pod_groups.h"

// The one table of kinds and the one of frameworks. A kind is a row here, an adapter in
// schemas/views and an example in tests/support/workloads.h; what the chart, doctor and the watcher
// must know of it is generated or read from its row.
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
  // Every kind of mindgate.yaml (schemas/site_kinds.h), whose row is there and not in kKinds.
  kSite,
};

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

// Selects the profile of injected defaults.
enum class Framework : uint8_t {
  kMindIE,
  kAscendJob,
  kOme,
  kAibrix,
  kLeaderWorkerSet,
  kVolcano,
  kDeployment,
  kStatefulSet,
  kJob,
  kInferOperator,
  kPod,
};

struct FrameworkInfo {
  Framework framework;
  std::string_view name;   // the key of its profile in mindgate.yaml
  std::string_view title;  // the description of that key
  // What is injected unless mindgate.yaml says otherwise; an empty label is not.
  std::string_view fault_scheduling = "force";
  std::string_view pod_rescheduling = {};
  std::string_view fault_retry_times = {};
};

// In the order of Framework.
inline constexpr FrameworkInfo kFrameworks[] = {
    {.framework = Framework::kMindIE,
     .name = "mindie",
     .title = "MindIE Motor: AscendJobs with the labels jobID and app.",
     .fault_retry_times = "100000000"},
    {.framework = Framework::kAscendJob, .name = "ascendjob", .title = "Other AscendJobs."},
    {.framework = Framework::kOme,
     .name = "ome",
     .title = "OME: InferenceServices and their runtimes.",
     .pod_rescheduling = "on",
     .fault_retry_times = "3"},
    {.framework = Framework::kAibrix,
     .name = "aibrix",
     .title = "AIBrix: StormServices, RoleSets and PodSets.",
     .pod_rescheduling = "on",
     .fault_retry_times = "10"},
    {.framework = Framework::kLeaderWorkerSet,
     .name = "leaderworkerset",
     .title = "LeaderWorkerSets.",
     .pod_rescheduling = "on"},
    {.framework = Framework::kVolcano, .name = "volcano", .title = "Jobs and CronJobs of Volcano."},
    {.framework = Framework::kDeployment,
     .name = "deployment",
     .title = "Plain Deployments, ReplicaSets and ReplicationControllers.",
     .pod_rescheduling = "on"},
    {.framework = Framework::kStatefulSet,
     .name = "statefulset",
     .title = "Plain StatefulSets and DaemonSets.",
     .pod_rescheduling = "on"},
    {.framework = Framework::kJob,
     .name = "job",
     .title = "Jobs and CronJobs of Kubernetes.",
     .pod_rescheduling = "on"},
    // infer-operator recovers whole instances, in the order of their priorities.
    {.framework = Framework::kInferOperator,
     .name = "infer-operator",
     .title = "InferServiceSets, InferServices and InstanceSets.",
     .fault_scheduling = "external-force"},
    {.framework = Framework::kPod,
     .name = "pod",
     .title = "Pods whose controller mindgate does not know; a pod without a controller gets only "
              "its scheduler and environment.",
     .pod_rescheduling = "on"},
};
inline constexpr int kFrameworkCount = static_cast<int>(std::size(kFrameworks));
static_assert(std::ranges::all_of(kFrameworks, [](const FrameworkInfo& info) {
  return &info - kFrameworks == static_cast<int>(info.framework);
}));

constexpr const FrameworkInfo& InfoOf(Framework framework) {
  return kFrameworks[static_cast<size_t>(framework)];
}

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
void ReadSite(Builder& builder);

}  // namespace views

struct SiteKind;

struct KindInfo {
  Kind kind;
  std::string_view group;  // "" for core
  std::string_view version;
  std::string_view name;     // "Deployment"
  std::string_view plural;   // "deployments", as its resource is called
  Framework framework;       // of its objects, unless their adapter knows better
  std::string_view webhook;  // the registration of the chart that sends its objects
  void (*read)(views::Builder& builder);
  bool cluster_scoped = false;
  // The API server writes defaults (schedulerName: default-scheduler) before admission.
  bool built_in = false;
  // The pod template cannot change after creation: an UPDATE only puts back.
  bool template_frozen = false;
  // Its objects may carry mindgate.io/rescheduling for their pods; the watcher reads them then.
  bool may_disable_rescheduling = false;
  // Its pods run until they are deleted: one that ends by itself is a server that ended.
  bool serves = false;
  // Which objects its controller makes. Their template is a part of the owner.
  KindSet makes = {};
  // Where its pods take labels (or annotations, for "*") from, as people write field paths; empty
  // for a kind without pods.
  std::string_view pod_metadata = {};
  // Holders of labels and annotations that reach neither pods nor PodGroups.
  std::array<std::string_view, 2> unread_metadata = {};
  // Of kinds of Kubernetes itself with one template: the spec that holds it, and the PodGroup.
  std::string_view template_holder = {};
  PodGroupOwner pod_group = PodGroupOwner::kPod;
  // Of a kind of mindgate.yaml: what it says of it.
  const SiteKind* site = nullptr;
};

// The kinds that are built in, in the order of Kind.
inline constexpr KindInfo kKinds[] = {
    // Ascend Operator writes the rank tables of AscendJobs, vcjobs, Deployments and StatefulSets
    // (mind-cluster: component/ascend-operator).
    {.kind = Kind::kAscendJob,
     .group = "mindxdl.gitee.com",
     .version = "v1",
     .name = "AscendJob",
     .plural = "ascendjobs",
     .framework = Framework::kAscendJob,
     .webhook = "mindcluster",
     .read = views::ReadAscendJob,
     .may_disable_rescheduling = true,
     .makes = {Kind::kPod, Kind::kConfigMap},
     .pod_metadata = "spec.template.metadata.*"},
    {.kind = Kind::kVolcanoJob,
     .group = "batch.volcano.sh",
     .version = "v1alpha1",
     .name = "Job",
     .plural = "jobs",
     .framework = Framework::kVolcano,
     .webhook = "volcano",
     .read = views::ReadVolcanoJob,
     .template_frozen = true,
     .may_disable_rescheduling = true,
     .makes = {Kind::kPod, Kind::kConfigMap},
     .pod_metadata = "spec.template.metadata.*"},
    {.kind = Kind::kVolcanoCronJob,
     .group = "batch.volcano.sh",
     .version = "v1alpha1",
     .name = "CronJob",
     .plural = "cronjobs",
     .framework = Framework::kVolcano,
     .webhook = "volcano",
     .read = views::ReadVolcanoJob,
     .makes = {Kind::kVolcanoJob},
     .pod_metadata = "spec.jobTemplate.metadata.*",
     .unread_metadata = {"/metadata"}},
    {.kind = Kind::kJob,
     .group = "batch",
     .version = "v1",
     .name = "Job",
     .plural = "jobs",
     .framework = Framework::kJob,
     .webhook = "workloads",
     .read = views::ReadNative,
     .built_in = true,
     .template_frozen = true,
     .makes = {Kind::kPod},
     .pod_metadata = "spec.template.metadata.*",
     .unread_metadata = {"/metadata"},
     .template_holder = "/spec",
     .pod_group = PodGroupOwner::kJob},
    {.kind = Kind::kCronJob,
     .group = "batch",
     .version = "v1",
     .name = "CronJob",
     .plural = "cronjobs",
     .framework = Framework::kJob,
     .webhook = "cronjobs",
     .read = views::ReadNative,
     .built_in = true,
     .makes = {Kind::kJob},
     .pod_metadata = "spec.jobTemplate.spec.template.metadata.*",
     .unread_metadata = {"/metadata", "/spec/jobTemplate/metadata"},
     .template_holder = "/spec/jobTemplate/spec",
     .pod_group = PodGroupOwner::kJob},
    {.kind = Kind::kDeployment,
     .group = "apps",
     .version = "v1",
     .name = "Deployment",
     .plural = "deployments",
     .framework = Framework::kDeployment,
     .webhook = "workloads",
     .read = views::ReadNative,
     .built_in = true,
     .may_disable_rescheduling = true,
     .serves = true,
     .makes = {Kind::kReplicaSet, Kind::kConfigMap},
     .pod_metadata = "spec.template.metadata.*",
     .unread_metadata = {"/metadata"},
     .template_holder = "/spec",
     .pod_group = PodGroupOwner::kReplicaSet},
    {.kind = Kind::kReplicaSet,
     .group = "apps",
     .version = "v1",
     .name = "ReplicaSet",
     .plural = "replicasets",
     .framework = Framework::kDeployment,
     .webhook = "workloads",
     .read = views::ReadNative,
     .built_in = true,
     .may_disable_rescheduling = true,
     .serves = true,
     .makes = {Kind::kPod},
     .pod_metadata = "spec.template.metadata.*",
     .unread_metadata = {"/metadata"},
     .template_holder = "/spec",
     .pod_group = PodGroupOwner::kReplicaSet},
    {.kind = Kind::kStatefulSet,
     .group = "apps",
     .version = "v1",
     .name = "StatefulSet",
     .plural = "statefulsets",
     .framework = Framework::kStatefulSet,
     .webhook = "workloads",
     .read = views::ReadNative,
     .built_in = true,
     .may_disable_rescheduling = true,
     .serves = true,
     .makes = {Kind::kPod, Kind::kConfigMap},
     .pod_metadata = "spec.template.metadata.*",
     .unread_metadata = {"/metadata"},
     .template_holder = "/spec",
     .pod_group = PodGroupOwner::kStatefulSet},
    {.kind = Kind::kDaemonSet,
     .group = "apps",
     .version = "v1",
     .name = "DaemonSet",
     .plural = "daemonsets",
     .framework = Framework::kStatefulSet,
     .webhook = "daemonsets",
     .read = views::ReadNative,
     .built_in = true,
     .may_disable_rescheduling = true,
     .makes = {Kind::kPod},
     .pod_metadata = "spec.template.metadata.*",
     .unread_metadata = {"/metadata"},
     .template_holder = "/spec",
     .pod_group = PodGroupOwner::kDaemonSet},
    {.kind = Kind::kReplicationController,
     .group = "",
     .version = "v1",
     .name = "ReplicationController",
     .plural = "replicationcontrollers",
     .framework = Framework::kDeployment,
     .webhook = "daemonsets",
     .read = views::ReadNative,
     .built_in = true,
     .may_disable_rescheduling = true,
     .makes = {Kind::kPod},
     .pod_metadata = "spec.template.metadata.*",
     .unread_metadata = {"/metadata"},
     .template_holder = "/spec",
     .pod_group = PodGroupOwner::kReplicationController},
    // The leaders' StatefulSet, and one of workers for each leader pod (lws:
    // pkg/controllers/{leaderworkerset,pod}_controller.go).
    {.kind = Kind::kLeaderWorkerSet,
     .group = "leaderworkerset.x-k8s.io",
     .version = "v1",
     .name = "LeaderWorkerSet",
     .plural = "leaderworkersets",
     .framework = Framework::kLeaderWorkerSet,
     .webhook = "leaderworkersets",
     .read = views::ReadLeaderWorkerSet,
     .may_disable_rescheduling = true,
     .serves = true,
     .makes = {Kind::kStatefulSet},
     .pod_metadata = "metadata.* of the leader and worker template",
     .unread_metadata = {"/metadata"}},
    {.kind = Kind::kServingRuntime,
     .group = "ome.io",
     .version = "v1beta1",
     .name = "ServingRuntime",
     .plural = "servingruntimes",
     .framework = Framework::kOme,
     .webhook = "ome",
     .read = views::ReadOme,
     .pod_metadata = "* of spec.engineConfig and spec.decoderConfig",
     .unread_metadata = {"/metadata", "/spec"}},
    {.kind = Kind::kClusterServingRuntime,
     .group = "ome.io",
     .version = "v1beta1",
     .name = "ClusterServingRuntime",
     .plural = "clusterservingruntimes",
     .framework = Framework::kOme,
     .webhook = "ome",
     .read = views::ReadOme,
     .cluster_scoped = true,
     .pod_metadata = "* of spec.engineConfig and spec.decoderConfig",
     .unread_metadata = {"/metadata", "/spec"}},
    {.kind = Kind::kInferenceService,
     .group = "ome.io",
     .version = "v1beta1",
     .name = "InferenceService",
     .plural = "inferenceservices",
     .framework = Framework::kOme,
     .webhook = "ome",
     .read = views::ReadOme,
     .serves = true,
     .makes = {Kind::kDeployment, Kind::kLeaderWorkerSet},
     .pod_metadata = "* of spec.engine and spec.decoder"},
    {.kind = Kind::kStormService,
     .group = "orchestration.aibrix.ai",
     .version = "v1alpha1",
     .name = "StormService",
     .plural = "stormservices",
     .framework = Framework::kAibrix,
     .webhook = "aibrix",
     .read = views::ReadAibrix,
     .may_disable_rescheduling = true,
     .serves = true,
     .makes = {Kind::kRoleSet},
     .pod_metadata = "spec.template.spec.roles[].template.metadata.*",
     .unread_metadata = {"/metadata", "/spec/template/metadata"}},
    {.kind = Kind::kRoleSet,
     .group = "orchestration.aibrix.ai",
     .version = "v1alpha1",
     .name = "RoleSet",
     .plural = "rolesets",
     .framework = Framework::kAibrix,
     .webhook = "aibrix",
     .read = views::ReadAibrix,
     .may_disable_rescheduling = true,
     .serves = true,
     .makes = {Kind::kPodSet, Kind::kPod},
     .pod_metadata = "spec.roles[].template.metadata.*",
     .unread_metadata = {"/metadata"}},
    {.kind = Kind::kPodSet,
     .group = "orchestration.aibrix.ai",
     .version = "v1alpha1",
     .name = "PodSet",
     .plural = "podsets",
     .framework = Framework::kAibrix,
     .webhook = "aibrix",
     .read = views::ReadAibrix,
     .may_disable_rescheduling = true,
     .serves = true,
     .makes = {Kind::kPod},
     .pod_metadata = "spec.template.metadata.*"},
    {.kind = Kind::kInferServiceSet,
     .group = "mindcluster.huawei.com",
     .version = "v1",
     .name = "InferServiceSet",
     .plural = "inferservicesets",
     .framework = Framework::kInferOperator,
     .webhook = "mindcluster",
     .read = views::ReadInferOperator,
     .makes = {Kind::kInferService},
     .pod_metadata = "metadata.* of the role's pod template",
     .unread_metadata = {"/metadata"}},
    {.kind = Kind::kInferService,
     .group = "mindcluster.huawei.com",
     .version = "v1",
     .name = "InferService",
     .plural = "inferservices",
     .framework = Framework::kInferOperator,
     .webhook = "mindcluster",
     .read = views::ReadInferOperator,
     .makes = {Kind::kInstanceSet},
     .pod_metadata = "metadata.* of the role's pod template",
     .unread_metadata = {"/metadata"}},
    {.kind = Kind::kInstanceSet,
     .group = "mindcluster.huawei.com",
     .version = "v1",
     .name = "InstanceSet",
     .plural = "instancesets",
     .framework = Framework::kInferOperator,
     .webhook = "mindcluster",
     .read = views::ReadInferOperator,
     .serves = true,
     .makes = {Kind::kDeployment, Kind::kStatefulSet},
     .pod_metadata = "metadata.* of the role's pod template",
     .unread_metadata = {"/spec/metadata"}},
    // The leader pods of a LeaderWorkerSet own the StatefulSets of their workers.
    {.kind = Kind::kPod,
     .group = "",
     .version = "v1",
     .name = "Pod",
     .plural = "pods",
     .framework = Framework::kPod,
     .webhook = "pods",
     .read = views::ReadNative,
     .built_in = true,
     .template_frozen = true,
     .may_disable_rescheduling = true,
     .makes = {Kind::kStatefulSet},
     .pod_metadata = "spec.template.metadata.*"},
    {.kind = Kind::kConfigMap,
     .group = "",
     .version = "v1",
     .name = "ConfigMap",
     .plural = "configmaps",
     .framework = Framework::kPod,
     .webhook = "configmaps",
     .read = views::ReadConfigMap,
     .built_in = true},
    {.kind = Kind::kService,
     .group = "",
     .version = "v1",
     .name = "Service",
     .plural = "services",
     .framework = Framework::kPod,
     .webhook = "services",
     .read = views::ReadService,
     .built_in = true},
    {.kind = Kind::kPodGroup,
     .group = "scheduling.volcano.sh",
     .version = "v1beta1",
     .name = "PodGroup",
     .plural = "podgroups",
     .framework = Framework::kVolcano,
     .webhook = "podgroups",
     .read = views::ReadPodGroup},
};
inline constexpr int kKindCount = static_cast<int>(std::size(kKinds));
static_assert(kKindCount < 32, "KindSet has 32 bits");
static_assert(kKindCount == static_cast<int>(Kind::kSite), "every other kind has a row");
static_assert(std::ranges::all_of(kKinds, [](const KindInfo& info) {
  return &info - kKinds == static_cast<int>(info.kind);
}));

// What is true of every kind of mindgate.yaml; the rest is in its own row.
inline constexpr KindInfo kAnySiteKind = {.kind = Kind::kSite,
                                          .group = {},
                                          .version = {},
                                          .name = "kind of mindgate.yaml",
                                          .plural = {},
                                          .framework = Framework::kPod,
                                          .webhook = "kinds",
                                          .read = views::ReadSite};

constexpr const KindInfo& InfoOf(Kind kind) {
  return kind == Kind::kSite ? kAnySiteKind : kKinds[static_cast<size_t>(kind)];
}
std::string ApiVersionOf(const KindInfo& info);  // "apps/v1", "v1"
std::string_view KindName(Kind kind);  // "Deployment"; vcjobs are "Job" of batch.volcano.sh

// `api_version` is "group/version" or "v1".
std::string_view GroupOf(std::string_view api_version);
// The built-in row of that group and kind; null pointer when there is none.
const KindInfo* FindKind(std::string_view group, std::string_view kind);
std::optional<Kind> KindOf(std::string_view group, std::string_view kind);
std::optional<Kind> KindOf(const json::Value& object);

// The built-in kinds whose row has what `has` asks for.
template <typename Has>
constexpr KindSet KindsWith(Has has) {
  KindSet kinds;
  for (const KindInfo& info : kKinds) {
    if (has(info)) kinds = kinds | KindSet{info.kind};
  }
  return kinds;
}

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
// Whose rank tables ascend-operator makes.
inline constexpr KindSet kRankTableKinds =
    kAscendJobs | kDeployments | kStatefulSets | KindSet{Kind::kVolcanoJob};
inline constexpr KindSet kConfigMaps = {Kind::kConfigMap};
inline constexpr KindSet kServices = {Kind::kService};
inline constexpr KindSet kPodGroups = {Kind::kPodGroup};

// Every kind that makes pods, and these with bare pods.
inline constexpr KindSet kPods = {Kind::kPod};
inline constexpr KindSet kPodMakers =
    (KindsWith([](const KindInfo& info) { return !info.pod_metadata.empty(); }) - kPods) |
    KindSet{Kind::kSite};
inline constexpr KindSet kWorkloads = kPodMakers | kPods;
// Whose labels and annotations the scheduler reads.
inline constexpr KindSet kScheduled = kWorkloads | kPodGroups;
inline constexpr KindSet kEveryKind = kScheduled | kConfigMaps | kServices;

}  // namespace mindgate::schemas
