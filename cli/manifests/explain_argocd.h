#pragma once

#include "json/json.h"
#include "schemas/config.h"

namespace mindgate::cli {

// `ignoreDifferences` of an Application of Argo CD: what it must not compare of objects into which
// admission writes. Its differ drops what a cluster adds to maps, and to the lists of Kubernetes'
// own kinds; an item in a list of a custom resource it takes for a difference (argo-cd:
// gitops-engine/pkg/diff, threeWayMergePatch).
json::Json ArgocdSettings(const schemas::Config& config);

}  // namespace mindgate::cli
