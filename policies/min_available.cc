#include "policies/rule.h"

namespace mindgate::policies {

std::span<const Rule> MinAvailableRules() { return {}; }

}  // namespace mindgate::policies
