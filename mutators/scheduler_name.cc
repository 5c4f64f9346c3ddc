#include <algorithm>

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

// The scheduler that a replica spec names already, when it is Volcano under any of its names.
std::string_view NamedInTemplate(const MutationContext& context) {
  for (const PodTemplateView& pod : context.view.templates) {
    const std::string_view own = pod.scheduler;
    if (own == context.config.scheduler || own == schemas::kVolcanoScheduler) return own;
  }
  return {};
}

// The scheduler that was named before an update that drops it: a client re-applies its original
// manifest, and `scheduler` in mindgate.yaml may have changed. Empty when it is not one of ours.
std::string_view Kept(const MutationContext& context, std::string_view old) {
  return old == context.config.scheduler || old == schemas::kVolcanoScheduler ? old
                                                                              : std::string_view();
}

std::string_view OldScheduler(const MutationContext& context) {
  if (context.old_view == nullptr) return {};
  return Kept(context, json::FindString(context.old_view->spec.value, kKey).value_or(""));
}

std::string_view OldScheduler(const MutationContext& context, const PodTemplateView& pod) {
  const PodTemplateView* old = OldTemplate(context, pod);
  return old == nullptr ? std::string_view() : Kept(context, old->scheduler);
}

// A job names its scheduler once. Templates follow only where the operator would leave them behind.
void OfJob(const MutationContext& context, Edits& edits) {
  const WorkloadView& view = context.view;
  const auto& templates = view.templates;
  const auto injected = [&](const PodTemplateView& pod) { return IsInjected(context, pod); };
  const auto needs = [&](const PodTemplateView& pod) {
    return injected(pod) && pod.scheduler.empty();
  };
  const std::string_view named = NamedInTemplate(context);
  const std::string_view old = OldScheduler(context);
  const schemas::Place& spec = view.spec;
  if (json::FindString(spec.value, kKey).value_or("").empty() &&
      (!old.empty() || MayEditJob(context)) &&
      std::any_of(templates.begin(), templates.end(), needs)) {
    const std::string_view name = !old.empty() ? old : named;
    edits.Set(spec, kKey, name.empty() ? std::string_view(context.config.scheduler) : name,
              kReason);
  }
  if (!schemas::kAscendJobs.Has(view.kind) || named.empty() ||
      std::none_of(templates.begin(), templates.end(), injected)) {
    return;
  }
  for (const PodTemplateView& pod : templates) {
    if (!pod.scheduler.empty() || pod.pod_spec.value == nullptr || !MayEdit(context, pod)) {
      continue;
    }
    edits.Set(pod.pod_spec, kKey, named,
              "another replica spec names the scheduler, so ascend-operator sets none here and the "
              "default scheduler would place these pods");
  }
}

// Whether a pod of the same leader-worker group goes to another scheduler: two would wait for each
// other's pods.
bool HasForeignSibling(const MutationContext& context, const PodTemplateView& pod) {
  if (!pod.pod_group) return false;
  const auto& group = context.view.pod_groups[*pod.pod_group];
  return group.facts().leader_and_workers &&
         std::any_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
           const PodTemplateView& sibling = context.view.templates[index];
           // One that has no place for a name takes that of its runtime, which has none.
           const json::Value* name = sibling.pod_spec.Find(kKey);
           const bool unnamed = sibling.SchedulerName().empty() &&
                                ((!sibling.has_pod_spec && sibling.runtime != nullptr) ||
                                 (name != nullptr && !name->is_string()));
           return unnamed || !IsScheduledByVolcano(context, sibling);
         });
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
      edits.Withhold(pod.pod_spec, kKey,
                     "the component has no pod spec of its own: its runtime names the scheduler");
      continue;
    }
    if (!schemas::IsDefaultScheduler(context.view.info(), pod.SchedulerName())) continue;
    if (HasForeignSibling(context, pod)) {
      edits.Withhold(pod.pod_spec, kKey,
                     "the rest of its gang goes to another scheduler than Volcano");
      continue;
    }
    if (!MayEdit(context, pod)) continue;
    const std::string_view old = OldScheduler(context, pod);
    edits.Set(pod.pod_spec, kKey, old.empty() ? std::string_view(context.config.scheduler) : old,
              kReason);
  }
}

}  // namespace mindgate::mutators
