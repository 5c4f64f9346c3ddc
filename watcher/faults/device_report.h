#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "watcher/faults/node_faults.h"

namespace mindgate::watcher::faults {

// {"DeviceList": {...}, "UpdateTime": seconds}: what the device plugin writes of one node, and
// ClusterD of each. What is not understood is added to `problems`.
DeviceFaults ReadDevices(const json::Value& info, std::vector<std::string>& problems);

// "Ascend910-3,Ascend910-5": chips that are isolated until a person releases them. Names of another
// form are not chips, for the device plugin as for us.
void AddManuallySeparated(std::string_view list, DeviceFaults& devices);

// "a, b,": the names of a list, without spaces and empty ones.
std::vector<std::string> NamesIn(std::string_view list);

// Seconds or, where a component writes them, milliseconds since 1970; nothing for other values.
std::optional<Time> TimeOfSeconds(const json::Value* value);
std::optional<Time> TimeOfMilliseconds(const json::Value* value);

}  // namespace mindgate::watcher::faults
