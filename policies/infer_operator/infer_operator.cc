#include "policies/infer_operator/infer_operator.h"

#include <algorithm>

namespace mindgate::policies::infer_operator {

std::string Title(const schemas::PartView& role) {
  return role.index ? role.Title("role") : "the InstanceSet";
}

int64_t ServiceCount(const RuleContext& context) {
  if (!context.view.is_set) return 1;
  const auto replicas = json::AsInt(json::FindPath(*context.view.object, {"spec", "replicas"}));
  return std::clamp<int64_t>(replicas.value_or(1), 1, kMaxServices);
}

}  // namespace mindgate::policies::infer_operator
