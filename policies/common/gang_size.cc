#include "policies/common/gang_size.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"
#include "schemas/placement.h"

namespace mindgate::policies::common {
namespace {

constexpr int64_t kMaxPods = 2147483647;
// Whose PodGroups pg-controller makes, and takes the annotation from (volcano:
// pkg/controllers/podgroup/pg_controller_handler.go, getAnnotationsFromUpperRes).
constexpr schemas::KindSet kMembersCount =
    schemas::kReplicaSets | schemas::kStatefulSets |
    schemas::KindSet{schemas::Kind::kJob, schemas::Kind::kDaemonSet};

}  // namespace

using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

std::optional<int64_t> ParseK(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  const auto k = ParseGoInt(*text);
  return k && *k >= 1 && *k <= kMaxPods ? k : std::nullopt;
}

std::string KIs(int64_t k) {
  return std::string(schemas::kMinAvailable) + " is " + std::to_string(k);
}

std::string SeenK::Path() const {
  return of_group != nullptr ? of_group->path.Child(schemas::kMinAvailable)
                             : AnnotationPath(*view, *pod, schemas::kMinAvailable);
}

std::optional<SeenK> SeenBy(const RuleContext& context, const PodTemplateView& pod) {
  const WorkloadView& view = context.view;
  const schemas::FieldView* of_group = nullptr;
  if (pod.pod_group) {
    const auto& annotations = view.pod_groups[*pod.pod_group].annotations;
    if (annotations && annotations->Find(schemas::kMinAvailable) != nullptr)
      of_group = &*annotations;
  }
  const auto k = ParseK(of_group != nullptr ? of_group->Text(schemas::kMinAvailable)
                                            : pod.Annotation(schemas::kMinAvailable));
  if (!k || !IsGang(context, pod)) return std::nullopt;
  return SeenK{*k, &view, &pod, of_group};
}

std::optional<SeenGang> GangOf(const RuleContext& context, const PodTemplateView& pod) {
  const auto k = SeenBy(context, pod);
  const std::string_view text = context.view.Annotation(schemas::kGroupMinMember).value_or("");
  const auto members = text.empty() ? std::nullopt : ParseK(text);
  const bool counts = members && *members >= (k ? k->k : 2) &&
                      kMembersCount.Has(context.view.kind) &&
                      !context.config.versions.IsBefore(schemas::Component::kVolcano, {1, 12}) &&
                      IsGang(context, pod);
  if (counts) {
    return SeenGang{*members, context.view.annotations.path.Child(schemas::kGroupMinMember),
                    std::string(schemas::kGroupMinMember) + " is " + std::to_string(*members),
                    true};
  }
  if (!k) return std::nullopt;
  return SeenGang{k->k, k->Path(), KIs(k->k), false};
}

bool IsGang(const RuleContext& context, const PodTemplateView& pod) {
  if (pod.router || !pod.pod_group) return false;
  // Where injection replaces the default scheduler, its name is gone by now.
  if (pod.SchedulerName() == schemas::kDefaultScheduler || !IsPlacedByVolcano(context, pod)) {
    return false;
  }
  if (context.view.LacksRuntime()) return true;
  const auto& templates = context.view.templates;
  const auto& members = context.view.pod_groups[*pod.pod_group].templates;
  return std::any_of(members.begin(), members.end(),
                     [&](size_t index) { return templates[index].RequestsNpus(); });
}

const PodGroupView& GroupOf(const WorkloadView& view, const PodTemplateView& pod) {
  return view.pod_groups[*pod.pod_group];
}

// What huawei.com/schedule_minAvailable says, and where it counts.

namespace {

// Whether these pods have a gang size of another kind, beside which K is ignored or harmful.
bool HasOwnGangSize(const PodGroupView& group) {
  return group.facts().leader_and_workers || (group.min_member && *group.min_member != 1);
}

// Whether the map is of pods that have one.
bool IsBesideGangSize(const WorkloadView& view, const schemas::FieldView& map) {
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
  for (const TextEntry& entry : ReachingAnnotations(context.view, schemas::kMinAvailable)) {
    if (ParseK(entry.value)) continue;
    const auto number = ParseGoInt(entry.value);
    const std::string is = std::string(schemas::kMinAvailable) + " is " + Quote(entry.value);
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

void CheckNoEffect(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  if (view.controller_injected) return;
  for (const PodTemplateView& pod : view.templates) {
    const auto seen = SeenBy(context, pod);
    if (!seen) continue;
    const auto& min_member = GroupOf(view, pod).min_member;
    if (GroupOf(view, pod).facts().leader_and_workers) {
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
    if (!seen || GroupOf(view, pod).facts().leader_and_workers) continue;
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
    if (group.annotations && group.annotations->Find(schemas::kMinAvailable) != nullptr) continue;
    const auto same = [](std::string_view a, std::string_view b) {
      return ParseGoInt(a) == ParseGoInt(b);
    };
    const auto found = FindDisagreement(view.GroupAnnotations(group, schemas::kMinAvailable), same);
    if (!found) continue;
    findings.Violate(found->other.Path(),
                     std::string(schemas::kMinAvailable) + " is " + Quote(found->other_text) +
                         " here and " + Quote(found->first_text) + " at " +
                         json::FieldPath(*view.object, found->first.Path()) +
                         ": the scheduler picks one of them at random in each session",
                     "write the same number for all pods of " + std::string(group.name));
  }
}

constexpr Rule kMinAvailableRules[] = {
    {.id = "MG070",
     .name = "min-available-value",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kScheduled,
     .summary = "The annotation huawei.com/schedule_minAvailable is a whole number from 1 to "
                "2147483647, quoted.",
     .why = "The scheduler rejects a job whose value is not a number as an invalid argument, so "
            "its pods stay Pending forever. With 0 or less it computes that the job needs no NPUs "
            "at all. An empty value is what a template leaves behind when its input was missing.",
     .fix = "Write digits in quotes, such as huawei.com/schedule_minAvailable: \"2\".",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go, validJobFn "
               "(strconv.Atoi, so \"+3\" is read and \" 2\" is not).",
     .check = CheckValue},
    {.id = "MG072",
     .name = "min-available-no-effect",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "huawei.com/schedule_minAvailable is set only where the scheduler uses it: on "
                "groups whose PodGroup has minMember 1.",
     .why = "The annotation counts only while minMember is 1. On a Volcano Job, an AscendJob or a "
            "gang of infer-operator the kind's own minAvailable decides, and ClusterD, which takes "
            "the larger of both, may never report the job as running. On LeaderWorkerSets it is "
            "ignored with gang scheduling and wrong without.",
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
            "some of them: services with fewer replicas never start, those with more lose their "
            "all-or-nothing start.",
     .fix = "Put it on spec.engine and spec.decoder of the InferenceService, equal to minReplicas. "
            "mindgate adds it there.",
     .source = "ome: pkg/controller/v1beta1/inferenceservice/utils/merging.go. MindCluster's "
               "SGLang documents put it into the runtime, its deploy tool into the service; the "
               "documents' way works for a runtime with a single service, hence a warning.",
     .check = CheckInRuntime},
    {.id = "MG074",
     .name = "min-available-differs",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "All pods of one PodGroup carry the same huawei.com/schedule_minAvailable.",
     .why = "The scheduler takes the value from one arbitrary pod of the group, a different one in "
            "each session. The gang size keeps changing: pods start without their partners, or "
            "wait although all of them exist.",
     .fix = "Write the same number everywhere: for AIBrix the sum of the replicas of all roles "
            "that share the PodGroup.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go, "
               "getJobAnnotationFromJobInfo (iteration over a Go map). A session with the smaller "
               "value does place the pods, hence a warning.",
     .check = CheckDiffers},
};

}  // namespace

Family MinAvailableRules() { return kMinAvailableRules; }

// Gangs against the bounds of the autoscalers that are applied with them.

namespace {

using schemas::Autoscaler;

// The fewest pods that one of them leaves of the template.
const Autoscaler* LowestOf(const std::vector<Autoscaler>& autoscalers, size_t pod_template) {
  const Autoscaler* lowest = nullptr;
  for (const Autoscaler& one : autoscalers) {
    if (one.pods_of != pod_template || !one.min || !one.maker.empty()) continue;
    if (lowest == nullptr || *one.min < *lowest->min) lowest = &one;
  }
  return lowest;
}

// Whether the user wrote it; what mindgate injects follows the replicas as they stand.
bool IsWritten(const RuleContext& context, const std::string& path) {
  return json::Resolve(*context.request.object, path) != nullptr;
}

void CheckScaledDown(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  if (context.request.objects == nullptr || view.controller_injected) return;
  for (const PodTemplateView& pod : view.templates) {
    const auto gang = GangOf(context, pod);
    if (!gang || gang->size < 2 || !IsWritten(context, gang->path)) continue;
    const PodGroupView& group = GroupOf(view, pod);
    if (group.min_member && *group.min_member != 1) continue;
    const auto least = LeastPodsOf(context, group);
    if (!least || gang->size <= least->pods) continue;
    const std::string count = Counted(least->pods, "pod");
    const std::string title = std::string(least->by.kind) + " " + Quote(least->by.name);
    findings.Violate(
        gang->path,
        gang->text + ", but " + title + " leaves " + count +
            (group.templates.size() > 1 ? " of " + std::string(group.name) : "") +
            " at its minimum: with fewer than " + std::to_string(gang->size) +
            " the scheduler binds none, and a pod that a fault takes away does not come back",
        "write " +
            std::string(gang->of_volcano ? schemas::kGroupMinMember : schemas::kMinAvailable) +
            ": \"" + std::to_string(least->pods) + "\", or " + std::string(least->by.min_key) +
            ": " + std::to_string(least->of_template + gang->size - least->pods) + " in " + title);
  }
}

constexpr Rule kAutoscalingRules[] = {
    {.id = "MG195",
     .name = "autoscaler-below-gang",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kReplicaSets | schemas::kStatefulSets | schemas::kStormServices |
              schemas::KindSet{schemas::Kind::kReplicationController},
     .summary = "An autoscaler keeps at least as many pods as huawei.com/schedule_minAvailable "
                "asks for.",
     .why = "No pod is bound until the gang is complete. An autoscaler goes down to its minimum "
            "where there is little load. If the gang is larger, a pod that is lost then waits for "
            "others that are not made, and the load that would make them cannot come.",
     .fix = "Raise the minimum of the autoscaler, or write a gang that is not larger.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go. Kubernetes: "
               "autoscaling/v2 (minReplicas, 1 if it is left out); KEDA: ScaledObject "
               "(minReplicaCount, 0 if it is left out); aibrix: "
               "api/autoscaling/v1alpha1/podautoscaler_types.go. Offline only, where the "
               "autoscaler is among the documents; OME's own is left to "
               "min-available-exceeds-replicas. A warning, because all goes well while there is "
               "load",
     .check = CheckScaledDown},
};

}  // namespace

std::optional<LeastPods> LeastPodsOf(const RuleContext& context, const PodGroupView& group) {
  const auto autoscalers =
      schemas::AutoscalersOf(context.view, context.request.objects, context.ns());
  LeastPods least;
  bool scaled = false;
  for (const size_t index : group.templates) {
    const Autoscaler* lowest = LowestOf(autoscalers, index);
    const auto pods =
        lowest == nullptr ? context.view.templates[index].pods : std::max<int64_t>(*lowest->min, 1);
    if (!pods || *pods < 0 || __builtin_add_overflow(least.pods, *pods, &least.pods)) {
      return std::nullopt;
    }
    if (lowest == nullptr || (scaled && *pods >= least.of_template)) continue;
    scaled = true;
    least.by = *lowest;
    least.of_template = *pods;
  }
  if (!scaled) return std::nullopt;
  return least;
}

Family AutoscalingRules() { return kAutoscalingRules; }

}  // namespace mindgate::policies::common
