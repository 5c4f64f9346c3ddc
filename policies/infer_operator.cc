#include "policies/rule.h"

namespace mindgate::policies {

std::span<const Rule> InferOperatorRules() { return {}; }

}  // namespace mindgate::policies
