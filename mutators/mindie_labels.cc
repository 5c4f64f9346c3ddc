#include <array>
#include <nlohmann/json.hpp>

#include "mutators/families.h"
#include "schemas/names.h"

namespace mindgate::mutators {

void MindieLabels(const MutationContext& context, Edits& edits) {
  using schemas::kApp, schemas::kGroupName, schemas::kJobId, schemas::kScalingRule;
  const schemas::WorkloadView& view = context.view;
  if (view.kind != schemas::Kind::kAscendJob) return;
  if (view.framework != schemas::Framework::kMindIE && !view.Label(kScalingRule)) return;
  for (const schemas::PodTemplateView& pod : view.templates) {
    if (!MayEdit(context, pod)) continue;
    for (std::string_view key : std::array{kJobId, kApp, kScalingRule, kGroupName}) {
      const auto value = view.Label(key);
      if (!value || json::Find(pod.labels.value, key) != nullptr) continue;
      edits.Set(
          pod.labels, key, *value,
          "ClusterD finds the pods of an inference service by their own labels, not the job's");
    }
  }
}

}  // namespace mindgate::mutators
