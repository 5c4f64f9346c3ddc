#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "schemas/config.h"

namespace mindgate::deploy {

// What a KRM function answers (https://github.com/kubernetes-sigs/kustomize,
// cmd/config/docs/api-conventions/functions-spec.md).
struct FunctionAnswer {
  std::string output;   // a ResourceList in YAML; empty when the input is none
  std::string fault{};  // why it is none
  // The results as lines for people: kustomize shows none of those in the list.
  std::vector<std::string> told{};  // "error: spec.app_name: ..."
  bool failed = false;              // a result has severity error: the items are those of the input
};

// Renders the application in `functionConfig` of a ResourceList into its items, and tells what
// rules find in `results`. The configuration is `spec` of an object of any kind; where it leaves
// out app_name and app_namespace, they are those of the object. An item of the same kind, namespace
// and name is replaced, but for the annotations of others; one of the application that is no longer
// made is removed.
FunctionAnswer RunFunction(std::string_view resource_list, const schemas::Config& config, Time now);

}  // namespace mindgate::deploy
