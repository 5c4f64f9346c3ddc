#pragma once

#include <cstdint>
#include <optional>

#include "policies/rule.h"
#include "schemas/autoscalers.h"

namespace mindgate::policies::common {

// What is left of a group where autoscalers that are applied beside have it at their minimum.
struct LeastPods {
  int64_t pods = 0;
  schemas::Autoscaler by;  // that leaves the fewest of its template
  int64_t of_template = 0;
};

// Nothing when no such autoscaler scales the pods, or one of the numbers is not known. A workload
// without pods has no gang: the least is one pod of each template.
std::optional<LeastPods> LeastPodsOf(const RuleContext& context,
                                     const schemas::PodGroupView& group);

}  // namespace mindgate::policies::common
