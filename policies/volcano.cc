#include "policies/rule.h"

namespace mindgate::policies {

std::span<const Rule> VolcanoRules() { return {}; }

}  // namespace mindgate::policies
