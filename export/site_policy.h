#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "export/scope.h"
#include "policies/site/policy.h"
#include "schemas/config.h"

// Policies of a site's own, for API servers from 1.30 on, as the configuration changes them.
namespace mindgate::exported {

// Why the policy is not exported, as a clause; empty when it is.
std::string_view WhyNotExported(const policies::site::SitePolicy& policy);

struct ExportedSitePolicies {
  std::vector<nlohmann::ordered_json> params;    // what bindings name, each once
  std::vector<nlohmann::ordered_json> policies;  // each with its bindings behind it
};

// The policies, with the spec and the annotations that they were written with, and what mindgate
// adds: match conditions, as rules have them, behind their own, and bindings that are about the
// kinds that mindgate judges, in the namespaces of the options. One policy for each mode that is in
// force somewhere, with the actions of its bindings. Those that are off everywhere, or are not
// exported, give nothing.
// What an update leaves as it was is judged like the rest: a policy of a site's own has no places.
ExportedSitePolicies SitePoliciesOf(std::span<const policies::site::SitePolicy* const> policies,
                                    const schemas::Config& config, const ExportOptions& options);

}  // namespace mindgate::exported
