#include "watcher/simulation/fault_text.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/decode.h"

namespace mindgate::watcher::simulation {
namespace {

using json::Json;

std::string ChipNames(const std::set<int64_t>& chips) {
  std::vector<std::string> names;
  for (const int64_t chip : chips) names.push_back(ChipName(chip));
  return Join(names, ",");
}

Json FaultEntry(int64_t chip, const char* type, const char* level) {
  return {{"fault_type", type},       {"npu_name", ChipName(chip)},
          {"fault_level", level},     {"fault_handling", level},
          {"fault_code", "80E18005"}, {"large_model_fault_level", level}};
}

void AddReport(const std::string& config_map, const Json& nodes, faults::FaultsByNode& faults) {
  const Json object = {{"metadata", {{"namespace", "mindx-dl"}, {"name", config_map}}},
                       {"data", {{config_map, nodes.dump()}}}};
  const json::Document document(object);
  if (const auto report = faults::ReadReport(document.root())) faults::Merge(*report, faults);
}

}  // namespace

std::string ChipName(int64_t chip) { return "Ascend910-" + std::to_string(chip); }

// A public fault that separates a chip puts it into the list of the unhealthy ones, beside an entry
// of its own type (mind-cluster: component/clusterd/pkg/application/faultmanager).
faults::FaultsByNode Reported(const ReportFaults& report) {
  std::set<int64_t> unhealthy(report.unhealthy.begin(), report.unhealthy.end());
  unhealthy.insert(report.separated.begin(), report.separated.end());
  const std::set<int64_t> network(report.network_unhealthy.begin(), report.network_unhealthy.end());
  Json entries = Json::array();
  for (const int64_t chip : report.unhealthy) {
    entries.push_back(FaultEntry(chip, "CardUnhealthy", "SeparateNPU"));
  }
  for (const int64_t chip : report.separated) {
    entries.push_back(FaultEntry(chip, "PublicFault", "SeparateNPU"));
  }
  for (const int64_t chip : report.network_unhealthy) {
    entries.push_back(FaultEntry(chip, "CardNetworkUnhealthy", "PreSeparateNPU"));
  }
  for (const int64_t chip : report.sub_healthy) {
    entries.push_back(FaultEntry(chip, "CardUnhealthy", "SubHealthFault"));
  }
  faults::FaultsByNode faults;
  AddReport("cluster-info-device-0",
            {{"mindx-dl-deviceinfo-" + report.name,
              {{"DeviceList",
                {{"huawei.com/Ascend910", ""},
                 {"huawei.com/Ascend910-Unhealthy", ChipNames(unhealthy)},
                 {"huawei.com/Ascend910-NetworkUnhealthy", ChipNames(network)},
                 {"huawei.com/Ascend910-Recovering", ""},
                 {"huawei.com/Ascend910-Fault", entries.dump()}}},
               {"UpdateTime", 1767225600}}}},
            faults);
  if (report.switches != "Healthy") {
    AddReport("cluster-info-switch-0",
              {{"mindx-dl-switchinfo-" + report.name,
                {{"FaultInfo", Json::array()},
                 {"FaultLevel", ""},
                 {"UpdateTime", 1767225600},
                 {"NodeStatus", report.switches}}}},
              faults);
  }
  // NodeD writes only while something is wrong.
  if (report.machine != "Healthy") {
    AddReport("cluster-info-node-cm",
              {{"mindx-dl-nodeinfo-" + report.name,
                {{"FaultDevList", Json::array()}, {"NodeStatus", report.machine}}}},
              faults);
  }
  std::erase_if(faults, [](const auto& entry) { return entry.second.IsClean(); });
  return faults;
}

}  // namespace mindgate::watcher::simulation
