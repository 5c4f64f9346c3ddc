#include "policies/rule.h"

namespace mindgate::policies {

std::span<const Rule> StructureRules() { return {}; }

}  // namespace mindgate::policies
