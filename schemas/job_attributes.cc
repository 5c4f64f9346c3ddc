#include "schemas/job_attributes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "json/pointer.h"
#include "schemas/names.h"

namespace mindgate::schemas {
namespace {

using json::Json;

constexpr std::string_view kNodeSelector = "nodeSelector";

// The nearest map that holds the key wins. What only a runtime says is to be written on the
// service's own map.
Entry Nearest(const Place& own, const std::vector<Place>& inherited, bool runtime_first,
              std::string_view key) {
  if (const Json* value = json::Find(own.value, key)) return {value, &own.path, {}, key};
  for (size_t i = 0; i < inherited.size(); ++i) {
    const Json* value = json::Find(inherited[i].value, key);
    if (value == nullptr) continue;
    const bool elsewhere = runtime_first && i == 0;
    return {value, elsewhere ? &own.path : &inherited[i].path, {}, key};
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

bool SameText(const Entry& a, const Entry& b) {
  if (!a || !b) return !a && !b;
  return a.value == b.value || (a.Text() && a.Text() == b.Text());
}

// OME may add the node selector of an accelerator class to these components.
bool HasAcceleratorClass(const WorkloadView& view) {
  const Json* spec = json::Find(*view.object, "spec");
  if (json::Find(spec, "acceleratorSelector") != nullptr) return true;
  for (std::string_view component : {"engine", "decoder"}) {
    if (json::Find(json::Find(spec, component), "acceleratorOverride") != nullptr) return true;
  }
  return view.runtime != nullptr &&
         json::FindPath(*view.runtime->object, {"spec", "acceleratorRequirements"}) != nullptr;
}

}  // namespace

std::string Entry::Path() const {
  if (parent == nullptr) return {};
  return member.empty() ? json::Child(*parent, key)
                        : json::Child(json::Child(*parent, member), key);
}

Entry LabelEntry(const PodTemplateView& pod, std::string_view key) {
  return Nearest(pod.labels, pod.inherited_labels, pod.runtime != nullptr, key);
}

Entry AnnotationEntry(const PodTemplateView& pod, std::string_view key) {
  return Nearest(pod.annotations, pod.inherited_annotations, pod.runtime != nullptr, key);
}

Entry SelectorEntry(const WorkloadView& view, const PodTemplateView& pod, std::string_view key) {
  const auto below = [key](const Json* spec) {
    return json::Find(json::Find(spec, kNodeSelector), key);
  };
  const Json* value = below(pod.pod_spec.value);
  if (value == nullptr && pod.runtime != nullptr) value = below(pod.runtime->pod_spec.value);
  if (value == nullptr && kOmeKinds.Has(view.kind)) {
    // The runtime's legacy pod fields directly under spec: of them OME still reads the selector.
    const Json* runtime = kOmeRuntimes.Has(view.kind) ? view.object
                          : view.runtime != nullptr   ? view.runtime->object
                                                      : nullptr;
    value = below(json::Find(runtime, "spec"));
  }
  if (value == nullptr) return {};
  return {value, &pod.pod_spec.path, kNodeSelector, key};
}

std::string Merged::Joined() const {
  std::string text(first.Text().value_or(""));
  if (joined()) text.append("|").append(other.Text().value_or(""));
  return text;
}

Merged GroupLabel(const WorkloadView& view, const PodGroupView& group, std::string_view key) {
  Merged merged;
  if (group.labels) {
    const Json* value = json::Find(group.labels->value, key);
    if (value != nullptr) Merge({value, &group.labels->path, {}, key}, merged);
  }
  for (size_t index : group.templates) Merge(LabelEntry(view.templates[index], key), merged);
  return merged;
}

Merged GroupSelector(const WorkloadView& view, const PodGroupView& group, std::string_view key) {
  Merged merged;
  for (size_t index : group.templates) {
    Merge(SelectorEntry(view, view.templates[index], key), merged);
  }
  return merged;
}

GroupAnnotation ReadGroupAnnotation(const WorkloadView& view, const PodGroupView& group,
                                    std::string_view key) {
  if (group.annotations) {
    const Json* value = json::Find(group.annotations->value, key);
    if (value != nullptr) return {{value, &group.annotations->path, {}, key}, true};
  }
  GroupAnnotation found;
  bool first = true;
  for (size_t index : group.templates) {
    const PodTemplateView& pod = view.templates[index];
    if (pod.pods == int64_t{0}) continue;  // makes no pod that could be looked at
    const Entry entry = AnnotationEntry(pod, key);
    if (!first && !SameText(entry, found.entry)) found.agreed = false;
    if (!found.entry) found.entry = entry;
    first = false;
  }
  return found;
}

std::string GroupAnnotationPath(const WorkloadView& view, const PodGroupView& group,
                                std::string_view key) {
  if (group.annotations) return json::Child(group.annotations->path, key);
  if (group.templates.empty()) return {};
  return json::Child(view.templates[group.templates.front()].annotations.path, key);
}

PodChips ChipsOf(const PodTemplateView& pod) {
  PodChips chips;
  bool known = true;
  int64_t sum = 0;
  for (const ContainerView& container : pod.containers) {
    if (container.role == ContainerView::Role::kInit) continue;
    for (const NpuRequest& npu : container.npus) {
      if (npu.count == int64_t{0} || ClassifyResource(npu.resource) != NpuResource::kWholeCard) {
        continue;
      }
      if (chips.request == nullptr) {
        chips.request = &npu;
        chips.resource = npu.resource;
      }
      if (npu.resource != chips.resource) continue;  // a rule of its own
      if (!npu.count || __builtin_add_overflow(sum, *npu.count, &sum)) known = false;
    }
  }
  if (chips.request == nullptr) {
    if (pod.runtime == nullptr) return chips;
    chips = ChipsOf(*pod.runtime);
    chips.own = false;
    return chips;
  }
  if (known) chips.count = sum;
  return chips;
}

std::string ChipsPath(const PodTemplateView& pod, const PodChips& chips) {
  return chips.own && chips.request != nullptr ? chips.request->path : pod.path;
}

std::string_view SchedulerOf(const WorkloadView& view, const PodTemplateView& pod) {
  const std::string_view own = pod.SchedulerName();
  if (!own.empty()) return own;
  const Json* spec = nullptr;
  if (view.kind == Kind::kAscendJob || view.kind == Kind::kVolcanoJob) {
    spec = json::Find(*view.object, "spec");
  } else if (view.kind == Kind::kVolcanoCronJob) {
    spec = json::FindPath(*view.object, {"spec", "jobTemplate", "spec"});
  }
  return json::FindString(spec, "schedulerName").value_or("");
}

bool IsPlacedByVolcano(const WorkloadView& view, const PodTemplateView& pod, const Config& config) {
  const std::string_view scheduler = SchedulerOf(view, pod);
  return IsDefaultScheduler(view.info(), scheduler) || scheduler == kVolcanoScheduler ||
         scheduler == config.scheduler;
}

Visibility VisibilityOf(const WorkloadView& view, const PodGroupView& group) {
  if (view.controller_injected || (view.kind == Kind::kPod && view.controller)) {
    return Visibility::kPartial;
  }
  for (size_t index : group.templates) {
    // These pods join a PodGroup that somebody else makes.
    if (AnnotationEntry(view.templates[index], kPodGroupAnnotation)) return Visibility::kPartial;
  }
  if (kOmeRuntimes.Has(view.kind)) return Visibility::kPartial;
  if (view.kind == Kind::kInferenceService &&
      (view.runtime == nullptr || HasAcceleratorClass(view))) {
    return Visibility::kPresent;
  }
  return Visibility::kAll;
}

}  // namespace mindgate::schemas
