#include <algorithm>
#include <optional>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/chip_table.h"
#include "policies/chips/chips.h"
#include "policies/common/gang_size.h"
#include "policies/families.h"
#include "policies/places.h"
#include "schemas/names.h"
#include "schemas/rollout.h"

// K is short for the value of huawei.com/schedule_minAvailable throughout (gang_size.h).
namespace mindgate::policies::common {
namespace {

using schemas::PodGroupOwner;
using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

constexpr std::string_view kKey = schemas::kMinAvailable;

std::string KIs(int64_t k) { return std::string(kKey) + " is " + std::to_string(k); }

// The pods of one PodGroup; nothing when a template does not say.
std::optional<int64_t> PodsOf(const WorkloadView& view, const PodGroupView& group) {
  int64_t sum = 0;
  for (size_t index : group.templates) {
    const auto pods = view.templates[index].pods;
    if (!pods || *pods < 0 || __builtin_add_overflow(sum, *pods, &sum)) return std::nullopt;
  }
  return sum;
}

std::string Pods(int64_t count) { return std::to_string(count) + (count == 1 ? " pod" : " pods"); }

bool IsMultiNode(const PodGroupView& group) {
  return group.owner == PodGroupOwner::kLeaderWorkerSetGroup;
}

// The workload spec that holds a native pod template: /spec, or a role's raw spec.
const json::Value* SpecAround(const WorkloadView& view, const PodTemplateView& pod) {
  return json::Resolve(*view.object, pod.path.substr(0, pod.path.rfind('/')));
}

// Whether these pods have a gang size of another kind, beside which K is ignored or harmful.
bool HasOwnGangSize(const PodGroupView& group) {
  return IsMultiNode(group) || (group.min_member && *group.min_member != 1);
}

// Whether the map is of pods that have one.
bool IsBesideGangSize(const WorkloadView& view, const schemas::Place& map) {
  return std::any_of(
      view.pod_groups.begin(), view.pod_groups.end(), [&](const PodGroupView& group) {
        if (!HasOwnGangSize(group)) return false;
        if (group.annotations && group.annotations->value == map.value) return true;
        return std::any_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
          return view.templates[index].annotations.value == map.value;
        });
      });
}

void CheckValue(const RuleContext& context, Findings& findings) {
  for (const TextEntry& entry : ReachingAnnotations(context.view, kKey)) {
    if (ParseK(entry.value)) continue;
    const auto number = ParseGoInt(entry.value);
    const std::string is = std::string(kKey) + " is " + Quote(entry.value);
    const std::string effect =
        !number       ? ", not a whole number: the scheduler refuses the job and no pod starts"
        : *number < 1 ? ", below 1: the scheduler counts the NPUs of the job wrongly"
                      : ", more pods than Kubernetes can count: the gang never fills";
    findings.Violate(entry.Path(), is + effect,
                     schemas::kOmeRuntimes.Has(context.view.kind)
                         ? "remove the annotation: it belongs on engine and decoder of each "
                           "InferenceService, where mindgate adds it"
                     : IsBesideGangSize(context.view, *entry.map)
                         ? "remove the annotation: the job or group has a gang size of its own"
                         : "write the number of pods that must start together, in quotes; "
                           "huawei.com/schedule_minAvailable: \"1\" lets each start alone");
  }
}

void CheckOrderedStatefulSet(const WorkloadView& view, const PodTemplateView& pod,
                             const SeenK& seen, Findings& findings) {
  const auto policy = json::FindString(SpecAround(view, pod), "podManagementPolicy");
  if (policy.value_or("OrderedReady") != "OrderedReady") return;
  findings.Violate(seen.Path(),
                   KIs(seen.k) +
                       ", but a StatefulSet makes its second pod only when the first is ready, "
                       "and the first waits for the second: no pod ever starts",
                   R"(write podManagementPolicy: "Parallel" in the StatefulSet's spec, or )"
                   R"(huawei.com/schedule_minAvailable: "1")");
}

