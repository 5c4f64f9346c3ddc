#pragma once

#include <string>
#include <vector>

#include "faults/node_faults.h"
#include "json/value.h"

namespace mindgate::faults {

// {"FaultDevList": [...], "NodeStatus": "UnHealthy"}: what NodeD writes of its machine, and
// ClusterD of each. What is not understood is added to `problems`.
HardwareFaults ReadMachine(const json::Value& info, std::vector<std::string>& problems);

// The same of the switches of a node: the device plugin writes FaultCode, a list of texts that are
// JSON themselves, and ClusterD FaultInfo, a list of objects.
HardwareFaults ReadSwitches(const json::Value& info, std::vector<std::string>& problems);

}  // namespace mindgate::faults
