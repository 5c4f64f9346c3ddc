#include <array>

#include "base/text.h"
#include "mutators/families.h"
#include "schemas/names.h"

namespace mindgate::mutators {

// OME hands on a runtime's spec only; what the documents put on its metadata reaches no pod
// (ome: pkg/controller/v1beta1/inferenceservice/utils/merging.go).
void RuntimeLabels(const MutationContext& context, Edits& edits) {
  const schemas::WorkloadView& view = context.view;
  if (!schemas::kOmeRuntimes.Has(view.kind)) return;
  constexpr std::string_view kReason =
      "it is on the runtime's own metadata, which OME does not pass to any pod";
  constexpr std::string_view kNotUnderstood =
      "the value on the runtime's own metadata has no effect";
  for (const schemas::PodTemplateView& pod : view.templates) {
    if (pod.router || !MayEdit(context, pod)) continue;
    for (std::string_view key : std::array{schemas::kFaultScheduling, schemas::kPodRescheduling,
                                           schemas::kFaultRetryTimes}) {
      const auto value = view.Label(key);
      if (!value || pod.labels.Find(key) != nullptr) continue;
      if (IsUnderstood(key, *value)) {
        edits.Set(pod.labels, key, *value, kReason);
      } else {
        edits.Withhold(pod.labels, key, kNotUnderstood);
      }
    }
    const auto block = view.Annotation(schemas::kSpBlock);
    if (block && ParseGoInt(*block).value_or(0) > 0 &&
        pod.annotations.Find(schemas::kSpBlock) == nullptr) {
      edits.Set(pod.annotations, schemas::kSpBlock, *block, kReason);
    }
  }
}

}  // namespace mindgate::mutators