// With the gang provider the first PodGroup holds the leader alone until it is ready; without it,
// all leaders share one. Only what fails both ways is certain.
void CheckLeaderReady(const WorkloadView& view, const PodTemplateView& pod, const SeenK& seen,
                      Findings& findings) {
  const json::Value* spec = json::Find(view.object, "spec");
  if (json::FindString(spec, "startupPolicy") != "LeaderReady") return;
  if (&pod != &view.templates.front()) return;  // the leader, or the template that serves as one
  const json::Value* groups = json::Find(spec, "replicas");
  const auto leaders = groups == nullptr ? 1 : json::AsInt(groups);
  if (!leaders || seen.k <= *leaders) return;
  findings.Violate(seen.Path(),
                   KIs(seen.k) +
                       ", but with startupPolicy LeaderReady workers appear only when the leader "
                       "is ready, and the leader waits for them: no pod ever starts",
                   "remove the annotation, or write startupPolicy: \"LeaderCreated\"");
}

void CheckDeadlock(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  for (const PodTemplateView& pod : view.templates) {
    const auto seen = SeenBy(context, pod);
    if (!seen || seen->k < 2) continue;
    if (GroupOf(view, pod).owner == PodGroupOwner::kStatefulSet) {
      CheckOrderedStatefulSet(view, pod, *seen, findings);
    } else if (IsMultiNode(GroupOf(view, pod))) {
      CheckLeaderReady(view, pod, *seen, findings);
    }
  }
}

void CheckNoEffect(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  if (view.controller_injected) return;
  for (const PodTemplateView& pod : view.templates) {
    const auto seen = SeenBy(context, pod);
    if (!seen) continue;
    const auto& min_member = GroupOf(view, pod).min_member;
    if (IsMultiNode(GroupOf(view, pod))) {
      if (seen->k < 2) continue;
      findings.Violate(seen->Path(),
                       KIs(seen->k) +
                           " on a leader-worker group: ignored with LWS gang scheduling, and "
                           "without it leaders of different groups wait for each other",
                       "remove the annotation: the group's size is the gang");
    } else if (min_member && *min_member != 1 && *min_member != seen->k) {
      findings.Violate(seen->Path(),
                       KIs(seen->k) + " but the PodGroup has minMember " +
                           std::to_string(*min_member) +
                           ", so it is ignored: it counts only where minMember is 1",
                       "remove the annotation, or set the gang size where the kind has it "
                       "(minAvailable of the job)");
    }
  }
}

void CheckInRuntime(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  for (const PodTemplateView& pod : view.templates) {
    const auto seen = SeenBy(context, pod);
    if (!seen || IsMultiNode(GroupOf(view, pod))) continue;
    findings.Violate(seen->Path(),
                     KIs(seen->k) +
                         " in a runtime, and so in every service that uses it: one with fewer "
                         "replicas never starts, one with more starts in parts",
                     "move it to engine and decoder of each InferenceService, equal to their "
                     "minReplicas (mindgate adds it there)");
  }
}

void CheckDiffers(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  for (const PodGroupView& group : view.pod_groups) {
    if (group.min_member && *group.min_member != 1) continue;
    // What stands on the PodGroup wins over its pods, so they cannot differ.
    if (group.annotations && group.annotations->Find(kKey) != nullptr) continue;
    const auto same = [](std::string_view a, std::string_view b) {
      return ParseGoInt(a) == ParseGoInt(b);
    };
    const auto found = FindDisagreement(view.GroupAnnotations(group, kKey), same);
    if (!found) continue;
    findings.Violate(found->other.Path(),
                     std::string(kKey) + " is " + Quote(found->other_text) + " here and " +
                         Quote(found->first_text) + " at " +
                         json::FieldPath(*view.object, found->first.Path()) +
                         ": the scheduler picks one of them at random in each session",
                     "write the same number for all pods of " + std::string(group.name));
  }
}

// Groups whose pods come from this object alone, in the number it says. Nothing can raise it later.
bool HasFixedSize(const PodGroupView& group) {
  switch (group.owner) {
    case PodGroupOwner::kVolcanoJob:
    case PodGroupOwner::kAscendJob:
    case PodGroupOwner::kJob:
    case PodGroupOwner::kPodSet:
    case PodGroupOwner::kInstance:
      return true;
    default:
      return false;
  }
}

struct TooLarge {
  SeenK seen;
  int64_t pods = 0;
};

