#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admission/export/cel_text.h"
#include "admission/export/exported_rules.h"
#include "policies/rule.h"
#include "policies/site/policy.h"
#include "schemas/config.h"

namespace mindgate::exported {

// MutatingAdmissionPolicies that write what mutators write (admission/export/injections.h).

// Versions of admissionregistration.k8s.io, with the same fields: v1beta1 from Kubernetes 1.34 and
// v1 from 1.36 on, v1alpha1 in 1.33. 1.32 has that, too, but not yet the macros of two variables
// (apiserver: pkg/cel/environment/base.go, a release ahead of what new expressions may use).
inline constexpr std::string_view kMutatingVersions[] = {"v1", "v1beta1", "v1alpha1"};

// One policy with its binding for each place of a pod template, ready to be applied; none when all
// mutators that are exported are off. Like mindgate they never write over what stands there, and an
// error leaves the object as it is.
std::vector<nlohmann::ordered_json> MutatingPolicies(const schemas::Config& config,
                                                     const ExportOptions& options,
                                                     std::string_view version);

// ValidatingAdmissionPolicies that find what rules find, for API servers from 1.30 on.

// The policies and bindings of one rule, ready to be applied: none when the rule is off everywhere.
// One policy for each mode that is in force somewhere. Where mindgate lets an update keep what was
// wrong before, the policy that denies does so too, and a second one warns of it.
std::vector<nlohmann::ordered_json> PoliciesOf(const policies::Rule& rule, const ExportedRule& row,
                                               const schemas::Config& config,
                                               const ExportOptions& options);

// Exceptions of the configuration that are in a match condition and end some day, which a policy
// does not see. By their place in the configuration.
std::vector<size_t> ExportedExceptions(const schemas::Config& config, const ExportOptions& options);

// Policies of a site's own, for API servers from 1.30 on, as the configuration changes them.

// Why the policy is not exported, as a clause; empty when it is.
std::string_view WhyNotExported(const policies::site::SitePolicy& policy);

struct ExportedSitePolicies {
  std::vector<nlohmann::ordered_json> params;    // what bindings name, each once
  std::vector<nlohmann::ordered_json> policies;  // each with its bindings behind it
};

// The policies, with the spec and the annotations that they were written with, and what mindgate
// adds: match conditions, as rules have them, behind their own, and bindings that are about the
// kinds that mindgate evaluates, in the namespaces of the options. One policy for each mode that is
// in force somewhere, with the actions of its bindings. Those that are off everywhere, or are not
// exported, give nothing.
// What an update leaves as it was is evaluated like the rest: a policy of a site's own has no
// places.
ExportedSitePolicies SitePoliciesOf(std::span<const policies::site::SitePolicy* const> policies,
                                    const schemas::Config& config, const ExportOptions& options);

}  // namespace mindgate::exported
