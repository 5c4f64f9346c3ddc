#pragma once

#include <optional>
#include <vector>

#include "json/projection.h"
#include "json/value.h"
#include "why/facts.h"

namespace mindgate::why {

// The members of a Pod that PodFactsOf and GroupOfPod read, and those that elastic scaling reads.
std::vector<json::Projection::Path> PodFactFields();

PodFacts PodFactsOf(const json::Value& pod);

// huawei.com/schedule_minAvailable of a pod or a PodGroup; nothing: it has none that is a number.
std::optional<int64_t> KOf(const json::Value& object);

// The members of a PodGroup that GroupFactsOf reads, and those that elastic scaling reads.
std::vector<json::Projection::Path> GroupFactFields();

// Without what its pods say.
GroupFacts GroupFactsOf(const json::Value& pod_group);

// Whole quantities of a map of resources; others are left out.
std::map<std::string, int64_t> AmountsOf(const json::Value* resources);

}  // namespace mindgate::why
