#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "export/templates.h"
#include "schemas/config.h"
#include "schemas/kinds.h"

// The variables of a policy that its expressions share.
namespace mindgate::exported {

// Those that the expression names, and those that these name, in an order in which each names
// earlier ones alone. With `old`, each of them that reads the object is followed by one of the
// object before the update, named as OfOld names it.
std::vector<Variable> VariablesFor(std::string_view expression, schemas::KindSet kinds,
                                   const schemas::Config& config, bool old);

// The expression over the object before the update, and its variables.
std::string OfOld(std::string_view expression);

}  // namespace mindgate::exported
