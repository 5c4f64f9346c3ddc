#pragma once

#include <cstddef>
#include <optional>

#include "json/json.h"

namespace mindgate::schemas {

// Where the gate of elastic scaling is in a pod's spec.schedulingGates; nothing: it has none, or
// `gates` is null or no list. The API server takes no name twice.
std::optional<size_t> PlaceOfScalingGate(const json::Json* gates);

}  // namespace mindgate::schemas
