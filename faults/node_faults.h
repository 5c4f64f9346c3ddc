#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/value.h"

namespace mindgate::faults {

// How bad MindCluster takes a fault to be; each is worse than those before it (mind-cluster:
// component/ascend-device-plugin/pkg/common).
enum class FaultLevel : uint8_t {
  kNormal,
  kNotHandle,
  kSubHealth,
  kRestartRequest,
  kRestartBusiness,
  kFreeRestart,
  kRestart,
  kPreSeparate,
  kSeparate,
  kManuallySeparate,
};

// Every spelling that a component writes: "SeparateNPU" of chips, "SeparateFault" of NodeD,
// "Separate" of switches. Nothing for other texts.
std::optional<FaultLevel> ReadFaultLevel(std::string_view text);

std::string_view FaultLevelName(FaultLevel level);     // as chips spell it: "SeparateNPU"
std::string_view FaultLevelMeaning(FaultLevel level);  // a sentence

// A fault of a chip, or of all chips of a node.
struct ChipFault {
  std::string chip;  // "Ascend910-3"; empty: of all
  FaultLevel level = FaultLevel::kNotHandle;
  std::vector<std::string> codes;  // as written; may be empty
  std::optional<Time> since{};     // when the first of them was raised
  bool operator==(const ChipFault&) const = default;
};

// What the device plugin, or ClusterD for it, says of the chips of a node.
struct DeviceFaults {
  std::set<std::string, std::less<>> unhealthy{};          // pods that use them are faulty
  std::set<std::string, std::less<>> network_unhealthy{};  // no new pods, and nothing else
  std::set<std::string, std::less<>> recovering{};         // being reset
  std::vector<ChipFault> faults{};
  std::string chip_type{};  // "Ascend910", as the keys name it
  std::optional<Time> updated{};
  bool operator==(const DeviceFaults&) const = default;

  // Whether the chip has a fault that subHealthyStrategy is asked about.
  bool IsSubHealthy(std::string_view chip) const;
};

// As NodeD and switches report a node.
enum class NodeStatus : uint8_t { kHealthy, kSubHealthy, kPreSeparate, kUnhealthy };
std::string_view NodeStatusName(NodeStatus status);

// What NodeD says of the machine, or the device plugin of its switches. Without a ConfigMap the
// machine is healthy: NodeD writes one only while something is wrong.
struct HardwareFaults {
  NodeStatus status = NodeStatus::kHealthy;
  std::vector<std::string> codes{};
  std::optional<Time> since{};
  std::optional<Time> updated{};
  bool operator==(const HardwareFaults&) const = default;
};

struct NodeFaults {
  DeviceFaults devices{};
  HardwareFaults machine{};
  HardwareFaults switches{};
  bool operator==(const NodeFaults&) const = default;

  // Whether all pods of the node are faulty.
  bool IsUnhealthy() const {
    return machine.status == NodeStatus::kUnhealthy || switches.status == NodeStatus::kUnhealthy;
  }
  // Whether it takes pods away: all of them, or those of a chip.
  bool TakesPods() const { return IsUnhealthy() || !devices.unhealthy.empty(); }
  // Whether there is anything to report.
  bool IsClean() const;
};

using FaultsByNode = std::map<std::string, NodeFaults, std::less<>>;

// {"FaultDevList": [...], "NodeStatus": "UnHealthy"}: what NodeD writes of its machine, and
// ClusterD of each. What is not understood is added to `problems`.
HardwareFaults ReadMachine(const json::Value& info, std::vector<std::string>& problems);

// The same of the switches of a node: the device plugin writes FaultCode, a list of texts that are
// JSON themselves, and ClusterD FaultInfo, a list of objects.
HardwareFaults ReadSwitches(const json::Value& info, std::vector<std::string>& problems);

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
