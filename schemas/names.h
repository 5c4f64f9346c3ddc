#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mindgate::schemas {

// The words of the field: labels, annotations, resources and variables that MindCluster, Volcano,
// OME and AIBrix compare literally. A comment says who reads it where the name alone does not.

// Fault handling, read by the NPU plugin of volcano-scheduler from the labels of a PodGroup and all
// its pods (mind-cluster: component/ascend-for-volcano/internal/rescheduling).
inline constexpr std::string_view kFaultScheduling = "fault-scheduling";
inline constexpr std::string_view kPodRescheduling = "pod-rescheduling";
inline constexpr std::string_view kFaultRetryTimes = "fault-retry-times";
inline constexpr std::string_view kProcessRecover = "process-recover-enable";
inline constexpr std::string_view kSubHealthyStrategy = "subHealthyStrategy";

// Annotations of the PodGroup, else of one arbitrary pod
// (component/ascend-for-volcano/plugin/type.go).
inline constexpr std::string_view kMinAvailable = "huawei.com/schedule_minAvailable";
inline constexpr std::string_view kRecoverPolicyPath = "huawei.com/recover_policy_path";
inline constexpr std::string_view kSchedulePolicy = "huawei.com/schedule_policy";
inline constexpr std::string_view kSpBlock = "sp-block";
inline constexpr std::string_view kSpFit = "sp-fit";
inline constexpr std::string_view kRaBlock = "ra-block";
inline constexpr std::string_view kAffinityConfig = "huawei.com/affinity-config";
// On a PodGroup: recovery is decided outside of the scheduler (component/clusterd).
inline constexpr std::string_view kProcessRecoverStrategy = "ProcessRecoverStrategy";
// Of a pod: the chips that it uses, "Ascend910-0,Ascend910-1", written by the device plugin.
inline constexpr std::string_view kAscendReal = "huawei.com/AscendReal";
// Written by MindCluster on pods: the rank of a pod in its job, the logical super pod that it was
// placed in, what a platform that restarts it must know, whether a hot switch waits for it to be
// deleted, and (labels) a fault that ClusterD found elsewhere and the role of a replica.
inline constexpr std::string_view kRankIndex = "hccl/rankIndex";
inline constexpr std::string_view kSuperPodRank = "super-pod-rank";
inline constexpr std::string_view kPodStatus = "huawei.com/pod-status";
inline constexpr std::string_view kNeedVolcanoOpe = "needVolcanoOpe";
inline constexpr std::string_view kFaultType = "fault-type";
inline constexpr std::string_view kReplicaType = "training.kubeflow.org/replica-type";
inline constexpr std::string_view kSkipAscendPlugin = "huawei.com/skip-ascend-plugin";

// MindIE Motor (component/ascend-operator, component/clusterd).
inline constexpr std::string_view kJobId = "jobID";
inline constexpr std::string_view kApp = "app";
inline constexpr std::string_view kScalingRule = "mind-cluster/scaling-rule";
inline constexpr std::string_view kGroupName = "mind-cluster/group-name";
inline constexpr std::string_view kScalingRuleKey =
    "elastic_scaling.json";  // data key of the rule's ConfigMap
inline constexpr std::string_view kRankTablePrefix =
    "rings-config-";  // name prefix of rank-table ConfigMaps
// A volume of that name asks ascend-operator for a rank table.
inline constexpr std::string_view kRankTableVolume = "ranktable";

// The values of `app` that MindCluster compares; any other is a plain label to it.
inline constexpr std::string_view kMindieServer = "mindie-ms-server";
inline constexpr std::string_view kMindieController = "mindie-ms-controller";
inline constexpr std::string_view kMindieCoordinator = "mindie-ms-coordinator";

// Rank-table ConfigMaps (component/clusterd/pkg/domain/epranktable).
inline constexpr std::string_view kRankTableKey = "hccl.json";  // data key
inline constexpr std::string_view kRankTableConsumer =
    "mx-consumer-cim";  // label, "true": clusterd watches it
inline constexpr std::string_view kDeployServerStandalone = "grt-server/deploy-server";
inline constexpr std::string_view kDeployServerDistributed = "grt-group/deploy-server";
// Label of training pods with a rank table of their own (samples/train of mind-cluster).
inline constexpr std::string_view kDeployName = "deploy-name";
inline constexpr std::string_view kRingController = "ring-controller.atlas";

// AscendJob (component/ascend-operator/pkg/controllers/v1).
inline constexpr std::string_view kFramework = "framework";
inline constexpr std::string_view kScaleOutType = "scaleout-type";
inline constexpr std::string_view kRecoverStrategy = "recover-strategy";
inline constexpr std::string_view kAscendContainer = "ascend";  // name of the main container

// Volcano.
inline constexpr std::string_view kVolcanoScheduler = "volcano";
inline constexpr std::string_view kDefaultScheduler = "default-scheduler";
inline constexpr std::string_view kGroupMinMember = "scheduling.volcano.sh/group-min-member";
inline constexpr std::string_view kPodGroupAnnotation = "scheduling.k8s.io/group-name";

// Labels by which controllers find the pods of one instance: LeaderWorkerSet
// (pkg/webhooks/pod_webhook.go) and infer-operator (component/infer-operator/pkg/common).
inline constexpr std::string_view kLwsName = "leaderworkerset.sigs.k8s.io/name";
inline constexpr std::string_view kLwsGroup = "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr std::string_view kLwsRevision =
    "leaderworkerset.sigs.k8s.io/template-revision-hash";
