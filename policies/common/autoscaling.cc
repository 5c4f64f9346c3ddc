#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/common/gang_size.h"
#include "policies/families.h"
#include "schemas/names.h"

// Gangs against the bounds of the autoscalers that are applied with them.
namespace mindgate::policies::common {
namespace {

using schemas::Autoscaler;
using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

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
