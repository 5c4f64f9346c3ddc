#include "policies/rule.h"

namespace mindgate::policies {

std::span<const Rule> FaultLabelRules() { return {}; }

}  // namespace mindgate::policies
