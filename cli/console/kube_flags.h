#pragma once

#include "kube/access.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

// kubectl's flags for selecting a cluster.
// With `short_kubeconfig`, -k means --kubeconfig, as in mindcluster-deploy.
void AddClusterFlags(CLI::App& command, kube::AccessFlags& flags, bool short_kubeconfig = false);
// The same, and a namespace.
void AddKubeFlags(CLI::App& command, kube::AccessFlags& flags, bool short_kubeconfig = false);

}  // namespace mindgate::cli
