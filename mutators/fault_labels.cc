#include <algorithm>
#include <optional>

#include "base/text.h"
#include "json/pointer.h"
#include "mutators/families.h"
#include "schemas/names.h"

namespace mindgate::mutators {
namespace {

using json::Value;
using schemas::LabelOccurrence;
using schemas::PodGroupOwner;
using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

// The plugin merges the labels of a PodGroup and all its pods, and joins values that differ into
// one that matches nothing (mind-cluster: component/ascend-for-volcano/plugin/job.go). So a group
// gets one value or none.
struct GroupValue {
  std::string_view value;  // empty: nothing to inject
  std::string why_not;     // set when that is worth telling
  bool from_sibling = false;
};

// The labels of the object itself that the PodGroup of these pods copies; null pointer when none.
const schemas::Place* GroupMetadata(const WorkloadView& view, const PodTemplateView& pod) {
  if (!pod.pod_group || !view.pod_groups[*pod.pod_group].labels) return nullptr;
  return &*view.pod_groups[*pod.pod_group].labels;
}

// A value that an earlier mutator put into the group in this same request.
std::optional<std::string_view> PendingInGroup(const WorkloadView& view, const PodGroupView& group,
                                               std::string_view key, const Edits& edits) {
  for (size_t index : group.templates) {
    if (const Value* pending = edits.Pending(view.templates[index].labels, key)) {
      return json::AsString(pending);
    }
  }
  return std::nullopt;
}

// The value that a service's runtime gives: on its component, or on its metadata, from where
// runtime-labels copies it.
std::optional<std::string_view> RuntimeValue(const WorkloadView& view, const PodGroupView& group,
                                             std::string_view key) {
  if (view.runtime == nullptr) return std::nullopt;
  for (size_t index : group.templates) {
    const PodTemplateView* runtime = view.templates[index].runtime;
    if (runtime == nullptr) continue;
    if (const auto value = runtime->labels.Text(key)) return value;
  }
  return view.runtime->Label(key);
}

// Whether the object itself gives these pods the label. A runtime's does not count: the service
// repeats its value, so that the service alone says what its pods carry.
bool IsLabelled(const PodTemplateView& pod, std::string_view key, const Edits& edits) {
  if (pod.labels.Find(key) != nullptr || edits.Pending(pod.labels, key) != nullptr) {
    return true;
  }
  return std::any_of(
      pod.inherited_labels.begin(), pod.inherited_labels.end(), [&](const schemas::Place& place) {
        const bool of_runtime = pod.runtime != nullptr && place.value == pod.runtime->labels.value;
        return !of_runtime && place.Find(key) != nullptr;
      });
}

// Whether a label may be an earlier injection of ours. Others are the user's, who took them away
// for a reason: switched off, or of no effect.
bool MayBeInjected(std::string_view key, std::string_view value) {
  return IsUnderstood(key, value) && value != "off" && value != "0";
}

// What the same place held before an update that drops it: a client that re-applies its original
// manifest must not start a rollout.
std::optional<std::string_view> OldValue(const MutationContext& context, const PodGroupView& group,
                                         std::string_view key) {
  for (size_t index : group.templates) {
    const PodTemplateView* old = OldTemplate(context, context.view.templates[index]);
    if (old == nullptr) continue;
    std::optional<std::string_view> value;
    if (const schemas::Place* labels = GroupMetadata(*context.old_view, *old)) {
      value = labels->Text(key);
    }
    if (!value) value = old->Label(key);
    if (value && MayBeInjected(key, *value)) return value;
  }
  return std::nullopt;
}

// Whether the metadata that the PodGroup copies had the label before this update.
bool HadMetadata(const MutationContext& context, const PodGroupView& group, std::string_view key) {
  return std::any_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
    const PodTemplateView* old = OldTemplate(context, context.view.templates[index]);
    const schemas::Place* labels =
        old == nullptr ? nullptr : GroupMetadata(*context.old_view, *old);
    return labels != nullptr && labels->Find(key) != nullptr;
  });
}

GroupValue ValueFor(const MutationContext& context, const PodGroupView& group, std::string_view key,
                    std::string_view default_value, const Edits& edits) {
  std::optional<std::string_view> sibling = PendingInGroup(context.view, group, key, edits);
  for (const LabelOccurrence& place : context.view.GroupLabels(group, key)) {
    const auto value = json::AsString(place.value);
    if (!value) return {"", "the label at " + place.Path() + " is not a string"};
    if (sibling && !EqualIgnoreCase(*sibling, *value)) {
      return {
          "",
          "the PodGroup already carries different values, and it is unknown which one is intended"};
    }
    sibling = sibling ? sibling : value;
  }
  if (!sibling) sibling = RuntimeValue(context.view, group, key);
  if (sibling) return {*sibling, "", true};
  if (const auto old = OldValue(context, group, key)) return {*old, ""};
  return {default_value, ""};
}

bool CopiesMetadata(const PodGroupView& group) {
  return group.owner == PodGroupOwner::kAscendJob || group.owner == PodGroupOwner::kVolcanoJob;
}

