#pragma once

#include <optional>

#include "kube/access.h"
#include "kube/config_node.h"
#include "kube/exec_plugin.h"

namespace mindgate::kube {

// The `exec` of a user. The plugin is told about `server` and what `cluster` keeps for plugins, if
// it asks for that.
ExecPlugin ReadExec(const ConfigNode& exec, const Access& server,
                    const std::optional<ConfigNode>& cluster, Complaints& complaints);

}  // namespace mindgate::kube
