#pragma once

#include "kube/access.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

// kubectl's flags for selecting a cluster.
void AddClusterFlags(CLI::App& command, kube::AccessFlags& flags);
// The same, and a namespace.
void AddKubeFlags(CLI::App& command, kube::AccessFlags& flags);

}  // namespace mindgate::cli
