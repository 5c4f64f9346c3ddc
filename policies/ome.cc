#include "policies/rule.h"

namespace mindgate::policies {

std::span<const Rule> OmeRules() { return {}; }

}  // namespace mindgate::policies
