#include "policies/rule.h"

namespace mindgate::policies {

std::span<const Rule> MindieRules() { return {}; }

}  // namespace mindgate::policies
