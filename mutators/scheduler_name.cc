#include <algorithm>
#include <nlohmann/json.hpp>

#include "json/pointer.h"
#include "mutators/families.h"
#include "schemas/names.h"

namespace mindgate::mutators {
namespace {

using schemas::PodTemplateView;
using schemas::WorkloadView;

constexpr std::string_view kKey = "schedulerName";
constexpr std::string_view kReason =
    "without it the default scheduler places these pods, and neither gangs, chip topology nor "
    "fault rescheduling apply";

std::string_view OwnScheduler(const PodTemplateView& pod) {
  return json::FindString(pod.pod_spec.value, kKey).value_or("");
}

void SetOn(const MutationContext& context, const PodTemplateView& pod, std::string reason,
           Edits& edits) {
  if (MayEdit(context, pod)) {
    edits.Set(pod.pod_spec, kKey, context.config.scheduler, std::move(reason));
  }
}

// A job names its scheduler once. Templates follow only where the operator would leave them behind.
void OfJob(const MutationContext& context, Edits& edits) {
  const WorkloadView& view = context.view;
  const auto& templates = view.templates;
  const auto needs = [&](const PodTemplateView& pod) {
    return IsInjected(context, pod) && OwnScheduler(pod).empty();
  };
  const bool some_volcano = std::any_of(
      templates.begin(), templates.end(),
      [&](const PodTemplateView& pod) { return OwnScheduler(pod) == context.config.scheduler; });
  const schemas::Place spec = JobSpec(view);
  if (json::FindString(spec.value, kKey).value_or("").empty() && MayEditJob(context) &&
      std::any_of(templates.begin(), templates.end(), needs)) {
    edits.Set(spec, kKey, context.config.scheduler, std::string(kReason));
  }
  if (view.kind != schemas::Kind::kAscendJob || !some_volcano || !view.RequestsNpus()) return;
  for (const PodTemplateView& pod : templates) {
    if (!OwnScheduler(pod).empty() || pod.pod_spec.value == nullptr) continue;
    SetOn(context, pod,
          "another replica spec names the scheduler, so ascend-operator fills in none here and "
          "these pods fall to the default scheduler",
          edits);
  }
}

}  // namespace

void SchedulerName(const MutationContext& context, Edits& edits) {
  if (HasJobScheduler(context.view)) {
    OfJob(context, edits);
    return;
  }
  for (const PodTemplateView& pod : context.view.templates) {
    if (!IsInjected(context, pod) || pod.pod_spec.value == nullptr) continue;
    if (!pod.has_pod_spec) {
      edits.Withhold(json::Child(pod.pod_spec.path, kKey),
                     "the component has no pod spec of its own: its runtime names the scheduler");
      continue;
    }
    if (!schemas::IsDefaultScheduler(context.view.info(), pod.SchedulerName())) continue;
    SetOn(context, pod, std::string(kReason), edits);
  }
}

}  // namespace mindgate::mutators
