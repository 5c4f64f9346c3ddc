#include "schemas/names.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/text.h"

namespace mindgate::schemas {
namespace {

constexpr auto kLabel = KeyWhere::kLabel;
constexpr auto kAnnotation = KeyWhere::kAnnotation;

constexpr std::string_view kOfGroup = "PodGroup or its pods; of AscendJobs and vcjobs the job";
constexpr std::string_view kOfJob = "AscendJob, vcjob";
constexpr std::string_view kOfAscendJob = "AscendJob";
constexpr std::string_view kOfPods = "pod template";
constexpr std::string_view kRescheduler = "ascend-for-volcano: internal/rescheduling";
constexpr std::string_view kPlugin = "ascend-for-volcano: plugin";
constexpr std::string_view kSuperPods = "ascend-for-volcano: internal/npu";
constexpr std::string_view kOperator = "ascend-operator: pkg/controllers";

// mind-cluster 26.1; what an older release does differently stands in docs/versions.md.
constexpr KeyFact kFacts[] = {
    {kApp,
     kLabel,
     "AscendJob and pod template",
     "mindie-ms-server, mindie-ms-controller, mindie-ms-coordinator",
     kOperator,
     "With jobID it makes a job part of a MindIE service; a controller or coordinator loses only "
     "its "
     "faulty pods",
     {0, false, true, true}},
    {"custom-job-id", kLabel, kOfJob, "any", "clusterd: pkg/domain/job",
     "The number of the job in summaries for platforms"},
    {"customJobKey", kLabel, kOfJob, "the name of another label", "clusterd: pkg/domain/job",
     "Which label holds the number of the job in summaries"},
    {kDeployName, kLabel, kOfPods, "the name of the Deployment or StatefulSet", kOperator,
     "By it the operator finds the pods of a rank table"},
    {"distributed", kLabel, kOfGroup, "true, false; others count as false", kSuperPods,
     "Whether a job on Duo cards may have several pods"},
    {"duo", kLabel, kOfGroup, "true; others count as off", kSuperPods,
     "A job on 300I Duo cards of two chips"},
    {kFaultRetryTimes,
     kLabel,
     kOfGroup,
     "a whole number; 0 and others: failed pods are left alone",
     kRescheduler,
     "How often a job is restarted after a failed pod",
     {2}},
    {kFaultScheduling,
     kLabel,
     kOfGroup,
     "force, grace, external-force, external-grace, off; others count as off, with a stuck cache",
     kRescheduler,
     "Whether and how pods are deleted after a fault",
     {3}},  // 3: "fault-schedule"
    {kFramework, kLabel, kOfAscendJob, "pytorch, mindspore, tensorflow", kOperator,
     "Which replica types and variables a job has"},
    {kDeployServerDistributed, kLabel, "ConfigMap rings-config-JOB", "any", "clusterd: epranktable",
     "The instance is one of a distributed server"},
    {kDeployServerStandalone, kLabel, "ConfigMap rings-config-JOB", "any", "clusterd: epranktable",
     "The instance is a server of its own"},
    {kAffinityConfig,
     kAnnotation,
     kOfGroup,
     "level1=a,level2=b",
     kSuperPods,
     "The blocks of schedule_policy multilevel",
     {2, true}},
    {"huawei.com/infer_service_schedule", kAnnotation, kOfPods, "any", kSuperPods,
     "Collected and used by no handler"},
    {kRecoverPolicyPath,
     kAnnotation,
     kOfGroup,
     "pod; others mean nothing",
     kRescheduler,
     "Faults are limited to the faulty pods",
     {2}},
    {"huawei.com/schedule.filter.faultCode", kAnnotation, kOfGroup, "codes with commas",
     "clusterd: pkg/application/faultmanager", "Faults that do not count for the job"},
    {"huawei.com/schedule.filter.faultLevel", kAnnotation, kOfGroup, "levels with commas",
     "clusterd: pkg/application/faultmanager", "Levels of faults that do not count for the job"},
    {"huawei.com/schedule_enable_dequeue", kAnnotation, kOfGroup, "on; others count as off",
     kPlugin, "A job that has waited for long goes back into its queue"},
    {kMinAvailable,
     kAnnotation,
     kOfGroup,
     "a whole number from 1 on, where minMember is 1; others refuse the job",
     kPlugin,
     "The size of the gang",
     {2}},
    {kSchedulePolicy,
     kAnnotation,
     kOfGroup,
     "chip8-node8 and the like",
     kSuperPods,
     "Which handler places the job",
     {2, true}},
    {"huawei.com/schedule_ubmemory", kAnnotation, kOfGroup, "true", kSuperPods,
     "A job with memory over UB, of at most 1,024 chips, under chip8-node8-ra64-sp"},
    {"huawei.com/scheduler.softShareDev.aicoreQuota", kLabel, kOfPods, "a share in percent",
     kSuperPods, "Cores of a chip that is shared by software"},
    {"huawei.com/scheduler.softShareDev.hbmQuota", kLabel, kOfPods, "MiB", kSuperPods,
     "Memory of a chip that is shared by software"},
    {"huawei.com/scheduler.softShareDev.policy", kLabel, kOfPods,
     "fixed-share, elastic, best-effort", kSuperPods, "How a chip is shared by software"},
    {kSkipAscendPlugin, kAnnotation, kOfPods, "enabled; others mean nothing", kSuperPods,
     "A pod without chips passes the checks of each pod under A3 and multilevel policies"},
    {"infer.huawei.com/container-snapshot", kLabel, "InstanceSet", "true; others count as off",
     "infer-operator: pkg/controller", "Containers start from a snapshot"},
    {"infer.huawei.com/gang-schedule", kLabel, "metadata of a role or InstanceSet",
     "true; others count as off", "infer-operator: pkg/controller",
     "The pods of an instance are one gang"},
    {"inferserviceid",
     kLabel,
     "PodGroup or its pods; of AscendJobs and vcjobs the job, of infer-operator the role",
     "any",
     "ascend-for-volcano: internal/npu/base/inferservice",
     "Jobs of one service are placed near each other",
     {1}},  // 1: "inferservice" may be somebody's own
    {kJobId,
     kLabel,
     "AscendJob and pod template",
     "any",
     kOperator,
     "The MindIE service that the job is part of",
     {0, false, true, true}},
    {kGroupName,
     kLabel,
     kOfAscendJob,
     "a group of the scaling rule",
     kOperator,
     "Which group of the rule the job is one of",
     {1, true, true}},
    {kScalingRule,
     kLabel,
     kOfAscendJob,
     "the name of a ConfigMap",
     kOperator,
     "The rule by which the service scales; an empty value counts, too",
     {1, true, true}},
    {kRankTableConsumer, kLabel, "ConfigMap rings-config-JOB", "true", "clusterd: epranktable",
     "ClusterD sees the rank table change"},
    {"npu-310-strategy", kLabel, kOfGroup, "chip, card", kSuperPods,
     "Whether chips or whole cards of Atlas 300I are handed out"},
    {kPodRescheduling,
     kLabel,
     kOfGroup,
     "on; others count as off",
     kRescheduler,
     "The faulty pods go first, and the rest only if that does not help",
     {3}},  // 3: "pod-reschedule"
    {"podgroup-sched-enable", kLabel, kOfGroup, "true; others count as off", kPlugin,
     "Pods are placed in the order of their ranks, all at once"},
    {kProcessRecover,
     kLabel,
     kOfGroup,
     "on, pause; others count as off",
     kRescheduler,
     "Processes recover in place, and pods without a fault stay",
     {2}},
    {kRaBlock,
     kAnnotation,
     kOfGroup,
     "a power of two up to 64",
     kSuperPods,
     "Chips of a rack block under chip8-node8-ra64-sp",
     {0}},
    {kRecoverStrategy,
     kAnnotation,
     kOfAscendJob,
     "retry, recover, recover-in-place, elastic-training, dump, exit, with commas",
     kOperator,
     "What training processes may do instead of a restart",
     {0, false, true}},
    {kRingController, kLabel, "job and pod template",
     "ascend-910, ascend-910b, ascend-310, ascend-310P, ascend-npu", kOperator,
     "A rank table is made; virtual NPUs are recognised"},
    {kScaleOutType, kLabel, kOfAscendJob, "UBoE, RoCE, in any case", kOperator,
     "The network between super pods"},
    {kSpBlock,
     kAnnotation,
     kOfGroup,
     "chips, a multiple of those of a node",
     kSuperPods,
     "The chips of one logical super pod",
     {0}},
    {kSpFit,
     kAnnotation,
     kOfGroup,
     "idlest; others mean nothing",
     kSuperPods,
     "A MindIE job takes the idlest super pod",
     {0}},
    {kSubHealthyStrategy,
     kLabel,
     kOfGroup,
     "ignore, graceExit, forceExit, hotSwitch; others count as ignore",
     kRescheduler,
     "What a sub-healthy chip leads to",
     {2}},
    {"super-pod-affinity", kLabel, kOfGroup, "soft; others count as hard", kSuperPods,
     "Whether a job may leave its super pod"},
    {"tor-affinity", kLabel, kOfGroup, "large-model-schema, normal-schema, null",
     "ascend-for-volcano: internal/nslb", "Nodes of a job share switches"},
    {"vnpu-dvpp", kLabel, kOfGroup, "yes, no, null", "ascend-for-volcano: internal/npu/vnpu",
     "Whether a slice has the units for media"},
    {"vnpu-level", kLabel, kOfGroup, "low, high", "ascend-for-volcano: internal/npu/vnpu",
     "Which template a slice is cut by"},
    {"volcano.sh/schedule.plugin", kAnnotation, kOfGroup, "a resource without huawei.com/", kPlugin,
     "The job counts as one for NPUs although minResources names none"},
    {"wait-reschedule-timeout",
     kAnnotation,
     "PodGroup; of AscendJobs and vcjobs the job",
     "30 to 270 seconds; others count as 270",
     "clusterd: pkg/application/recover",
     "How long processes wait for a pod that was rescheduled",
     {2}},
};

}  // namespace

std::string_view KeyWhereName(KeyWhere where) {
  return where == KeyWhere::kLabel ? "label" : "annotation";
}

std::span<const KeyFact> KeyFacts() { return kFacts; }

const KeyFact* KeyNamed(std::string_view key) {
  const auto* const found = std::find_if(std::begin(kFacts), std::end(kFacts),
                                         [key](const KeyFact& fact) { return fact.key == key; });
  return found == std::end(kFacts) ? nullptr : found;
}

SplitKey SplitOf(std::string_view key) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {"", key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

bool IsMindClusterKey(const SplitKey& key) {
  constexpr std::string_view kDomain = "huawei.com";
  constexpr size_t kTypos = 2;
  const std::string_view prefix = key.prefix;
  if (prefix.empty() || prefix == kDomain) return true;
  if (prefix.size() + kTypos < kDomain.size() || prefix.size() > kDomain.size() + kTypos) {
    return false;
  }
  return EditDistance(prefix, kDomain) <= static_cast<int>(kTypos);
}

NormalizedKey::NormalizedKey(std::string_view name) {
  for (char c : name) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool digit = lower >= '0' && lower <= '9';
    if (!digit && !(lower >= 'a' && lower <= 'z')) continue;
    text_[size_++] = lower;
    letters_ |= uint64_t{1} << (digit ? 26 + lower - '0' : lower - 'a');
  }
}

bool NormalizedKey::Resembles(const NormalizedKey& other, int typos) const {
  const auto [shorter, longer] = std::minmax({size_, other.size_});
  if (longer - shorter > static_cast<size_t>(typos)) return false;
  // One typo changes at most one letter into another.
  if (std::popcount(letters_ ^ other.letters_) > 2 * typos) return false;
  return EditDistance(text(), other.text()) <= typos;
}

}  // namespace mindgate::schemas
