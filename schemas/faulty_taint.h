#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "json/value.h"

namespace mindgate::schemas {

// The taint of a node that the watcher isolates, as kubectl writes it: kFaultyNode and its effect.
inline constexpr std::string_view kFaultyTaint = "mindgate.io/faulty:NoSchedule";
inline constexpr std::string_view kFaultyTaintEffect = "NoSchedule";

// Where it is in a node's spec.taints; nothing: it has none, or `taints` is null or not a list. The
// same key with another effect is not ours. The API server refuses a pair that is there twice.
std::optional<size_t> PlaceOfFaultyTaint(const json::Value* taints);

}  // namespace mindgate::schemas