// The first K of the group that is larger than the pods the object makes. A group of no pods waits
// for nothing.
std::optional<TooLarge> FindTooLarge(const RuleContext& context, const PodGroupView& group) {
  const WorkloadView& view = context.view;
  if (IsMultiNode(group) || (group.min_member && *group.min_member != 1)) return std::nullopt;
  const auto pods = PodsOf(view, group);
  if (!pods || *pods == 0) return std::nullopt;
  for (size_t index : group.templates) {
    auto seen = SeenBy(context, view.templates[index]);
    if (seen && seen->k > *pods) return TooLarge{*seen, *pods};
  }
  return std::nullopt;
}

void CheckNeverFills(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  for (const PodGroupView& group : view.pod_groups) {
    // An instance's Deployment or StatefulSet keeps the size that its role says.
    const bool instance = schemas::kInferOperatorKinds.Has(view.kind);
    if (!instance && !HasFixedSize(group)) continue;
    const auto found = FindTooLarge(context, group);
    if (!found) continue;
    findings.Violate(
        found->seen.Path(),
        KIs(found->seen.k) + " but " + std::string(group.name) + " has only " + Pods(found->pods) +
            ": the gang never fills and no pod starts",
        "write huawei.com/schedule_minAvailable: \"" + std::to_string(found->pods) + "\" or less");
  }
}

void CheckExceedsReplicas(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  // OME makes its Deployments with one replica and lets an autoscaler raise them.
  if (view.controller_injected) return;
  for (const PodGroupView& group : view.pod_groups) {
    if (HasFixedSize(group) || group.owner == PodGroupOwner::kPod) continue;
    const auto found = FindTooLarge(context, group);
    if (!found) continue;
    const std::string_view count = view.UsesRuntime() ? "minReplicas" : "replicas";
    findings.Violate(found->seen.Path(),
                     KIs(found->seen.k) + " but " + std::string(count) + " make " +
                         Pods(found->pods) + ": none starts until the rest are added",
                     "write huawei.com/schedule_minAvailable: \"" + std::to_string(found->pods) +
                         "\", or raise " + std::string(count));
  }
}

// "maxSurge 1 and maxUnavailable 0", as the user wrote them.
std::string Limits(const schemas::RollingUpdate& update) {
  return "maxSurge " + std::to_string(update.max_surge) + " and maxUnavailable " +
         (update.raised ? "0, which Kubernetes takes for 1,"
                        : std::to_string(update.max_unavailable));
}

// Where the rollout strategy of the pods is written.
std::string StrategyOf(const WorkloadView& view) {
  return schemas::kOmeKinds.Has(view.kind) ? "deploymentStrategy of the component"
                                           : "spec.strategy";
}

// The sp-block of a job for super pods, and how many chips each of its pods has.
struct SuperPodBlock {
  schemas::Entry entry;
  int64_t chips = 0;
  int64_t chips_of_pod = 0;
};

std::optional<SuperPodBlock> SuperPodBlockOf(const RuleContext& context,
                                             const PodGroupView& group) {
  const schemas::Entry entry =
      schemas::ReadGroupAnnotation(context.view, group, schemas::kSpBlock).entry;
  const auto block = chips::PositiveBlock(entry);
  const schemas::GroupChips* chips = block ? context.chips->Of(group) : nullptr;
  if (chips == nullptr || !chips::IsSuperPod(*chips) || !chips->uniform || *chips->uniform < 1) {
    return std::nullopt;
  }
  return SuperPodBlock{entry, *block, *chips->uniform};
}

// Without K the plugin takes the new ReplicaSet's pods for the whole job, and refuses a job that
// its sp-block does not divide.
void CheckBlockRollout(const RuleContext& context, const PodTemplateView& pod, Findings& findings) {
  const WorkloadView& view = context.view;
  if (!pod.pod_group) return;
  const auto block = SuperPodBlockOf(context, GroupOf(view, pod));
  if (!block || block->chips % block->chips_of_pod != 0) return;
  const int64_t pods = block->chips / block->chips_of_pod;
  const auto update = schemas::RollingUpdateOf(view, pod, pods);
  if (pods < 2 || !update || update->max_surge + update->max_unavailable >= pods) return;
  findings.Violate(block->entry.Path(),
                   "sp-block " + std::to_string(block->chips) + " needs " + Pods(pods) +
                       " at once: every rolling update would hang, as " + Limits(*update) +
                       " allow fewer new pods, and the scheduler refuses those",
                   "write type: \"Recreate\" in " + StrategyOf(view));
}

