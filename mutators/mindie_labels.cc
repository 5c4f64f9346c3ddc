#include <array>

#include "mutators/families.h"
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

}  // namespace mindgate::mutators
