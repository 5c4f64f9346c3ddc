#pragma once

#include <optional>

#include "kube/access.h"
#include "kube/config_node.h"
#include "kube/exec_plugin.h"

namespace mindgate::kube {

// Reads `exec` of a user. If the plugin requests it, it receives `server` and the plugin
// configuration of `cluster`.
ExecPlugin ReadExec(const ConfigNode& exec, const Access& server,
                    const std::optional<ConfigNode>& cluster, ConfigErrors& complaints);

}  // namespace mindgate::kube
