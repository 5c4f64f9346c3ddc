#pragma once

#include "kube/access.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

// kubectl's own flags, which say which cluster a command is about.
void AddClusterFlags(CLI::App& command, kube::AccessFlags& flags);
// And which namespace of it.
void AddKubeFlags(CLI::App& command, kube::AccessFlags& flags);

}  // namespace mindgate::cli
