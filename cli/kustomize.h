#pragma once

#include <string>

#include "cli/inputs.h"

namespace mindgate::cli {

// What `kustomize build FOLDER` prints, or `kubectl kustomize FOLDER` where there is no kustomize.
InputText BuildKustomization(const std::string& folder);

}  // namespace mindgate::cli
