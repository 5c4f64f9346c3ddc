#include "schemas/placement.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "schemas/names.h"

namespace mindgate::schemas {
namespace {

using json::Value;

// The nearest map that holds the key wins. What only a runtime says is to be written on the
// service's own map.
Entry Nearest(const PodTemplateView& pod, FieldView PodTemplateView::* map,
              std::span<const FieldView> inherited, std::string_view key) {
  const FieldView& own = pod.*map;
  if (const Value* value = own.Find(key)) return {value, &own.path, key};
  for (const FieldView& place : inherited) {
    const Value* value = place.Find(key);
    if (value == nullptr) continue;
    const bool in_runtime = pod.runtime != nullptr && place.value == (pod.runtime->*map).value;
    return {value, in_runtime ? &own.path : &place.path, key};
  }
  return {};
}

void Merge(const Entry& entry, Merged& merged) {
  if (!entry) return;
  if (!merged.first) {
    merged.first = entry;
    return;
  }
  if (merged.other) return;
  const auto seen = merged.first.Text();
  const auto text = entry.Text();
  if (seen && text && !EqualIgnoreCase(*seen, *text)) merged.other = entry;
}

// Templates that make no pods are not read, unless the whole group is scaled to zero: its pods
// come later.
template <typename Visit>
void ForEachPodTemplate(const WorkloadView& view, const PodGroupView& group, Visit visit) {
  const auto makes_pods = [&](size_t index) { return view.templates[index].pods != int64_t{0}; };
  const bool any = std::any_of(group.templates.begin(), group.templates.end(), makes_pods);
  for (size_t index : group.templates) {
    if (!any || makes_pods(index)) visit(view.templates[index]);
  }
}

bool SameText(const Entry& a, const Entry& b) {
  if (!a || !b) return !a && !b;
  return a.value == b.value || (a.Text() && a.Text() == b.Text());
}

// OME may add the node selector of an accelerator class to these components.
bool HasAcceleratorClass(const WorkloadView& view) {
  const Value* spec = json::Find(*view.object, "spec");
  if (json::Find(spec, "acceleratorSelector") != nullptr) return true;
  for (std::string_view component : {"engine", "decoder", "predictor"}) {
    if (json::Find(json::Find(spec, component), "acceleratorOverride") != nullptr) return true;
  }
  return view.runtime != nullptr &&
         json::FindPath(*view.runtime->object, {"spec", "acceleratorRequirements"}) != nullptr;
}

}  // namespace

std::string Entry::Path() const { return map == nullptr ? std::string() : map->Child(key); }

Entry LabelEntry(const PodTemplateView& pod, std::string_view key) {
  return Nearest(pod, &PodTemplateView::labels, pod.inherited_labels, key);
}

Entry AnnotationEntry(const PodTemplateView& pod, std::string_view key) {
  return Nearest(pod, &PodTemplateView::annotations, pod.inherited_annotations, key);
}

Entry SelectorEntry(const WorkloadView& view, const PodTemplateView& pod, std::string_view key) {
  const Value* value = pod.node_selector.Find(key);
  if (value == nullptr && pod.runtime != nullptr) value = pod.runtime->node_selector.Find(key);
  if (value == nullptr && kOmeKinds.Has(view.kind)) {
    // The runtime's legacy pod fields directly under spec: of them OME still reads the selector.
    const Value* runtime = kOmeRuntimes.Has(view.kind) ? view.object
                           : view.runtime != nullptr   ? view.runtime->object
                                                       : nullptr;
    value = json::FindPath(runtime, {"spec", "nodeSelector", key});
  }
  if (value == nullptr) return {};
  return {value, &pod.node_selector.path, key};
}

std::string Merged::Joined() const {
  std::string text(first.Text().value_or(""));
  if (joined()) text.append("|").append(other.Text().value_or(""));
  return text;
}

Merged GroupLabel(const WorkloadView& view, const PodGroupView& group, std::string_view key) {
  Merged merged;
  if (!group.label_keys.MayHave(key)) return merged;
  if (group.labels) {
    const Value* value = group.labels->Find(key);
    if (value != nullptr) Merge({value, &group.labels->path, key}, merged);
  }
  ForEachPodTemplate(view, group,
                     [&](const PodTemplateView& pod) { Merge(LabelEntry(pod, key), merged); });
  return merged;
}

Merged GroupSelector(const WorkloadView& view, const PodGroupView& group, std::string_view key) {
  Merged merged;
  ForEachPodTemplate(view, group, [&](const PodTemplateView& pod) {
    Merge(SelectorEntry(view, pod, key), merged);
  });
  return merged;
}

GroupAnnotation ReadGroupAnnotation(const WorkloadView& view, const PodGroupView& group,
                                    std::string_view key) {
  GroupAnnotation found;
  if (!group.annotation_keys.MayHave(key)) return found;
  if (group.annotations) {
    const Value* value = group.annotations->Find(key);
    if (value != nullptr) return {{value, &group.annotations->path, key}, true};
  }
  bool first = true;
  ForEachPodTemplate(view, group, [&](const PodTemplateView& pod) {
    const Entry entry = AnnotationEntry(pod, key);
    if (!first && !SameText(entry, found.entry)) found.agreed = false;
    if (!found.entry) found.entry = entry;
    first = false;
  });
  return found;
}

std::string GroupAnnotationPath(const WorkloadView& view, const PodGroupView& group,
                                std::string_view key) {
  if (group.annotations) return group.annotations->path.Child(key);
  if (group.templates.empty()) return {};
  return view.templates[group.templates.front()].annotations.path.Child(key);
}

std::string ChipsPath(const PodTemplateView& pod, const PodChips& chips) {
  return chips.own && chips.request != nullptr ? chips.request->Path() : std::string(pod.path);
}

Visibility VisibilityOf(const WorkloadView& view, const PodGroupView& group) {
  if (view.controller_injected || (view.kind == Kind::kPod && view.controller)) {
    return Visibility::kPartial;
  }
  for (size_t index : group.templates) {
    // These pods join a PodGroup that another controller creates.
    if (AnnotationEntry(view.templates[index], kPodGroupAnnotation)) return Visibility::kPartial;
  }
  if (kOmeRuntimes.Has(view.kind)) return Visibility::kPartial;
  if (view.kind == Kind::kInferenceService &&
      (view.runtime == nullptr || HasAcceleratorClass(view))) {
    return Visibility::kPresent;
  }
  return Visibility::kAll;
}

std::string_view WhyInjectionIsDeclined(const WorkloadView& view, const AdmissionRequest& request,
                                        const Config& config, bool opted_in) {
  if (view.Label(kInject) == "disabled") return "labelled mindgate.io/inject: disabled";
  if (opted_in) return {};
  const auto label = request.namespace_labels.find(kInject);
  if (label != request.namespace_labels.end() && label->second == "disabled") {
    return "its namespace is labelled mindgate.io/inject: disabled";
  }
  const auto* override_ =
      config.OverrideFor(view.ns.empty() ? std::string_view(request.ns) : view.ns);
  if (override_ != nullptr && !override_->inject) {
    return "injection is disabled for its namespace in mindgate.yaml";
  }
  return {};
}

bool IsInjectionOff(const WorkloadView& view, const AdmissionRequest& request, const Config& config,
                    std::string_view mutator) {
  const bool opted_in = view.Label(kInject) == "enabled";
  return config.disabled_mutators.contains(mutator) ||
         !WhyInjectionIsDeclined(view, request, config, opted_in).empty();
}

std::optional<std::string_view> MeantScheduler(std::string_view scheduler, const Config& config) {
  const std::array<std::string_view, 2> known = {config.scheduler, kVolcanoScheduler};
  for (std::string_view right : known) {
    if (scheduler == right || scheduler.starts_with(right)) return std::nullopt;
  }
  return NearestOf(scheduler, known);
}

bool IsLeftToDefault(const WorkloadView& view, const PodTemplateView& pod,
                     const AdmissionRequest& request, const Config& config) {
  if (!IsDefaultScheduler(view.info(), pod.SchedulerName()) || !pod.has_pod_spec) return false;
  if (pod.pod_group && view.pod_groups[*pod.pod_group].owner == PodGroupOwner::kAscendJob) {
    return false;
  }
  return IsInjectionOff(view, request, config, "scheduler-name");
}

bool IsPlacedByVolcano(const WorkloadView& view, const PodTemplateView& pod,
                       const AdmissionRequest& request, const Config& config) {
  const std::string_view scheduler = pod.SchedulerName();
  if (IsDefaultScheduler(view.info(), scheduler)) {
    return !IsLeftToDefault(view, pod, request, config);
  }
  return scheduler == kVolcanoScheduler || scheduler == config.scheduler ||
         MeantScheduler(scheduler, config).has_value();
}

}  // namespace mindgate::schemas
