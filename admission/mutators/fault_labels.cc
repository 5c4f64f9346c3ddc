#include "admission/mutators/fault_labels.h"

#include <algorithm>
#include <optional>

#include "admission/mutators/families.h"
#include "base/text.h"
#include "json/pointer.h"
#include "schemas/names.h"

namespace mindgate::mutators {

using json::Value;
using schemas::FieldView;
using schemas::UnreadMetadata;

MisplacedLabel::MisplacedLabel(const schemas::WorkloadView& view, std::string_view key)
    : view_(view), key_(key), word_(key) {}

// An entry of that key, or of one that resembles it: in a map that the scheduler reads, the caller
// has found the exact key already.
std::optional<std::string_view> MisplacedLabel::In(const FieldView& map) {
  if (map.value == nullptr || !map.value->is_object()) return std::nullopt;
  if (const Value* exact = map.Find(key_)) return json::AsString(exact).value_or("");
  // "fault-schedule" is meant for fault-scheduling.
  const int typos = key_ == schemas::kFaultScheduling ? 3 : 2;
  for (const auto& [key, value] : map.value->members()) {
    if (budget_ == 0) return std::nullopt;
    --budget_;
    const schemas::SplitKey split = schemas::SplitOf(key);
    if (split.name.size() > schemas::NormalizedKey::kMax || value.is_null()) continue;
    if (!schemas::NormalizedKey(split.name).Resembles(word_, typos) ||
        !schemas::IsMindClusterKey(split)) {
      continue;
    }
    return json::AsString(&value).value_or("");
  }
  return std::nullopt;
}

std::optional<std::string_view> MisplacedLabel::OfObject() {
  for (const UnreadMetadata& end : *dead_ends_) {
    if (end.pod_template) continue;
    for (const FieldView* map : {&end.labels, &end.annotations}) {
      if (const auto value = In(*map)) return value;
    }
  }
  for (const FieldView* map : {&view_.labels, &view_.annotations}) {
    if (const auto value = In(*map)) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> MisplacedLabel::Of(const schemas::PodGroupView& group) {
  for (size_t index : group.templates) {
    const schemas::PodTemplateView& pod = view_.templates[index];
    for (const FieldView* map : {&pod.labels, &pod.annotations}) {
      if (const auto value = In(*map)) return value;
    }
  }
  if (!dead_ends_) {
    dead_ends_ = schemas::UnreadMetadataOf(view_);
    of_templates_.resize(view_.templates.size());
    for (const UnreadMetadata& end : *dead_ends_) {
      if (end.pod_template) of_templates_[*end.pod_template] = &end;
    }
  }
  for (size_t index : group.templates) {
    const UnreadMetadata* end = of_templates_[index];
    if (end == nullptr) continue;
    for (const FieldView* map : {&end->labels, &end->annotations}) {
      if (const auto value = In(*map)) return value;
    }
  }
  if (!of_object_) of_object_ = OfObject();
  return *of_object_;
}

namespace {

using schemas::LabelOccurrence;
using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

// The plugin merges the labels of a PodGroup and all its pods, and joins values that differ into
// one that matches nothing (mind-cluster: component/ascend-for-volcano/plugin/job.go). So a group
// gets one value or none.
struct GroupValue {
  enum class From { kDefault, kSibling, kMisplaced };

  std::string_view value;  // empty: nothing to inject
  std::string why_not;     // set when that is worth reporting
  From from = From::kDefault;
};

// The labels of the object itself that the PodGroup of these pods copies; null pointer when none.
const schemas::FieldView* GroupMetadata(const WorkloadView& view, const PodTemplateView& pod) {
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
  return std::any_of(pod.inherited_labels.begin(), pod.inherited_labels.end(),
                     [&](const schemas::FieldView& place) {
                       const bool of_runtime =
                           pod.runtime != nullptr && place.value == pod.runtime->labels.value;
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
    if (const schemas::FieldView* labels = GroupMetadata(*context.old_view, *old)) {
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
    const schemas::FieldView* labels =
        old == nullptr ? nullptr : GroupMetadata(*context.old_view, *old);
    return labels != nullptr && labels->Find(key) != nullptr;
  });
}

// Whether a rule objects to a value in these pods: external-* is for infer-operator alone, and
// there the others keep its own recovery off.
bool FitsKind(const WorkloadView& view, std::string_view key, std::string_view value) {
  if (key != schemas::kFaultScheduling || value == "off") return true;
  return schemas::kInferOperatorKinds.Has(view.kind) == value.starts_with("external-");
}

// Nothing is written where the user's own value means nothing or something else: a rule says so,
// and would say it of a second copy too. No retries are what pods without the label have.
GroupValue OfUser(const WorkloadView& view, std::string_view key, std::string_view value,
                  GroupValue::From from) {
  if (!IsUnderstood(key, value)) {
    return {"", "the value " + Quote(value) + " that is written for these pods has no effect"};
  }
  if (!FitsKind(view, key, value)) {
    return {"", "the value " + Quote(value) + " that is written for these pods is not for " +
                    std::string(view.info().name) + "s"};
  }
  if (key == schemas::kFaultRetryTimes && ParseGoInt(value) == 0) return {};
  return {value, "", from};
}

GroupValue ValueFor(const MutationContext& context, const PodGroupView& group, std::string_view key,
                    std::string_view default_value, MisplacedLabel& misplaced, const Edits& edits) {
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
  if (sibling) return OfUser(context.view, key, *sibling, GroupValue::From::kSibling);
  if (const auto old = OldValue(context, group, key)) return {*old, ""};
  if (const auto value = misplaced.Of(group)) {
    return OfUser(context.view, key, *value, GroupValue::From::kMisplaced);
  }
  return {default_value, ""};
}

bool CopiesMetadata(const PodGroupView& group) {
  return group.labels && group.facts().copies_metadata;
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

std::string_view ReasonOf(GroupValue::From from, std::string_view of_default) {
  switch (from) {
    case GroupValue::From::kSibling:
      return "the rest of the PodGroup (or the runtime) has this value, and different values would "
             "switch the feature off";
    case GroupValue::From::kMisplaced:
      return "this value is written where nothing reads it, or under a misspelled key";
    case GroupValue::From::kDefault:
      break;
  }
  return of_default;
}

bool IsComplete(const MutationContext& context, const PodGroupView& group, std::string_view key,
                const Edits& edits) {
  if (CopiesMetadata(group)) return group.labels->Find(key) != nullptr;
  return std::all_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
    const PodTemplateView& pod = context.view.templates[index];
    return !IsInjected(context, pod) || IsLabelled(pod, key, edits);
  });
}

void InjectGroup(const MutationContext& context, const PodGroupView& group, const LabelSpec& label,
                 MisplacedLabel& misplaced, Edits& edits) {
  if (!AnyInjected(context, group) || IsComplete(context, group, label.key, edits)) return;
  const GroupValue value =
      ValueFor(context, group, label.key, label.default_value, misplaced, edits);
  const WorkloadView& view = context.view;
  const std::string_view reason = ReasonOf(value.from, label.reason);
  if (CopiesMetadata(group)) {
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

bool IsWritten(const WorkloadView& view, const PodGroupView& group, std::string_view key,
               MisplacedLabel& misplaced) {
  const auto places = view.GroupLabels(group, key);
  return places.begin() != places.end() || RuntimeValue(view, group, key) || misplaced.Of(group);
}

template <typename Inject>
void ForEachGroup(const MutationContext& context, const Edits& edits, Inject inject) {
  if (IsBarePod(context.view)) return;
  for (const PodGroupView& group : context.view.pod_groups) {
    if (group.templates.empty() || !GroupUsesFaultScheduling(context, group, edits)) continue;
    inject(group);
  }
}

// The same for labels that mean nothing without fault-scheduling: passes over groups that go
// without, because the value that the user wrote cannot be repeated or the profile has none.
template <typename Inject>
void ForEachFaultScheduledGroup(const MutationContext& context, const Edits& edits, Inject inject) {
  const WorkloadView& view = context.view;
  MisplacedLabel misplaced(view, schemas::kFaultScheduling);
  const bool by_default = !context.config.profile(view.framework).fault_scheduling.empty();
  ForEachGroup(context, edits, [&](const PodGroupView& group) {
    const bool everywhere =
        std::all_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
          const PodTemplateView& pod = view.templates[index];
          if (!IsInjected(context, pod) || edits.Label(pod, schemas::kFaultScheduling)) return true;
          const schemas::FieldView* metadata = GroupMetadata(view, pod);
          return metadata != nullptr &&
                 (metadata->Find(schemas::kFaultScheduling) != nullptr ||
                  edits.Pending(*metadata, schemas::kFaultScheduling) != nullptr);
        });
    if (!everywhere &&
        (!by_default || IsWritten(view, group, schemas::kFaultScheduling, misplaced))) {
      return;
    }
    inject(group, misplaced);
  });
}

// Whether containers of these pods restart in place, as far as the object says. The plugin counts a
// pod in which one did as failed forever (mind-cluster: component/ascend-for-volcano
// internal/rescheduling/job.go), so that a retry deletes the pod that has just recovered.
bool RestartsInPlace(const MutationContext& context, const PodGroupView& group) {
  const WorkloadView& view = context.view;
  if (schemas::kOmeKinds.Has(view.kind)) return group.facts().of_deployment;
  // Elsewhere it is not the user who chooses.
  constexpr schemas::KindSet kChoose = schemas::kVolcanoJobs | schemas::kBatchJobs |
                                       schemas::kAibrixKinds | schemas::kAscendJobs |
                                       schemas::kPods;
  if (!kChoose.Has(view.kind)) return false;
  return std::any_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
    const PodTemplateView& pod = view.templates[index];
    if (!IsInjected(context, pod)) return false;
    if (schemas::kAscendJobs.Has(view.kind)) return pod.restart_policy.value != "Never";
    // restart-policy completes AIBrix roles, a batch/v1 Job has none by default, other pods Always.
    if (pod.pod_spec.Find("restartPolicy") == nullptr) return schemas::kVolcanoJobs.Has(view.kind);
    return pod.pod_spec.Text("restartPolicy") != "Never";
  });
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
  const schemas::FieldView* metadata = GroupMetadata(context.view, pod);
  if (!mode && metadata != nullptr) {
    mode = json::FindString(metadata->value, schemas::kFaultScheduling);
  }
  return mode != "off";
}

void FaultScheduling(const MutationContext& context, Edits& edits) {
  MisplacedLabel misplaced(context.view, schemas::kFaultScheduling);
  std::string_view value = context.config.profile(context.view.framework).fault_scheduling;
  // What keeps processes alive over a fault needs pods that are not deleted at once.
  const bool recovers = schemas::kAscendJobs.Has(context.view.kind) &&
                        context.view.Annotation(schemas::kRecoverStrategy).has_value();
  if (recovers && value == "force") value = "grace";
  ForEachGroup(context, edits, [&](const PodGroupView& group) {
    InjectGroup(
        context, group,
        {schemas::kFaultScheduling, value, "without it no pod is moved when a card or node breaks"},
        misplaced, edits);
  });
}

void PodRescheduling(const MutationContext& context, Edits& edits) {
  const WorkloadView& view = context.view;
  MisplacedLabel misplaced(view, schemas::kPodRescheduling);
  const std::string_view value = context.config.profile(view.framework).pod_rescheduling;
  ForEachFaultScheduledGroup(
      context, edits, [&](const PodGroupView& group, MisplacedLabel& fault_scheduling) {
        if (!HasIndependentPods(view, group)) return;
        if (IsPlain(view) && IsWritten(view, group, schemas::kFaultScheduling, fault_scheduling) &&
            !IsWritten(view, group, schemas::kPodRescheduling, misplaced)) {
          return;
        }
        InjectGroup(context, group,
                    {schemas::kPodRescheduling, value,
                     "without it one faulty pod takes down all pods of its PodGroup"},
                    misplaced, edits);
      });
}

void FaultRetryTimes(const MutationContext& context, Edits& edits) {
  MisplacedLabel misplaced(context.view, schemas::kFaultRetryTimes);
  const std::string_view value = context.config.profile(context.view.framework).fault_retry_times;
  ForEachFaultScheduledGroup(context, edits, [&](const PodGroupView& group, MisplacedLabel&) {
    const bool restarts = RestartsInPlace(context, group);
    if (restarts && !schemas::kOmeKinds.Has(context.view.kind)) return;
    InjectGroup(context, group,
                {schemas::kFaultRetryTimes, restarts ? std::string_view() : value,
                 "without it a pod that fails on its own is never rescheduled"},
                misplaced, edits);
  });
}

}  // namespace mindgate::mutators
