#pragma once

#include <string>

#include "offline/inputs.h"

namespace mindgate::offline {

// The output of `kustomize build FOLDER`, or of `kubectl kustomize FOLDER` if kustomize is not
// installed.
InputText BuildKustomization(const std::string& folder);

}  // namespace mindgate::offline
