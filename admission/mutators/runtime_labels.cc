#include <array>

#include "admission/mutators/families.h"
#include "base/text.h"
#include "schemas/accelerator.h"
#include "schemas/names.h"

namespace mindgate::mutators {

void MindieLabels(const MutationContext& context, Edits& edits) {
  using schemas::kApp, schemas::kGroupName, schemas::kJobId, schemas::kScalingRule;
  const schemas::WorkloadView& view = context.view;
  const bool job = schemas::kAscendJobs.Has(view.kind);
  if (job) {
    if (view.framework != schemas::Framework::kMindIE && !view.Label(kScalingRule)) return;
  } else if (schemas::kPods.Has(view.kind) || view.templates.size() != 1 ||
             !view.Label(kScalingRule)) {
    // Of several templates, one may be a router's, which no rule counts.
    return;
  }
  for (const schemas::PodTemplateView& pod : view.templates) {
    if (!MayEdit(context, pod)) continue;
    for (std::string_view key : std::array{kJobId, kApp, kScalingRule, kGroupName}) {
      auto value = view.Label(key);
      if (!value || pod.labels.Find(key) != nullptr) continue;
      // The job may carry another value since.
      const schemas::PodTemplateView* old = PutsBack(context) ? OldTemplate(context, pod) : nullptr;
      if (old != nullptr) value = old->labels.Text(key).value_or(*value);
      if (key == kApp && !job) continue;
      edits.Set(
          pod.labels, key, *value,
          job ? "ClusterD finds the pods of an inference service by their own labels, not the job's"
              : "the watcher finds the instances of a scaling rule by the labels of their pods");
    }
  }
}

namespace {

using schemas::PodGroupView;
using schemas::PodTemplateView;

constexpr std::string_view kOnDeadMetadata =
    "it is on the runtime's own metadata, which OME does not pass to any pod";

// Chips of what one group of a LeaderWorkerSet or one pod of a Deployment asks for.
std::optional<int64_t> ChipsOfInstance(const schemas::WorkloadView& view,
                                       const PodGroupView& group) {
  int64_t sum = 0;
  for (size_t index : group.templates) {
    const PodTemplateView& pod = view.templates[index];
    const auto pods = group.facts().leader_and_workers ? pod.pods : 1;
    int64_t chips = 0;
    if (!pods || !pod.chips.count || __builtin_mul_overflow(*pods, *pod.chips.count, &chips) ||
        __builtin_add_overflow(sum, chips, &sum)) {
      return std::nullopt;
    }
  }
  return sum;
}

// Why the block does not belong to these pods; empty when it does. Elsewhere the annotation would
// select the handler of A3 super pods by itself (mind-cluster: component/ascend-for-volcano
// internal/npu/factory.go), which refuses them.
std::string_view WhyNoBlock(const MutationContext& context, const PodGroupView& group,
                            std::string_view block) {
  if (!IsScheduledByVolcano(context, context.view.templates[group.templates.front()])) {
    return "another scheduler than Volcano places the pods, and only its plugin reads sp-block";
  }
  const auto chips = schemas::ReadGroupChips(context.view, group, context.config);
  if (!chips || !chips->choice.handler || !chips->choice.handler->super_pod) {
    return "the component does not select super-pod servers by schedule_policy or accelerator-type";
  }
  const int64_t size = ParseGoInt(block).value_or(0);
  const int64_t node = chips->choice.handler->node_chips;
  const auto instance = ChipsOfInstance(context.view, group);
  if (size < 1 || node < 1 || size % node != 0 || !instance || *instance % size != 0 ||
      size / node > context.config.super_pod_size) {
    return "it does not divide the chips of one instance into blocks of whole nodes";
  }
  return "";
}

void CopySpBlock(const MutationContext& context, Edits& edits) {
  const schemas::WorkloadView& view = context.view;
  const auto block = view.Annotation(schemas::kSpBlock);
  if (!block) return;
  for (const PodGroupView& group : view.pod_groups) {
    if (group.templates.empty()) continue;
    // Leader and worker share their component's annotations.
    const PodTemplateView& pod = view.templates[group.templates.front()];
    if (pod.router || !MayEdit(context, pod)) continue;
    if (pod.annotations.Find(schemas::kSpBlock) != nullptr) continue;
    const std::string_view why_not = WhyNoBlock(context, group, *block);
    if (why_not.empty()) {
      edits.Set(pod.annotations, schemas::kSpBlock, *block, kOnDeadMetadata);
    } else {
      edits.Withhold(pod.annotations, schemas::kSpBlock, why_not);
    }
  }
}

}  // namespace

// OME hands on a runtime's spec only; what the documents put on its metadata reaches no pod
// (ome: pkg/controller/v1beta1/inferenceservice/utils/merging.go).
void RuntimeLabels(const MutationContext& context, Edits& edits) {
  const schemas::WorkloadView& view = context.view;
  if (!schemas::kOmeRuntimes.Has(view.kind)) return;
  for (const PodTemplateView& pod : view.templates) {
    if (pod.router || !MayEdit(context, pod)) continue;
    for (std::string_view key : std::array{schemas::kFaultScheduling, schemas::kPodRescheduling,
                                           schemas::kFaultRetryTimes}) {
      const auto value = view.Label(key);
      if (!value || pod.labels.Find(key) != nullptr) continue;
      // external-* is for infer-operator alone.
      if (IsUnderstood(key, *value) && !value->starts_with("external-")) {
        edits.Set(pod.labels, key, *value, kOnDeadMetadata);
      } else {
        edits.Withhold(pod.labels, key, "the value on the runtime's own metadata has no effect");
      }
    }
  }
  CopySpBlock(context, edits);
}

}  // namespace mindgate::mutators
