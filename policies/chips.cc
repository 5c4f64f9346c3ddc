#include "policies/rule.h"

namespace mindgate::policies {

std::span<const Rule> ChipRules() { return {}; }

}  // namespace mindgate::policies
