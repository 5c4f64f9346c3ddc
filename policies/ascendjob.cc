#include "policies/rule.h"

namespace mindgate::policies {

std::span<const Rule> AscendJobRules() { return {}; }

}  // namespace mindgate::policies
