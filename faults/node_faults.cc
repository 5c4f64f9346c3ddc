#include "faults/node_faults.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/text.h"
#include "json/decode.h"

namespace mindgate::faults {
namespace {

struct LevelInfo {
  std::string_view name;
  std::string_view other_names;  // separated by spaces
  std::string_view meaning;
};

constexpr std::array<LevelInfo, 10> kLevels = {{
    {"NormalNPU", "", "The chip works."},
    {"NotHandleFault", "NotHandle", "The fault is recorded, and nothing else happens."},
    {"SubHealthFault", "SubHealth", "The hardware still works, with less than it should."},
    {"RestartRequest", "", "Inference retries the request, training runs the step again."},
    {"RestartBusiness", "", "The workload on the chip has to be restarted."},
    {"FreeRestartNPU", "", "The chip is reset as soon as no pod uses it."},
    {"RestartNPU", "", "The workload has to be stopped, so that the chip can be reset."},
    {"PreSeparateNPU", "PreSeparateFault PreSeparate",
     "The hardware is to be isolated once nobody uses it."},
    {"SeparateNPU", "SeparateFault Separate SeparateDPU", "The hardware is isolated."},
    {"ManuallySeparateNPU", "", "The chip is isolated until a person releases it."},
}};

const LevelInfo& InfoOf(FaultLevel level) { return kLevels[static_cast<size_t>(level)]; }

}  // namespace

std::optional<FaultLevel> ReadFaultLevel(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto found = std::find_if(kLevels.begin(), kLevels.end(), [&](const LevelInfo& info) {
    if (info.name == text) return true;
    const auto others = Split(info.other_names, ' ');
    return std::find(others.begin(), others.end(), text) != others.end();
  });
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<FaultLevel>(found - kLevels.begin());
}

std::string_view FaultLevelName(FaultLevel level) { return InfoOf(level).name; }
std::string_view FaultLevelMeaning(FaultLevel level) { return InfoOf(level).meaning; }

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

namespace {

using json::Value;

// Year 9999, in seconds: what is later is not a time.
constexpr int64_t kMaxSeconds = 253'402'300'799;

bool IsChipName(std::string_view name) {
  const size_t dash = name.rfind('-');
  return dash != std::string_view::npos && dash > 0 &&
         ParseGoInt(name.substr(dash + 1)).value_or(-1) >= 0;
}

void AddNames(std::string_view list, std::set<std::string, std::less<>>& names) {
  for (std::string& name : NamesIn(list)) names.insert(std::move(name));
}

ChipFault FaultOf(const Value& value, std::vector<std::string>& problems) {
  ChipFault fault;
  fault.chip = json::FindString(value, "npu_name").value_or("");
  fault.codes = NamesIn(json::FindString(value, "fault_code").value_or(""));
  // The three are always the same; which of them a version writes differs.
  for (std::string_view key : {"fault_level", "fault_handling", "large_model_fault_level"}) {
    const auto text = json::FindString(value, key).value_or("");
    if (text.empty()) continue;
    if (const auto level = ReadFaultLevel(text)) {
      fault.level = std::max(fault.level, *level);
    } else {
      problems.push_back(std::string(key) + " " + Quote(text) + " is not a level");
    }
  }
  const Value* times = json::Find(value, "fault_time_and_level_map");
  if (!json::IsObject(times)) return fault;
  for (const auto& [code, entry] : times->members()) {
    const auto time = TimeOfMilliseconds(json::Find(entry, "fault_time"));
    if (time) fault.since = std::min(fault.since.value_or(*time), *time);
  }
  return fault;
}

// JSON inside JSON.
void AddFaults(std::string_view text, DeviceFaults& devices, std::vector<std::string>& problems) {
  if (text.empty()) return;
  const auto document = json::Document::Decode(text);
  if (!document) {
    problems.push_back("the list of faults is not JSON: " + document.error().message);
    return;
  }
  if (!json::IsArray(&document->root())) {
    problems.emplace_back("the list of faults is not a list");
    return;
  }
  for (const Value& value : document->root()) {
    devices.faults.push_back(FaultOf(value, problems));
  }
}

}  // namespace

std::vector<std::string> NamesIn(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view name : Split(list, ',')) {
    if (!Trim(name).empty()) names.emplace_back(Trim(name));
  }
  return names;
}

std::string PhysicalChip(std::string_view name) {
  const std::vector<std::string_view> parts = Split(name, '-');
  if (parts.size() < 4) return std::string(name);
  const size_t end = parts[3].find('_');
  if (end == std::string_view::npos) return std::string(name);
  return std::string(parts[0]) + "-" + std::string(parts[3].substr(0, end));
}

std::set<std::string, std::less<>> PhysicalChips(std::string_view list) {
  std::set<std::string, std::less<>> chips;
  for (const std::string& name : NamesIn(list)) chips.insert(PhysicalChip(name));
  return chips;
}

std::optional<Time> TimeOfSeconds(const Value* value) {
  const auto seconds = json::AsInt(value);
  if (!seconds || *seconds <= 0 || *seconds > kMaxSeconds) return std::nullopt;
  return Time(std::chrono::seconds(*seconds));
}

std::optional<Time> TimeOfMilliseconds(const Value* value) {
  const auto time = json::AsInt(value);
  if (!time || *time <= 0 || *time / 1000 > kMaxSeconds) return std::nullopt;
  return Time(std::chrono::seconds(*time / 1000));
}

DeviceFaults ReadDevices(const Value& info, std::vector<std::string>& problems) {
  DeviceFaults devices;
  devices.updated = TimeOfSeconds(json::Find(info, "UpdateTime"));
  const Value* list = json::Find(info, "DeviceList");
  if (!json::IsObject(list)) {
    problems.emplace_back("there is no DeviceList");
    return devices;
  }
  for (const auto& [key, value] : list->members()) {
    const auto text = json::AsString(&value);
    if (!text) {
      problems.push_back(Quote(key) + " is not a text");
      continue;
    }
    if (const size_t dash = key.rfind('-'); dash != std::string::npos) {
      const size_t begin = key.rfind('/', dash);
      devices.chip_type = key.substr(begin + 1, dash - begin - 1);
    }
    if (key.ends_with("-NetworkUnhealthy")) {
      AddNames(*text, devices.network_unhealthy);
    } else if (key.ends_with("-Unhealthy")) {
      AddNames(*text, devices.unhealthy);
    } else if (key.ends_with("-Recovering")) {
      AddNames(*text, devices.recovering);
    } else if (key.ends_with("-Fault")) {
      AddFaults(*text, devices, problems);
    }
    // The bare key lists free chips, which is not about faults.
  }
  return devices;
}

void AddManuallySeparated(std::string_view list, DeviceFaults& devices) {
  for (std::string& name : NamesIn(list)) {
    if (!IsChipName(name)) continue;
    devices.unhealthy.insert(name);
    const bool listed =
        std::any_of(devices.faults.begin(), devices.faults.end(), [&](const ChipFault& fault) {
          return fault.chip == name && fault.level == FaultLevel::kManuallySeparate;
        });
    if (!listed) {
      devices.faults.push_back({std::move(name), FaultLevel::kManuallySeparate, {}, {}});
    }
  }
}

namespace {

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