bool AnyInjected(const MutationContext& context, const PodGroupView& group) {
  return std::any_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
    return IsInjected(context, context.view.templates[index]);
  });
}

struct LabelSpec {
  std::string_view key;
  std::string_view default_value;
  std::string_view reason;
};

void InjectGroup(const MutationContext& context, const PodGroupView& group, const LabelSpec& label,
                 Edits& edits) {
  if (!AnyInjected(context, group)) return;
  const GroupValue value = ValueFor(context, group, label.key, label.default_value, edits);
  const WorkloadView& view = context.view;
  const std::string_view reason =
      value.from_sibling ? "the rest of the PodGroup (or the runtime) has this value, and "
                           "different values would switch the feature off"
                         : label.reason;
  if (CopiesMetadata(group)) {
    const bool present = group.labels->Find(label.key) != nullptr;
    if (present) return;
    if (!value.why_not.empty()) {
      edits.Withhold(*group.labels, label.key, value.why_not);
    } else if (!value.value.empty() &&
               (MayEditJob(context) || HadMetadata(context, group, label.key))) {
      edits.Set(*group.labels, label.key, value.value, reason);
    }
    return;
  }
  for (size_t index : group.templates) {
    const PodTemplateView& pod = view.templates[index];
    if (!IsInjected(context, pod) || IsLabelled(pod, label.key, edits)) continue;
    if (!value.why_not.empty()) {
      edits.Withhold(pod.labels, label.key, value.why_not);
    } else if (!value.value.empty() && MayEdit(context, pod)) {
      edits.Set(pod.labels, label.key, value.value, reason);
    }
  }
}

bool GroupUsesFaultScheduling(const MutationContext& context, const PodGroupView& group,
                              const Edits& edits) {
  return std::all_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
    const PodTemplateView& pod = context.view.templates[index];
    return !IsInjected(context, pod) || UsesFaultScheduling(context, edits, pod);
  });
}

// Groups whose pods live on independently, so that only the faulty one needs to move.
bool HasIndependentPods(const WorkloadView& view, const PodGroupView& group) {
  if (schemas::kOmeKinds.Has(view.kind)) {
    // The plugin assumes the pod limit for OME anyway; the documents ask for the label in both
    // shapes.
    return !view.templates[group.templates.front()].router;
  }
  return schemas::kReplicaSets.Has(view.kind) || group.owner == PodGroupOwner::kRoleSet;
}

void ForEachGroup(const MutationContext& context, const Edits& edits,
                  void (*inject)(const MutationContext&, const PodGroupView&, Edits&),
                  Edits& target) {
  if (IsBarePod(context.view)) return;
  for (const PodGroupView& group : context.view.pod_groups) {
    if (group.templates.empty() || !GroupUsesFaultScheduling(context, group, edits)) continue;
    inject(context, group, target);
  }
}

}  // namespace

bool IsUnderstood(std::string_view key, std::string_view value) {
  if (key == schemas::kFaultScheduling) {
    return value == "force" || value == "grace" || value == "external-force" ||
           value == "external-grace" || value == "off";
  }
  if (key == schemas::kPodRescheduling) return value == "on" || value == "off";
  return ParseGoInt(value).value_or(-1) >= 0;
}

bool UsesFaultScheduling(const MutationContext& context, const Edits& edits,
                         const PodTemplateView& pod) {
  if (!IsScheduledByVolcano(context, pod)) return false;
  std::optional<std::string_view> mode = edits.Label(pod, schemas::kFaultScheduling);
  const schemas::Place* metadata = GroupMetadata(context.view, pod);
  if (!mode && metadata != nullptr) {
    mode = json::FindString(metadata->value, schemas::kFaultScheduling);
  }
  return mode != "off";
}

void FaultScheduling(const MutationContext& context, Edits& edits) {
  ForEachGroup(
      context, edits,
      [](const MutationContext& c, const PodGroupView& group, Edits& e) {
        InjectGroup(c, group,
                    {schemas::kFaultScheduling, c.config.profile(c.view.framework).fault_scheduling,
                     "without it no pod is moved when a card or node breaks"},
                    e);
      },
      edits);
}

void PodRescheduling(const MutationContext& context, Edits& edits) {
  ForEachGroup(
      context, edits,
      [](const MutationContext& c, const PodGroupView& group, Edits& e) {
        if (!HasIndependentPods(c.view, group)) return;
        InjectGroup(c, group,
                    {schemas::kPodRescheduling, c.config.profile(c.view.framework).pod_rescheduling,
                     "without it one faulty pod takes down all pods of its PodGroup"},
                    e);
      },
      edits);
}

void FaultRetryTimes(const MutationContext& context, Edits& edits) {
  ForEachGroup(
      context, edits,
      [](const MutationContext& c, const PodGroupView& group, Edits& e) {
        InjectGroup(
            c, group,
            {schemas::kFaultRetryTimes, c.config.profile(c.view.framework).fault_retry_times,
             "without it a pod that fails on its own is never rescheduled"},
            e);
      },
      edits);
}

}  // namespace mindgate::mutators
