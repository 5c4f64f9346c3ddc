
#include "base/text.h"
#include "mutators/families.h"
#include "schemas/names.h"

namespace mindgate::mutators {

using schemas::PodTemplateView;

void RecoverPolicy(const MutationContext& context, Edits& edits) {
  const schemas::WorkloadView& view = context.view;
  if (!(schemas::kReplicaSets | schemas::kAibrixKinds).Has(view.kind)) return;
  for (const PodTemplateView& pod : view.templates) {
    if (!IsInjected(context, pod) || !MayEdit(context, pod)) continue;
    if (edits.Label(pod, schemas::kPodRescheduling) != "on") continue;
    if (edits.Annotation(pod, schemas::kRecoverPolicyPath)) continue;
    edits.Set(pod.annotations, schemas::kRecoverPolicyPath, "pod",
              "keeps recovery at pod level: without it a second fault deletes the whole PodGroup");
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
