#include "watcher/faults/public_faults.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "watcher/faults/codes.h"
#include "watcher/faults/device_report.h"

namespace mindgate::watcher::faults {
namespace {

using json::Value;

constexpr size_t kMaxFaults = 100;
constexpr size_t kMaxNodes = 1000;  // of one fault
constexpr size_t kMaxDevices = 32;  // of one node
constexpr size_t kMaxNodeName = 253;

std::optional<PublicFault> OnNode(const Value& influence, std::vector<std::string>& problems) {
  PublicFault fault;
  fault.node = json::FindString(influence, "nodeName").value_or("");
  if (fault.node.empty() || fault.node.size() > kMaxNodeName) {
    problems.emplace_back("an influence has no nodeName; a node is not found by its nodeSN");
    return std::nullopt;
  }
  const Value* devices = json::Find(influence, "deviceIds");
  std::set<int64_t> ids;
  if (json::IsArray(devices)) {
    for (const Value& device : *devices) {
      const int64_t id = json::AsInt(&device).value_or(-1);
      if (id < 0 || id >= static_cast<int64_t>(kMaxDevices)) {
        problems.emplace_back("deviceIds of node " + Quote(fault.node) +
                              " are not numbers from 0 to 31");
        return std::nullopt;
      }
      ids.insert(id);
    }
  }
  if (ids.empty()) {
    problems.emplace_back("node " + Quote(fault.node) + " has no deviceIds");
    return std::nullopt;
  }
  fault.devices.assign(ids.begin(), ids.end());
  return fault;
}

void ReadFault(const Value& value, std::vector<PublicFault>& faults,
               std::vector<std::string>& problems) {
  const std::string assertion(json::FindString(value, "assertion").value_or(""));
  if (assertion == "recover" || assertion == "once") return;
  if (assertion != "occur") {
    problems.push_back("assertion " + Quote(assertion) + " is not occur, recover or once");
    return;
  }
  const std::string code(json::FindString(value, "faultCode").value_or(""));
  const auto known = FindFaultCode(code);
  if (!known || known->source != CodeSource::kPublic) {
    problems.push_back("faultCode " + Quote(code) + " is not one that ClusterD is shipped with");
    return;
  }
  const Value* influence = json::Find(value, "influence");
  if (!json::IsArray(influence)) {
    problems.push_back("the fault " + Quote(code) + " has no influence");
    return;
  }
  size_t count = 0;
  for (const Value& each : *influence) {
    if (++count > kMaxNodes) {
      problems.push_back("the fault " + Quote(code) + " has more than 1000 nodes");
      return;
    }
    auto fault = OnNode(each, problems);
    if (!fault) continue;
    fault->code = known->code;
    fault->level = known->level;
    fault->since = TimeOfMilliseconds(json::Find(value, "faultTime"));
    faults.push_back(*std::move(fault));
  }
}

}  // namespace

std::vector<PublicFault> ReadPublicFaults(const Value& message,
                                          std::vector<std::string>& problems) {
  std::vector<PublicFault> found;
  const Value* faults = json::Find(message, "faults");
  if (!json::IsArray(faults)) {
    problems.emplace_back("there is no list of faults");
    return found;
  }
  size_t count = 0;
  for (const Value& fault : *faults) {
    if (++count > kMaxFaults) {
      problems.emplace_back("it has more than 100 faults; the others do not count");
      break;
    }
    ReadFault(fault, found, problems);
  }
  return found;
}

void AddPublicFault(const PublicFault& fault, std::string_view chip_type, DeviceFaults& devices) {
  const Effect effect = EffectOf({fault.code, CodeSource::kPublic, fault.level});
  for (const int64_t id : fault.devices) {
    std::string chip = std::string(chip_type) + "-" + std::to_string(id);
    if (effect == Effect::kChip) devices.unhealthy.insert(chip);
    if (effect == Effect::kNoNewPods && IsNetworkCode(fault.code)) {
      devices.network_unhealthy.insert(chip);
    }
    devices.faults.push_back({std::move(chip), fault.level, {fault.code}, fault.since});
  }
}

}  // namespace mindgate::watcher::faults
