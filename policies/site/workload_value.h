#pragma once

#include <string_view>

#include "cel/value.h"
#include "json/arena.h"
#include "policies/rule.h"

namespace mindgate::policies::site {

// The variable `workload`: the view of the object and what its controllers will make of it
// (docs/policies.md has its members). A number that the object does not show is left out. Rows and
// texts are in `arena`, or are borrowed from the view.
cel::Value WorkloadValue(const RuleContext& context, json::Arena& arena);

}  // namespace mindgate::policies::site
