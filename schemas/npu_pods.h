#pragma once

#include <optional>
#include <string>

#include "json/value.h"

namespace mindgate::schemas {

// Where an object of a kind that mindgate does not handle holds a pod spec whose containers ask for
// NPUs: the pointer of the first one, "/spec/workerGroupSpecs/0/template/spec". A pod spec is an
// object with a list `containers`, wherever it stands: that is so with RayCluster, PyTorchJob,
// JobSet, CloneSet and the like. No more than kMaxMembers members are visited.
std::optional<std::string> FindNpuPods(const json::Value& object);

inline constexpr size_t kMaxMembers = 100'000;

}  // namespace mindgate::schemas
