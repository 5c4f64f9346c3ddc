#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "export/scope.h"
#include "schemas/config.h"

// MutatingAdmissionPolicies that write what mutators write (export/injections.h).
namespace mindgate::exported {

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

}  // namespace mindgate::exported
