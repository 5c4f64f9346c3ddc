#include "policies/rule.h"

namespace mindgate::policies {

std::span<const Rule> AibrixRules() { return {}; }

}  // namespace mindgate::policies
