#include "policies/text_entries.h"

#include "json/pointer.h"
#include "schemas/names.h"
#include "schemas/placement.h"

namespace mindgate::policies {
namespace {

using schemas::FieldView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

// Which of the two kinds of map a walk looks at.
struct Maps {
  FieldView WorkloadView::* object;
  FieldView PodTemplateView::* pod;
  std::span<const FieldView> PodTemplateView::* inherited;
};

constexpr Maps kLabels = {&WorkloadView::labels, &PodTemplateView::labels,
                          &PodTemplateView::inherited_labels};
constexpr Maps kAnnotations = {&WorkloadView::annotations, &PodTemplateView::annotations,
                               &PodTemplateView::inherited_annotations};

std::string PathOf(const WorkloadView& view, const PodTemplateView& pod, const Maps& maps,
                   std::string_view key) {
  const FieldView& own = pod.*maps.pod;
  if (own.Find(key) == nullptr) {
    for (const FieldView& place : pod.*maps.inherited) {
      if (place.Find(key) == nullptr) continue;
      if (place.value == (view.*maps.object).value) return place.path.Child(key);
      break;
    }
  }
  return own.path.Child(key);
}

}  // namespace

void TextEntries::Iterator::Advance() {
  found_.map = nullptr;
  while (found_.map == nullptr && !maps_.empty()) {
    if (const auto text = maps_.front()->Text(found_.key)) {
      found_.map = maps_.front();
      found_.value = *text;
    }
    maps_ = maps_.subspan(1);
  }
}

TextEntries ReachingLabels(const WorkloadView& view, std::string_view key) {
  if (!view.label_keys.MayHave(key)) return {{}, key};
  return {view.reaching_labels, key};
}

TextEntries ReachingAnnotations(const WorkloadView& view, std::string_view key) {
  if (!view.annotation_keys.MayHave(key)) return {{}, key};
  return {view.reaching_annotations, key};
}

std::string LabelPath(const WorkloadView& view, const PodTemplateView& pod, std::string_view key) {
  return PathOf(view, pod, kLabels, key);
}

std::string AnnotationPath(const WorkloadView& view, const PodTemplateView& pod,
                           std::string_view key) {
  return PathOf(view, pod, kAnnotations, key);
}

std::optional<std::string_view> SeenLabel(const WorkloadView& view, const PodTemplateView& pod,
                                          std::string_view key) {
  if (const auto own = pod.Label(key)) return own;
  if (!pod.pod_group) return std::nullopt;
  const auto& labels = view.pod_groups[*pod.pod_group].labels;
  return labels ? labels->Text(key) : std::nullopt;
}

std::string SeenLabelPath(const WorkloadView& view, const PodTemplateView& pod,
                          std::string_view key) {
  if (!pod.Label(key) && pod.pod_group) {
    const auto& labels = view.pod_groups[*pod.pod_group].labels;
    if (labels) return labels->path.Child(key);
  }
  return LabelPath(view, pod, key);
}

std::optional<Disagreement> FindDisagreement(const schemas::LabelOccurrences& occurrences,
                                             bool (*same)(std::string_view, std::string_view)) {
  std::optional<schemas::LabelOccurrence> first;
  std::string_view first_text;
  for (const schemas::LabelOccurrence& place : occurrences) {
    const auto text = json::AsString(place.value);
    if (!text || place.in_runtime) continue;
    if (!first) {
      first = place;
      first_text = *text;
    } else if (!same(first_text, *text)) {
      return Disagreement{*first, place, first_text, *text};
    }
  }
  return std::nullopt;
}

bool IsInjectionOff(const RuleContext& context, std::string_view mutator) {
  return schemas::IsInjectionOff(context.view, context.request, context.config, mutator);
}

bool IsLeftToDefault(const RuleContext& context, const PodTemplateView& pod) {
  const WorkloadView& view = context.view;
  if (IsWrittenNoMore(context) && pod.has_pod_spec &&
      schemas::IsDefaultScheduler(view.info(), pod.SchedulerName())) {
    return true;
  }
  return schemas::IsLeftToDefault(view, pod, context.request, context.config);
}

bool IsPlacedByVolcano(const RuleContext& context, const PodTemplateView& pod) {
  return !IsLeftToDefault(context, pod) &&
         schemas::IsPlacedByVolcano(context.view, pod, context.request, context.config);
}

bool IsWrittenNoMore(const RuleContext& context) {
  return context.request.operation == schemas::Operation::kUpdate &&
         context.view.info().template_frozen;
}

bool MakesPodsInOrder(const WorkloadView& view, const PodTemplateView& pod) {
  if (!pod.pod_group || !view.pod_groups[*pod.pod_group].facts().in_order) return false;
  // The spec around the template: of the object, or the raw one of a role.
  const json::Value* spec = json::Resolve(*view.object, pod.path.substr(0, pod.path.rfind('/')));
  return json::FindString(spec, "podManagementPolicy").value_or("OrderedReady") == "OrderedReady";
}

bool MayBeBound(const RuleContext& context) {
  return schemas::kPods.Has(context.view.kind) &&
         (context.view.controller || context.request.operation != schemas::Operation::kCreate);
}

bool IsMindieManager(const WorkloadView& view) {
  const auto app = view.Label(schemas::kApp);
  return schemas::kAscendJobs.Has(view.kind) &&
         (app == "mindie-ms-controller" || app == "mindie-ms-coordinator");
}

}  // namespace mindgate::policies
