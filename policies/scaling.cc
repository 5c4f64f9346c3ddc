#include "policies/rule.h"

namespace mindgate::policies {

std::span<const Rule> ScalingRules() { return {}; }

}  // namespace mindgate::policies
