#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "policies/rule.h"
#include "schemas/config.h"

// Where and of whom an exported policy judges: what the webhook is sent, and what modes and
// exceptions of the configuration leave of it.
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

// A match condition.
struct Condition {
  std::string name;
  std::string expression;
};

// Where a mode is in force. A match condition on the namespace, since the selector of a binding
// never leaves out objects without one.
struct Scope {
  schemas::Mode mode = schemas::Mode::kOff;
  std::string condition;  // empty: everywhere
};

schemas::Mode ModeOutside(const policies::Rule& rule, const schemas::Config& config);
// Each mode that the rule has somewhere, kOff too: first that of namespaces that the configuration
// does not name.
std::vector<Scope> ScopesOf(const policies::Rule& rule, const schemas::Config& config);

// Objects that are judged in the scope, of the kinds: what the webhook is not sent, or mindgate
// leaves alone, is not.
std::vector<Condition> ConditionsOf(const policies::Rule& rule, schemas::KindSet kinds,
                                    const Scope& scope, const schemas::Config& config,
                                    const ExportOptions& options);
// The first of them, and what leaves alone objects of the kinds that a controller makes of admitted
// ones; nothing when no controller does.
Condition NotBeingDeleted();
std::optional<Condition> NotMade(schemas::KindSet kinds, const ExportOptions& options);
// As a policy has them.
nlohmann::ordered_json MatchConditions(const std::vector<Condition>& conditions);

// A selector of namespaces that selects only those of the options as well; null: all of them.
nlohmann::ordered_json NamespaceSelector(nlohmann::ordered_json selector,
                                         const ExportOptions& options);

// "Deny", "Warn" or "Audit".
std::string_view ActionOf(schemas::Mode mode);

inline constexpr std::string_view kPolicyVersion = "admissionregistration.k8s.io/v1";
// Labels of all that is exported: they find it when it is to be removed.
inline constexpr std::string_view kNameKey = "app.kubernetes.io/name";
inline constexpr std::string_view kNameValue = "mindgate";
inline constexpr std::string_view kComponentKey = "app.kubernetes.io/component";
inline constexpr std::string_view kComponentValue = "exported-policy";

}  // namespace mindgate::exported
