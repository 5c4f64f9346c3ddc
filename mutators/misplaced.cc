#include "mutators/misplaced.h"

#include "schemas/names.h"

namespace mindgate::mutators {

using json::Value;
using schemas::Place;
using schemas::UnreadMetadata;

MisplacedLabel::MisplacedLabel(const schemas::WorkloadView& view, std::string_view key)
    : view_(view), key_(key), word_(key) {}

// An entry of that key, or of one that resembles it: in a map that the scheduler reads, the caller
// has found the exact key already.
std::optional<std::string_view> MisplacedLabel::In(const Place& map) {
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
    for (const Place* map : {&end.labels, &end.annotations}) {
      if (const auto value = In(*map)) return value;
    }
  }
  for (const Place* map : {&view_.labels, &view_.annotations}) {
    if (const auto value = In(*map)) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> MisplacedLabel::Of(const schemas::PodGroupView& group) {
  for (size_t index : group.templates) {
    const schemas::PodTemplateView& pod = view_.templates[index];
    for (const Place* map : {&pod.labels, &pod.annotations}) {
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
    for (const Place* map : {&end->labels, &end->annotations}) {
      if (const auto value = In(*map)) return value;
    }
  }
  if (!of_object_) of_object_ = OfObject();
  return *of_object_;
}

}  // namespace mindgate::mutators
