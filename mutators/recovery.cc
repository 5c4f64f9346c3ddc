#include <algorithm>

#include "base/text.h"
#include "mutators/families.h"
#include "schemas/names.h"

namespace mindgate::mutators {

using schemas::Place;
using schemas::PodTemplateView;

void RecoverPolicy(const MutationContext& context, Edits& edits) {
  const schemas::WorkloadView& view = context.view;
  if (schemas::kOmeKinds.Has(view.kind)) return;
  for (const schemas::PodGroupView& group : view.pod_groups) {
    // The plugin takes the annotation from one arbitrary pod: all of the group get it, or none.
    const bool injected =
        std::any_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
          const Place& labels = view.templates[index].labels;
          return json::AsString(edits.Pending(labels, schemas::kPodRescheduling)) == "on";
        });
    if (!injected) continue;
    for (size_t index : group.templates) {
      const PodTemplateView& pod = view.templates[index];
      if (!IsInjected(context, pod) || !MayEdit(context, pod)) continue;
      if (edits.Annotation(pod, schemas::kRecoverPolicyPath)) continue;
      edits.Set(
          pod.annotations, schemas::kRecoverPolicyPath, "pod",
          "keeps recovery at pod level: without it a second fault deletes the whole PodGroup");
    }
  }
}

void RestartPolicy(const MutationContext& context, Edits& edits) {
  if (!schemas::kAibrixKinds.Has(context.view.kind)) return;
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.RequestsNpus() || pod.pod_spec.value == nullptr || !MayEdit(context, pod)) continue;
    if (!UsesFaultScheduling(context, edits, pod)) continue;
    const auto retries = edits.Label(pod, schemas::kFaultRetryTimes);
    if (!retries || ParseGoInt(*retries).value_or(0) <= 0) continue;
    if (pod.pod_spec.Find("restartPolicy") != nullptr) continue;
    edits.Set(
        pod.pod_spec, "restartPolicy", "Never",
        "retries count failed pods, and a container that restarts in place never fails its pod");
  }
}

}  // namespace mindgate::mutators
