#include "faults/node_faults.h"

#include <algorithm>

namespace mindgate::faults {

bool DeviceFaults::IsSubHealthy(std::string_view chip) const {
  return std::any_of(faults.begin(), faults.end(), [&](const ChipFault& fault) {
    return fault.level == FaultLevel::kSubHealth && (fault.chip.empty() || fault.chip == chip);
  });
}

std::string_view NodeStatusName(NodeStatus status) {
  switch (status) {
    case NodeStatus::kHealthy:
      return "Healthy";
    case NodeStatus::kSubHealthy:
      return "SubHealthy";
    case NodeStatus::kPreSeparate:
      return "PreSeparate";
    case NodeStatus::kUnhealthy:
      return "UnHealthy";
  }
  return "";
}

bool NodeFaults::IsClean() const {
  return devices.unhealthy.empty() && devices.network_unhealthy.empty() &&
         devices.recovering.empty() && devices.faults.empty() &&
         machine.status == NodeStatus::kHealthy && machine.codes.empty() &&
         switches.status == NodeStatus::kHealthy && switches.codes.empty();
}

}  // namespace mindgate::faults
