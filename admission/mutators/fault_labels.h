#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "schemas/names.h"
#include "schemas/workload.h"

namespace mindgate::mutators {

// Values of one label that the user wrote where nothing reads them (in metadata that reaches no
// pod, as an annotation) or under a misspelled key. They are the user's word all the same.
class MisplacedLabel {
 public:
  // The view must outlive it. Nothing is read before the first question.
  MisplacedLabel(const schemas::WorkloadView& view, std::string_view key);

  // The value meant for the pods of the group, the nearest one first; the empty text when it is not
  // a string. Looks at no map twice, but for those that templates share.
  std::optional<std::string_view> Of(const schemas::PodGroupView& group);

 private:
  std::optional<std::string_view> In(const schemas::FieldView& map);
  std::optional<std::string_view> OfObject();

  const schemas::WorkloadView& view_;
  const std::string_view key_;
  const schemas::NormalizedKey word_;
  size_t budget_ = schemas::kMaxComparedKeys;
  std::optional<std::vector<schemas::UnreadMetadata>> dead_ends_;
  std::vector<const schemas::UnreadMetadata*> of_templates_;
  std::optional<std::optional<std::string_view>> of_object_;
};

}  // namespace mindgate::mutators
