#include "watcher/rescheduling/classification.h"

#include <algorithm>

namespace mindgate::watcher::rescheduling {
namespace {

bool IsSubHealthy(const Task& task, const faults::NodeFaults* node) {
  if (task.fault_type == "SubHealth") return true;
  if (node == nullptr) return false;
  if (node->switches.status == faults::NodeStatus::kSubHealthy) return true;
  return std::any_of(task.chips.begin(), task.chips.end(),
                     [&](const std::string& chip) { return node->devices.IsSubHealthy(chip); });
}

}  // namespace

bool AnyHasChips(const std::vector<Task>& tasks) {
  return std::any_of(tasks.begin(), tasks.end(),
                     [](const Task& task) { return !task.chips.empty(); });
}

std::string_view FaultTypeName(FaultType type) {
  switch (type) {
    case FaultType::kHealthy:
      return "Healthy";
    case FaultType::kNodeUnhealthy:
      return "NodeUnhealthy";
    case FaultType::kCardUnhealthy:
      return "CardUnhealthy";
    case FaultType::kPodFailed:
      return "pod-failed";
    case FaultType::kRelationFault:
      return "RelationFault";
    case FaultType::kSubHealthFault:
      return "SubHealthFault";
  }
  return "";
}

FaultType Classify(const Task& task, const FaultPolicy& policy, const Hardware& hardware) {
  if (task.node.empty()) return FaultType::kHealthy;
  const auto found = hardware.nodes.find(task.node);
  const faults::NodeFaults* node = found == hardware.nodes.end() ? nullptr : &found->second;
  if (node != nullptr) {
    if (node->IsUnhealthy()) return FaultType::kNodeUnhealthy;
    const bool chip = std::any_of(
        task.chips.begin(), task.chips.end(),
        [&](const std::string& each) { return node->devices.unhealthy.contains(each); });
    if (chip) return FaultType::kCardUnhealthy;
  }
  if (hardware.not_ready.contains(task.node)) return FaultType::kNodeUnhealthy;
  if (task.failed && policy.retries != 0) return FaultType::kPodFailed;
  if (task.fault_type == "Separate") return FaultType::kRelationFault;
  if (policy.sub_healthy == SubHealthyStrategy::kIgnore || !IsSubHealthy(task, node)) {
    return FaultType::kHealthy;
  }
  const bool switches = policy.sub_healthy == SubHealthyStrategy::kHotSwitch;
  return switches && !task.may_be_switched ? FaultType::kHealthy : FaultType::kSubHealthFault;
}

FaultType ReasonOf(const std::vector<FaultType>& types) {
  FaultType reason = FaultType::kHealthy;
  const auto weight = [](FaultType type) {
    switch (type) {
      case FaultType::kHealthy:
        return 0;
      case FaultType::kPodFailed:
        return 1;
      case FaultType::kSubHealthFault:
        return 2;
      default:
        return 3;
    }
  };
  for (const FaultType type : types) {
    if (weight(type) > weight(reason)) reason = type;
  }
  return reason;
}

}  // namespace mindgate::watcher::rescheduling