// "sp-block 32 is more than the 16 chips of one pod": then a lone pod, which is all that a lower K
// lets in, is refused (mind-cluster: internal/npu/ascend910/ascend910a3/superpod/frame.go). Empty
// when it is not so.
std::string BlockOfSeveralPods(const RuleContext& context, const PodGroupView& group) {
  const auto block = SuperPodBlockOf(context, group);
  if (!block || block->chips <= block->chips_of_pod) return "";
  return "sp-block " + std::to_string(block->chips) + " is more than the " +
         std::to_string(block->chips_of_pod) + (block->chips_of_pod == 1 ? " chip" : " chips") +
         " of one pod";
}

void CheckRollout(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  if (view.controller_injected) return;
  for (const PodTemplateView& pod : view.templates) {
    const auto seen = SeenBy(context, pod);
    if (!seen) CheckBlockRollout(context, pod, findings);
    if (!seen || GroupOf(view, pod).min_member.value_or(1) != 1) continue;
    const auto update = schemas::RollingUpdateOf(view, pod, seen->k);
    if (!update || !schemas::RolloutBlocked(view, pod, seen->k)) continue;
    // Where the runtime is not known, it may still say otherwise.
    const bool assumed = view.LacksRuntime() && pod.pod_spec.Find("deploymentStrategy") == nullptr;
    std::string message = KIs(seen->k) + ": every rolling update would hang, as " +
                          (assumed ? "OME's default of " : "") + Limits(*update) +
                          " both stay below it";
    const std::string strategy = StrategyOf(view);
    std::string fix = "write type: \"Recreate\" or maxSurge: \"100%\" in " + strategy;
    if (const std::string block = BlockOfSeveralPods(context, GroupOf(view, pod)); !block.empty()) {
      message += "; gangRepair cannot unblock it, as " + block;
      fix = "write type: \"Recreate\" in " + strategy;
    } else if (context.config.gang_repair) {
      message += "; the watcher's gangRepair unblocks it";
      fix += ", or keep the watcher's gangRepair on";
    }
    findings.Violate(seen->Path(), std::move(message), std::move(fix));
  }
}

void CheckGroupMinMember(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  // Earlier versions ignore it.
  if (context.config.versions.IsBefore(schemas::Component::kVolcano, {1, 12})) return;
  const auto text = view.Annotation(schemas::kGroupMinMember);
  if (!text || ParseGoInt(*text).value_or(0) < 2) return;
  for (const PodTemplateView& pod : view.templates) {
    if (!pod.RequestsNpus() || !IsGang(context, pod) || pod.Annotation(kKey)) continue;
    findings.Violate(pod.annotations.path.Child(kKey),
                     "group-min-member without " + std::string(kKey) +
                         " makes the scheduler multiply the NPUs twice: the job waits for many "
                         "times the cards it needs",
                     "add huawei.com/schedule_minAvailable: " + Quote(*text) +
                         " to spec.template.metadata.annotations, or remove " +
                         std::string(schemas::kGroupMinMember));
  }
}

void CheckExternalAutoscaler(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  for (const PodTemplateView& pod : view.templates) {
    const auto seen = SeenBy(context, pod);
    if (!seen || seen->k < 2 || IsMultiNode(GroupOf(view, pod))) continue;
    if (pod.Annotation(schemas::kOmeAutoscalerClass) != "external") continue;
    findings.Violate(seen->Path(),
                     KIs(seen->k) +
                         " with ome.io/autoscalerClass external: the Deployment starts with one "
                         "pod, which waits for the others, and OME adds none",
                     "remove the annotation, or let OME scale the component (another "
                     "ome.io/autoscalerClass)");
  }
}

