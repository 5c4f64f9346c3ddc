#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "faults/node_faults.h"
#include "json/value.h"

namespace mindgate::faults {

// {"DeviceList": {...}, "UpdateTime": seconds}: what the device plugin writes of one node, and
// ClusterD of each. What is not understood is added to `problems`.
DeviceFaults ReadDevices(const json::Value& info, std::vector<std::string>& problems);

// "Ascend910-3,Ascend910-5": chips that are isolated until a person releases them. Names of another
// form are not chips, for the device plugin as for us.
void AddManuallySeparated(std::string_view list, DeviceFaults& devices);

// "a, b,": the names of a list, without spaces and empty ones.
std::vector<std::string> NamesIn(std::string_view list);

// The physical chip of a name in huawei.com/AscendReal: of a virtual NPU the one that it is a part
// of, as reports name no other ("Ascend310P-1" of "Ascend310P-1c-400-1_0": type, template, cores,
// chip and its part; mind-cluster: component/ascend-for-volcano/plugin/device_info.go,
// GetPhysicCardNameFromVChip). Names of another form are left as they are.
std::string PhysicalChip(std::string_view name);
// Those of such a list. Two parts of one chip are one.
std::set<std::string, std::less<>> PhysicalChips(std::string_view list);

// Seconds or, where a component writes them, milliseconds since 1970; nothing for other values.
std::optional<Time> TimeOfSeconds(const json::Value* value);
std::optional<Time> TimeOfMilliseconds(const json::Value* value);

}  // namespace mindgate::faults
