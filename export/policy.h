#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/time.h"
#include "export/exported_rule.h"
#include "policies/rule.h"
#include "schemas/config.h"

// ValidatingAdmissionPolicies that find what rules find, for API servers from 1.30 on.
namespace mindgate::exported {

// What a cluster adds to its mindgate.yaml.
struct ExportOptions {
  // Objects that these make of admitted ones are not judged: the users, and the ServiceAccounts of
  // the namespaces. Whoever else names an owner is judged.
  std::vector<std::string> controller_namespaces = {};
  std::vector<std::string> controller_users = {};
  std::vector<std::string> excluded_namespaces = {};  // never judged
  nlohmann::ordered_json namespace_selector = {};     // null: all the other namespaces
  Time now{};  // exceptions that expire before it have no effect
};

// The policies and bindings of one rule, ready to be applied: none when the rule is off everywhere.
// One policy for each mode that is in force somewhere. Where mindgate lets an update keep what was
// wrong before, the policy that denies does so too, and a second one warns of it. Modes of
// namespaces are match conditions, since the selector of a binding never leaves out objects without
// a namespace.
std::vector<nlohmann::ordered_json> PoliciesOf(const policies::Rule& rule, const ExportedRule& row,
                                               const schemas::Config& config,
                                               const ExportOptions& options);

// Exceptions of the configuration that are in a match condition and end some day, which a policy
// does not see. By their place in the configuration.
std::vector<size_t> ExportedExceptions(const schemas::Config& config, const ExportOptions& options);

}  // namespace mindgate::exported
