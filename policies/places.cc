#include "policies/places.h"

#include "json/pointer.h"
#include "schemas/names.h"

namespace mindgate::policies {
namespace {

using schemas::Place;
using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

// Which of the two kinds of map a walk looks at.
struct Maps {
  Place WorkloadView::* object;
  std::optional<Place> PodGroupView::* group;
  Place PodTemplateView::* pod;
  std::vector<Place> PodTemplateView::* inherited;
};

constexpr Maps kLabels = {&WorkloadView::labels, &PodGroupView::labels, &PodTemplateView::labels,
                          &PodTemplateView::inherited_labels};
constexpr Maps kAnnotations = {&WorkloadView::annotations, &PodGroupView::annotations,
                               &PodTemplateView::annotations,
                               &PodTemplateView::inherited_annotations};

std::vector<const Place*> Reaching(const WorkloadView& view, const Maps& maps) {
  std::vector<const Place*> found;
  // Only neighbours can share a map: the leader and worker of one OME component.
  const auto add = [&](const Place& place) {
    if (place.value == nullptr) return;
    if (found.empty() || found.back()->value != place.value) found.push_back(&place);
  };
  const Place* whole_object = nullptr;
  for (const PodGroupView& group : view.pod_groups) {
    if (group.*maps.group) add(*(group.*maps.group));
  }
  for (const PodTemplateView& pod : view.templates) {
    add(pod.*maps.pod);
    for (const Place& place : pod.*maps.inherited) {
      if (place.value == (view.*maps.object).value) whole_object = &place;
    }
  }
  if (whole_object != nullptr) add(*whole_object);
  return found;
}

std::vector<TextEntry> Entries(const std::vector<const Place*>& maps, std::string_view key) {
  std::vector<TextEntry> entries;
  for (const Place* map : maps) {
    if (const auto text = json::FindString(map->value, key)) {
      entries.push_back({map, key, *text});
    }
  }
  return entries;
}

std::string PathOf(const WorkloadView& view, const PodTemplateView& pod, const Maps& maps,
                   std::string_view key) {
  const Place& own = pod.*maps.pod;
  if (json::Find(own.value, key) == nullptr) {
    for (const Place& place : pod.*maps.inherited) {
      if (json::Find(place.value, key) == nullptr) continue;
      if (place.value == (view.*maps.object).value) return json::Child(place.path, key);
      break;
    }
  }
  return json::Child(own.path, key);
}

}  // namespace

std::vector<const Place*> ReachingLabelMaps(const WorkloadView& view) {
  return Reaching(view, kLabels);
}

std::vector<const Place*> ReachingAnnotationMaps(const WorkloadView& view) {
  return Reaching(view, kAnnotations);
}

std::vector<TextEntry> ReachingLabels(const WorkloadView& view, std::string_view key) {
  return Entries(ReachingLabelMaps(view), key);
}

std::vector<TextEntry> ReachingAnnotations(const WorkloadView& view, std::string_view key) {
  return Entries(ReachingAnnotationMaps(view), key);
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
  return labels ? json::FindString(labels->value, key) : std::nullopt;
}

std::string SeenLabelPath(const WorkloadView& view, const PodTemplateView& pod,
                          std::string_view key) {
  if (!pod.Label(key) && pod.pod_group) {
    const auto& labels = view.pod_groups[*pod.pod_group].labels;
    if (labels) return json::Child(labels->path, key);
  }
  return LabelPath(view, pod, key);
}

std::optional<Disagreement> FindDisagreement(
    const std::vector<schemas::LabelOccurrence>& occurrences,
    bool (*same)(std::string_view, std::string_view)) {
  const schemas::LabelOccurrence* first = nullptr;
  std::string_view first_text;
  for (const schemas::LabelOccurrence& place : occurrences) {
    const auto text = json::AsString(place.value);
    if (!text || place.in_runtime) continue;
    if (first == nullptr) {
      first = &place;
      first_text = *text;
    } else if (!same(first_text, *text)) {
      return Disagreement{first, &place, first_text, *text};
    }
  }
  return std::nullopt;
}

bool IsMindieManager(const WorkloadView& view) {
  const auto app = view.Label(schemas::kApp);
  return view.kind == schemas::Kind::kAscendJob &&
         (app == "mindie-ms-controller" || app == "mindie-ms-coordinator");
}

}  // namespace mindgate::policies
