#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "json/json.h"

namespace mindgate::deploy {

// Whether a pod of a component was made of an earlier state of the application's objects. Pods of
// before stay ready while a rollout begins, and tell nothing of what was deployed. What frameworks
// and other webhooks add to a pod does not count; what they leave out says nothing.
bool IsOutdated(const json::Json& pod, const std::string& component,
                const std::vector<json::Json>& objects);

}  // namespace mindgate::deploy
