#include "faults/public_faults.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "faults/codes.h"
#include "faults/device_report.h"
#include "kube/understood.h"

namespace mindgate::faults {
namespace {

using json::Value;

constexpr size_t kMaxFaults = 100;
constexpr size_t kMaxNodes = 1000;  // of one fault
constexpr size_t kMaxDevices = 32;  // of one node

constexpr size_t kMinId = 8;
constexpr size_t kMaxId = 128;
constexpr size_t kMaxSender = 128;
constexpr size_t kMaxSerial = 128;

bool IsId(std::string_view id) {
  return id.size() >= kMinId && id.size() <= kMaxId &&
         std::all_of(id.begin(), id.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

// Of the node that it names; empty when it names none.
std::string NodeOf(const Value& influence) {
  std::string name(json::FindString(influence, "nodeName").value_or(""));
  if (!name.empty()) return !kube::IsName(name) || name[0] == ' ' ? "" : name;
  const auto serial = json::FindString(influence, "nodeSN").value_or("");
  return serial.empty() || serial.size() > kMaxSerial ? "" : KeyOfSerial(serial);
}

// As people know it.
std::string Shown(const std::string& node) {
  const auto serial = SerialOfKey(node);
  return serial ? "with the nodeSN " + Quote(*serial) : Quote(node);
}

std::optional<std::vector<int64_t>> DevicesOf(const Value& influence, const std::string& node,
                                              std::vector<std::string>& problems) {
  const Value* devices = json::Find(influence, "deviceIds");
  std::set<int64_t> ids;
  if (json::IsArray(devices)) {
    for (const Value& device : *devices) {
      const int64_t id = json::AsInt(&device).value_or(-1);
      if (id < 0 || id >= static_cast<int64_t>(kMaxDevices)) {
        problems.push_back("deviceIds of node " + Shown(node) + " are not numbers from 0 to 31");
        return std::nullopt;
      }
      ids.insert(id);
    }
  }
  if (ids.empty()) {
    problems.push_back("node " + Shown(node) + " has no deviceIds");
    return std::nullopt;
  }
  return std::vector<int64_t>(ids.begin(), ids.end());
}

// What is true of each node that it influences; nothing when it is not understood.
std::optional<PublicFault> ReadState(const Value& value, const std::string& sender,
                                     std::vector<std::string>& problems) {
  const std::string assertion(json::FindString(value, "assertion").value_or(""));
  if (assertion == "once") return std::nullopt;
  if (assertion != "occur" && assertion != "recover") {
    problems.push_back("assertion " + Quote(assertion) + " is not occur, recover or once");
    return std::nullopt;
  }
  PublicFault fault;
  const auto id = json::FindString(value, "faultId").value_or("");
  if (!IsId(id)) {
    problems.push_back("faultId " + Quote(id) +
                       " is not 8 to 128 letters, digits and characters of -_.");
    return std::nullopt;
  }
  fault.id = sender + "/" + std::string(id);
  fault.recovered = assertion == "recover";
  if (fault.recovered) return fault;
  const std::string code(json::FindString(value, "faultCode").value_or(""));
  const FaultTable& table = FaultTable::Shipped();
  const FaultCode* known = table.Find(code, CodeSource::kPublic);
  if (known == nullptr) {
    problems.push_back("faultCode " + Quote(code) + " is not one that ClusterD of MindCluster " +
                       std::string(table.release()) + " is shipped with");
    return std::nullopt;
  }
  fault.code = known->code;
  fault.level = known->level;
  fault.since = TimeOfMilliseconds(json::Find(value, "faultTime"));
  return fault;
}

void ReadFault(const Value& value, const std::string& sender, std::vector<PublicFault>& faults,
               std::vector<std::string>& problems) {
  const auto state = ReadState(value, sender, problems);
  if (!state) return;
  const Value* influence = json::Find(value, "influence");
  if (!json::IsArray(influence)) {
    problems.push_back("the fault " + Quote(state->id) + " has no influence");
    return;
  }
  size_t count = 0;
  for (const Value& each : *influence) {
    if (++count > kMaxNodes) {
      problems.push_back("the fault " + Quote(state->id) + " has more than 1000 nodes");
      return;
    }
    PublicFault fault = *state;
    fault.node = NodeOf(each);
    if (fault.node.empty()) {
      problems.push_back("an influence of the fault " + Quote(state->id) +
                         " names no node; write nodeName, or nodeSN");
      continue;
    }
    if (!fault.recovered) {
      auto devices = DevicesOf(each, fault.node, problems);
      if (!devices) continue;
      fault.devices = *std::move(devices);
    }
    faults.push_back(std::move(fault));
  }
}

}  // namespace

std::string KeyOfSerial(std::string_view serial) { return " " + std::string(serial); }

std::optional<std::string> SerialOfKey(std::string_view node) {
  if (!node.starts_with(' ')) return std::nullopt;
  return std::string(node.substr(1));
}

std::vector<PublicFault> ReadPublicFaults(const Value& message,
                                          std::vector<std::string>& problems) {
  std::vector<PublicFault> found;
  const std::string sender(json::FindString(message, "resource").value_or(""));
  if (sender.size() > kMaxSender) {
    problems.emplace_back("resource has more than 128 characters");
    return found;
  }
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
    ReadFault(fault, sender, found, problems);
  }
  return found;
}

void AddPublicFault(const PublicFault& fault, std::string_view chip_type, DeviceFaults& devices) {
  const Effect effect = EffectOf(fault.code, CodeSource::kPublic, fault.level);
  for (const int64_t id : fault.devices) {
    std::string chip = std::string(chip_type) + "-" + std::to_string(id);
    if (effect == Effect::kChip) devices.unhealthy.insert(chip);
    if (effect != Effect::kNone && IsNetworkCode(fault.code)) {
      devices.network_unhealthy.insert(chip);
    }
    devices.faults.push_back({std::move(chip), fault.level, {fault.code}, fault.since});
  }
}

}  // namespace mindgate::faults