inline constexpr std::string_view kLwsSize = "leaderworkerset.sigs.k8s.io/size";  // an annotation
inline constexpr std::string_view kInferServiceName = "infer.huawei.com/inferservice-name";
inline constexpr std::string_view kInstanceSetName = "infer.huawei.com/instanceset-name";
inline constexpr std::string_view kInstanceSetIndex = "infer.huawei.com/instanceset-index";
// The deployment controller adds it to a ReplicaSet's name and to its pods.
inline constexpr std::string_view kTemplateHash = "pod-template-hash";

// Annotations of nodes, written by the device plugin: the chips, {"Ascend910-0": {...}}, and the
// number of the super pod.
inline constexpr std::string_view kBaseDeviceInfos = "baseDeviceInfos";
inline constexpr std::string_view kSuperPodId = "superPodID";
// The serial number of the server, written by NodeD: a label, and in older versions an annotation
// (mind-cluster: component/ascend-common/api/label and annotation).
inline constexpr std::string_view kServerSerialNumber = "huawei.com/npu.server.serial-number";
inline constexpr std::string_view kProductSerialNumber = "product-serial-number";

// OME.
inline constexpr std::string_view kOmeAutoscalerClass = "ome.io/autoscalerClass";
inline constexpr std::string_view kOmeInferenceService =
    "ome.io/inferenceservice";  // label of pods
inline constexpr std::string_view kOmeDeploymentMode = "ome.io/deploymentMode";

// Containers.
inline constexpr std::string_view kVisibleDevices = "ASCEND_VISIBLE_DEVICES";
inline constexpr std::string_view kResourcePrefix = "huawei.com/";

// mindgate's own.
inline constexpr std::string_view kInject = "mindgate.io/inject";  // "enabled" or "disabled"
// Label of a ConfigMap in mindgate's namespace: "enabled" makes policies of its texts.
inline constexpr std::string_view kPoliciesLabel = "mindgate.io/policies";
inline constexpr std::string_view kScalingGate =
    "mindgate.io/elastic-scaling";  // scheduling gate that the watcher takes away
// On a PodGroup: the values of kMinAvailable that the watcher wrote there, newest last: "1,2,3".
inline constexpr std::string_view kGangRepair = "mindgate.io/gang-repair";

// Label or annotation of a PodGroup, a pod or a namespace: "disabled" keeps the watcher from
// restarting what fails.
inline constexpr std::string_view kRescheduling = "mindgate.io/rescheduling";
// Annotation of the watcher's Lease: "true" stops rescheduling until it is removed.
inline constexpr std::string_view kPauseRescheduling = "mindgate.io/pause-rescheduling";
// Taint of a node that the watcher isolates.
inline constexpr std::string_view kFaultyNode = "mindgate.io/faulty";

// Who Events about the watcher's decisions name as their reporter.
inline constexpr std::string_view kWatcherReporter = "mindgate.io/watcher";

// The NodePort of the coordinator in MindIE Motor's samples.
inline constexpr int64_t kMindieNodePort = 31015;

// The labels and annotations that MindCluster reads of what users write: one row each, from which
// come the rule about misspelled and misplaced keys, `mindgate explain KEY`, the page docs/keys.md,
// and what scripts/upstream-facts compares with a checkout of mind-cluster.

enum class KeyWhere : uint8_t { kLabel, kAnnotation };

std::string_view KeyWhereName(KeyWhere where);  // "label", "annotation"

// How a key is found that resembles this one.
struct KeyNearMiss {
  // This many typos are taken for the same word; a negative number: it is not guessed at, not even
  // when it stands in the wrong map.
  int typos = -1;
  bool needs_prefix = false;  // too common a word without its domain
  bool of_job = false;        // only an AscendJob's operator reads it
  bool only_moved = false;    // too common a word to guess at: only as it is, in the wrong map
};

struct KeyFact {
  std::string_view key;
  KeyWhere where;
  std::string_view place;   // on which objects it is read, for people
  std::string_view values;  // that are understood, and what all others mean
  std::string_view reader;  // component and package of mind-cluster, below component/
  std::string_view effect;  // one sentence without its full stop
  KeyNearMiss near{};
};

// By key.
std::span<const KeyFact> KeyFacts();
// Null pointer when MindCluster reads no such key.
const KeyFact* KeyNamed(std::string_view key);

// Whether the key of a label or annotation was meant to be another one.

struct SplitKey {
  std::string_view prefix;  // without the slash
  std::string_view name;
};
SplitKey SplitOf(std::string_view key);

// A key of somebody else's domain is theirs: only those without a prefix, or with one that nearly
// is huawei.com, may be meant for MindCluster.
bool IsMindClusterKey(const SplitKey& key);

// Letters and digits only, in lower case, so that "fault_Scheduling" is fault-scheduling.
class NormalizedKey {
 public:
  static constexpr size_t kMax = 40;  // bytes of a name; none of ours is longer

  // Of a name of at most kMax bytes.
  explicit NormalizedKey(std::string_view name);

  bool Resembles(const NormalizedKey& other, int typos) const;

 private:
  std::string_view text() const { return {text_.data(), size_}; }

  std::array<char, kMax> text_{};
  size_t size_ = 0;
  uint64_t letters_ = 0;  // which occur: rules most pairs out without comparing them
};

// Bounds what an object with 100,000 labels may cost; real ones have a few dozen.
inline constexpr size_t kMaxComparedKeys = 4096;

}  // namespace mindgate::schemas
