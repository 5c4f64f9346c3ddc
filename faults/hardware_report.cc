#include <algorithm>
#include <utility>

#include "base/text.h"
#include "faults/device_report.h"
#include "faults/node_faults.h"
#include "json/decode.h"

namespace mindgate::faults {
namespace {

using json::Value;

// NodeD and switches spell it "UnHealthy", others "Unhealthy"; none is Healthy.
NodeStatus StatusOf(const Value& info, std::vector<std::string>& problems) {
  const std::string text(json::FindString(info, "NodeStatus").value_or(""));
  constexpr std::pair<std::string_view, NodeStatus> kStatuses[] = {
      {"", NodeStatus::kHealthy},
      {"Healthy", NodeStatus::kHealthy},
      {"SubHealthy", NodeStatus::kSubHealthy},
      {"PreSeparate", NodeStatus::kPreSeparate},
      {"UnHealthy", NodeStatus::kUnhealthy},
      {"Unhealthy", NodeStatus::kUnhealthy},
  };
  for (const auto& [name, status] : kStatuses) {
    if (text == name) return status;
  }
  problems.push_back("NodeStatus " + Quote(text) + " is not a status; it counts as Healthy");
  return NodeStatus::kHealthy;
}

void AddCode(std::string_view code, HardwareFaults& faults) {
  if (!code.empty()) faults.codes.emplace_back(code);
}

void AddTime(std::optional<Time> time, HardwareFaults& faults) {
  if (time) faults.since = std::min(faults.since.value_or(*time), *time);
}

void AddSwitchFault(const Value& fault, HardwareFaults& faults) {
  AddCode(json::FindString(fault, "AssembledFaultCode").value_or(""), faults);
  AddTime(TimeOfMilliseconds(json::Find(fault, "AlarmRaisedTime")), faults);
}

}  // namespace

HardwareFaults ReadMachine(const Value& info, std::vector<std::string>& problems) {
  HardwareFaults faults;
  faults.status = StatusOf(info, problems);
  faults.updated = TimeOfMilliseconds(json::Find(info, "UpdateTime"));
  const Value* devices = json::Find(info, "FaultDevList");
  if (!json::IsArray(devices)) return faults;
  for (const Value& device : *devices) {
    const Value* codes = json::Find(device, "FaultCode");
    if (!json::IsArray(codes)) continue;
    for (const Value& code : *codes) AddCode(json::AsString(&code).value_or(""), faults);
  }
  return faults;
}

HardwareFaults ReadSwitches(const Value& info, std::vector<std::string>& problems) {
  HardwareFaults faults;
  faults.status = StatusOf(info, problems);
  faults.updated = TimeOfSeconds(json::Find(info, "UpdateTime"));
  const Value* of_cluster = json::Find(info, "FaultInfo");
  if (json::IsArray(of_cluster)) {
    for (const Value& fault : *of_cluster) AddSwitchFault(fault, faults);
  }
  const Value* of_plugin = json::Find(info, "FaultCode");
  if (!json::IsArray(of_plugin)) return faults;
  for (const Value& text : *of_plugin) {
    const auto fault = json::Document::Decode(json::AsString(&text).value_or(""));
    if (!fault) {
      problems.push_back("an element of FaultCode is not JSON: " + fault.error().message);
      continue;
    }
    AddSwitchFault(fault->root(), faults);
  }
  return faults;
}

}  // namespace mindgate::faults
