#pragma once

#include <cstddef>
#include <optional>

#include "json/value.h"

namespace mindgate::schemas {

// Where the gate of elastic scaling is in a pod's spec.schedulingGates; nothing: it has none, or
// `gates` is null or not a list. The API server refuses a name that is there twice.
std::optional<size_t> PlaceOfScalingGate(const json::Value* gates);

}  // namespace mindgate::schemas
