#pragma once

#include <string>

#include "cli/inputs.h"

namespace mindgate::cli {

// The output of `kustomize build FOLDER`, or of `kubectl kustomize FOLDER` if kustomize is not
// installed.
InputText BuildKustomization(const std::string& folder);

}  // namespace mindgate::cli
