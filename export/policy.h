#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "export/exported_rule.h"
#include "export/scope.h"
#include "policies/rule.h"
#include "schemas/config.h"

// ValidatingAdmissionPolicies that find what rules find, for API servers from 1.30 on.
namespace mindgate::exported {

// The policies and bindings of one rule, ready to be applied: none when the rule is off everywhere.
// One policy for each mode that is in force somewhere. Where mindgate lets an update keep what was
// wrong before, the policy that denies does so too, and a second one warns of it.
std::vector<nlohmann::ordered_json> PoliciesOf(const policies::Rule& rule, const ExportedRule& row,
                                               const schemas::Config& config,
                                               const ExportOptions& options);

// Exceptions of the configuration that are in a match condition and end some day, which a policy
// does not see. By their place in the configuration.
std::vector<size_t> ExportedExceptions(const schemas::Config& config, const ExportOptions& options);

}  // namespace mindgate::exported