constexpr Rule kMinAvailableRules[] = {
    {.id = "MG070",
     .name = "min-available-value",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary =
         "The annotation huawei.com/schedule_minAvailable is a whole number from 1 to 2147483647, "
         "quoted.",
     .why = "The scheduler rejects a job whose value is not a number as an invalid argument, so "
            "its pods "
            "stay Pending forever. With 0 or less it computes that the job needs no NPUs at all. "
            "An empty "
            "value is what a template leaves behind when its input was missing.",
     .fix = "Write digits in quotes, such as huawei.com/schedule_minAvailable: \"2\".",
     .source =
         "mind-cluster: component/ascend-for-volcano/plugin/job.go, validJobFn (strconv.Atoi, so "
         "\"+3\" is read and \" 2\" is not).",
     .check = CheckValue},
    {.id = "MG071",
     .name = "min-available-deadlock",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferOperatorKinds | schemas::kStatefulSets | schemas::kLeaderWorkerSets,
     .summary =
         "A gang larger than one pod is requested only where all its pods can exist at once.",
     .why =
         "A StatefulSet with podManagementPolicy OrderedReady, its default, creates one pod after "
         "the "
         "other, each when the previous one is ready. A LeaderWorkerSet with LeaderReady creates "
         "workers when the leader is ready. In both cases the first pod waits forever for a gang "
         "that "
         "cannot form.",
     .fix =
         "Use podManagementPolicy Parallel or startupPolicy LeaderCreated, or drop the annotation.",
     .source = "Kubernetes: StatefulSet pod management policies. lws: "
               "pkg/schedulerprovider/volcano_provider.go (minMember 1 with LeaderReady). "
               "mind-cluster: docs "
               "of affinity scheduling ask for OrderedReady with 1. A LeaderWorkerSet is denied "
               "only when it "
               "fails with and without LWS gang scheduling, which its manifest does not show.",
     .check = CheckDeadlock},
    {.id = "MG072",
     .name = "min-available-no-effect",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "huawei.com/schedule_minAvailable is set only where the scheduler uses it: on "
                "groups whose "
                "PodGroup has minMember 1.",
     .why =
         "The annotation counts only while minMember is 1. On a Volcano Job, an AscendJob or a "
         "gang of "
         "infer-operator the kind's own minAvailable decides, and ClusterD, which takes the larger "
         "of "
         "both, may never report the job as running. On LeaderWorkerSets it is ignored with gang "
         "scheduling and wrong without.",
     .fix = "Remove the annotation and set the gang size where the kind has it.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go, initByJobInfo; "
               "component/clusterd/pkg/domain/pod/pod_util.go, GetMinMember. lws: "
               "pkg/schedulerprovider/volcano_provider.go.",
     .check = CheckNoEffect},
    {.id = "MG073",
     .name = "min-available-in-runtime",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kOmeRuntimes,
     .summary =
         "A ServingRuntime or ClusterServingRuntime carries no huawei.com/schedule_minAvailable.",
     .why = "A runtime serves many services, each with its own minReplicas. The value fits at most "
            "some "
            "of them: services with fewer replicas never start, those with more lose their "
            "all-or-nothing "
            "start.",
     .fix = "Put it on spec.engine and spec.decoder of the InferenceService, equal to minReplicas. "
            "mindgate adds it there.",
     .source =
         "ome: pkg/controller/v1beta1/inferenceservice/utils/merging.go. MindCluster's SGLang "
         "documents put it into the runtime, its deploy tool into the service; the documents' way "
         "works for a runtime with a single service, hence a warning.",
     .check = CheckInRuntime},
    {.id = "MG074",
     .name = "min-available-differs",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "All pods of one PodGroup carry the same huawei.com/schedule_minAvailable.",
     .why = "The scheduler takes the value from one arbitrary pod of the group, a different one in "
            "each "
            "session. The gang size keeps changing: pods start without their partners, or wait "
            "although "
            "all of them exist.",
     .fix = "Write the same number everywhere: for AIBrix the sum of the replicas of all roles "
            "that share "
            "the PodGroup.",
     .source =
         "mind-cluster: component/ascend-for-volcano/plugin/job.go, getJobAnnotationFromJobInfo "
         "(iteration over a Go map). A session with the smaller value does place the pods, hence a "
         "warning.",
     .check = CheckDiffers},
    {.id = "MG075",
     .name = "min-available-never-fills",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kVolcanoJobs | schemas::kBatchJobs | schemas::kAibrixKinds |
              schemas::kInferOperatorKinds | schemas::kAscendJobs,
     .summary = "huawei.com/schedule_minAvailable is not larger than a group whose size is fixed.",
     .why = "The gang needs more pods than the group will ever have, so the scheduler binds none "
            "of them.",
     .fix = "Write the number of pods of the group, or less.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go (\"pods not enough\"). "
               "Fixed are "
               "Jobs, Volcano Jobs, AscendJobs, PodSets and the instances of infer-operator.",
     .check = CheckNeverFills},
    {.id = "MG076",
     .name = "min-available-exceeds-replicas",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kReplicaSets | schemas::kStatefulSets | schemas::kInferenceServices |
              schemas::kAibrixKinds,
     .summary = "huawei.com/schedule_minAvailable is not larger than the replicas asked for.",
     .why =
         "No pod is bound until the gang is complete. An autoscaler that waits for load never sees "
         "any, and after a scale-down below this number a failed pod is not replaced.",
     .fix = "Write at most the number of replicas; for OME, minReplicas.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go. The replicas may still "
               "be raised "
               "later, hence a warning.",
     .check = CheckExceedsReplicas},
    {.id = "MG077",
     .name = "min-available-blocks-rollout",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kDeployments | schemas::kInferenceServices,
     .summary = "A rolling update can bring up as many new pods at once as the gang needs.",
     .why = "Every template change creates a new ReplicaSet with its own PodGroup. Its first pods "
            "wait "
            "until the gang is complete, the deployment controller creates no more until they are "
            "ready, "
            "and the update hangs, even if it would fix a current fault. The same happens without "
            "huawei.com/schedule_minAvailable to an sp-block of several pods: the first new pods "
            "are not "
            "a whole block, and the scheduler refuses them.",
     .fix = "Use strategy Recreate, or maxSurge 100%, or a gang of 1; or let mindgate's watcher "
            "repair "
            "such gangs (gangRepair, on by default). With an sp-block larger than one pod only "
            "Recreate "
            "helps.",
     .source =
         "volcano issue 4739. A lone pod of a larger sp-block is refused by mind-cluster: "
         "component/ascend-for-volcano/internal/npu/ascend910/ascend910a3/superpod/frame.go. ome: "
         "pkg/controller/v1beta1/inferenceservice/reconcilers/deployment/deployment_reconciler.go "
         "(default maxSurge 1, maxUnavailable 0). MindCluster's documents nevertheless require the "
         "annotation for OME in Deployment mode, so it is injected and this is a warning.",
     .check = CheckRollout},
    {.id = "MG078",
     .name = "group-min-member-alone",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kReplicaSets,
     .summary =
         "A Deployment or ReplicaSet with scheduling.volcano.sh/group-min-member also carries "
         "huawei.com/schedule_minAvailable in its template.",
     .why = "With group-min-member Volcano asks for the resources of that many pods. Without the "
            "annotation the NPU plugin multiplies them by the replicas once more: the job waits "
            "for far "
            "more cards than it uses.",
     .fix = "Add the annotation with the same number, or remove group-min-member.",
     .source = "volcano: pkg/controllers/podgroup/pg_controller_handler.go (1.12 and later; "
               "earlier versions "
               "ignore group-min-member, hence a warning). mind-cluster: "
               "component/ascend-for-volcano/plugin/job.go.",
     .check = CheckGroupMinMember},
    {.id = "MG079",
     .name = "min-available-external-autoscaler",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferenceServices,
     .summary = "A component with ome.io/autoscalerClass external has no gang larger than 1.",
     .why = "OME creates its Deployment with one replica and leaves scaling to an external "
            "autoscaler. "
            "The one pod waits for the gang, is never ready and shows no load, so a load-based "
            "autoscaler "
            "adds nothing.",
     .fix = "Remove huawei.com/schedule_minAvailable from the component, or let OME scale it.",
     .source = "ome: pkg/controller/v1beta1/inferenceservice/reconcilers (Deployment without "
               "replicas, HPA "
               "deleted for external). It may be scaled by hand, hence a warning.",
     .check = CheckExternalAutoscaler},
};

}  // namespace

Family MinAvailableRules() { return kMinAvailableRules; }

}  // namespace mindgate::policies::common
