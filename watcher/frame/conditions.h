#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "json/value.h"

namespace mindgate::watcher {

// The status of a condition in status.conditions: "True", "False" or "Unknown"; nothing: the object
// has no such condition.
inline std::optional<std::string_view> ConditionStatus(const json::Value& object,
                                                       std::string_view type) {
  const json::Value* conditions = json::FindPath(object, {"status", "conditions"});
  if (!json::IsArray(conditions)) return std::nullopt;
  const auto found =
      std::find_if(conditions->begin(), conditions->end(),
                   [&](const json::Value& one) { return json::FindString(&one, "type") == type; });
  if (found == conditions->end()) return std::nullopt;
  return json::FindString(&*found, "status").value_or("");
}

}  // namespace mindgate::watcher
