#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "schemas/place.h"
#include "schemas/workload.h"

namespace mindgate::schemas {

// Labels and annotations that stand side by side and reach neither pods nor a PodGroup.
struct UnreadMetadata {
  Place labels;
  Place annotations;
  // Of the one template that they are written for; nothing when they are for all of the object.
  std::optional<size_t> pod_template{};
};

// All of the object, those for all of it first.
std::vector<UnreadMetadata> UnreadMetadataOf(const WorkloadView& view);

}  // namespace mindgate::schemas
