#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faults/node_faults.h"
#include "json/value.h"

namespace mindgate::faults {

// A fault of chips that a system outside of MindCluster reports.
struct PublicFault {
  std::string node;                // its name, or KeyOfSerial of what the message says
  std::string id{};                // of the sender and the fault, as ClusterD tells faults apart
  bool recovered = false;          // it is over, and the rest is not known
  std::vector<int64_t> devices{};  // their numbers on the node
  std::string code{};
  FaultLevel level = FaultLevel::kNotHandle;
  std::optional<Time> since{};
  bool operator==(const PublicFault&) const = default;
};

// A ConfigMap with the label mc-consumer-publicfault=true. ClusterD reads those of all namespaces
// and adds them to what it reports of the chips (mind-cluster:
// component/clusterd/pkg/domain/publicfault). Without it the readers here list and watch the
// namespaces of rescheduling.publicFaults, and no other: whoever writes one can have pods deleted.
inline constexpr std::string_view kPublicSelector = "mc-consumer-publicfault=true";
inline constexpr std::string_view kPublicKey = "PublicFault";

// Senders may name a node by the serial number of its server instead (SerialNumberOf in
// watcher/frame/nodes.h). It stands for the name, and no node has such a name.
std::string KeyOfSerial(std::string_view serial);
// Nothing for the name of a node.
std::optional<std::string> SerialOfKey(std::string_view node);

// What occurs and what recovers by the message that stands there now, in its order;
// PublicFaultStore knows what earlier ones said. "once" is over by itself after 5 s, and not a
// state. Bounds are those of upstream. What is not understood is added to `problems`, and is no
// fault.
std::vector<PublicFault> ReadPublicFaults(const json::Value& message,
                                          std::vector<std::string>& problems);

// Adds it, for chips of a type: "Ascend910" makes device 3 "Ascend910-3".
void AddPublicFault(const PublicFault& fault, std::string_view chip_type, DeviceFaults& devices);

}  // namespace mindgate::faults
