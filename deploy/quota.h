#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/problem.h"
#include "json/json.h"

namespace mindgate::deploy {

// What an application takes of a namespace, by the keys of a ResourceQuota ("requests.memory",
// "pods", "count/services"); processors in thousandths. At least: what controllers and runtimes add
// is not known.
struct Demand {
  std::map<std::string, int64_t> amounts;
  // Keys of which some pods say nothing, though nobody adds to them.
  std::set<std::string> unstated;
};
Demand DemandOf(const std::vector<json::Json>& objects);

struct QuotaFindings {
  std::vector<Problem> blockers;  // more than is allowed, however little is used
  std::vector<Problem> notes;     // more than is free
};
// `existing`: what the application has already, which counts as used.
QuotaFindings CompareWithQuotas(const std::vector<json::Json>& quotas, const std::string& ns,
                                const Demand& demand, const Demand& existing);

}  // namespace mindgate::deploy
