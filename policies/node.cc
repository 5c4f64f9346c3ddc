#include "policies/rule.h"

namespace mindgate::policies {

std::span<const Rule> NodeRules() { return {}; }

}  // namespace mindgate::policies
