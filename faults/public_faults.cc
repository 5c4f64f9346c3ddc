#include "faults/public_faults.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "faults/codes.h"
#include "faults/node_faults.h"
#include "kube/answers.h"

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

namespace {

// Of the maps that an entry is in, and of a name of a ConfigMap in each.
constexpr size_t kEntryBytes = 640;

}  // namespace

size_t PublicFaultStore::SizeOf(const PublicFault& fault) {
  return kEntryBytes + 2 * (fault.node.size() + fault.id.size()) + fault.code.size() +
         fault.devices.size() * sizeof(int64_t);
}

// Whether there is room for one more.
bool PublicFaultStore::Charge(const PublicFault& fault) {
  const size_t size = SizeOf(fault);
  if (faults_ == kMaxFaults || bytes_ + size > kMaxBytes) {
    ++left_out_;
    return false;
  }
  ++faults_;
  bytes_ += size;
  return true;
}

void PublicFaultStore::ReleaseBytes(const PublicFault& fault) {
  --faults_;
  bytes_ -= SizeOf(fault);
}

// Whether something is known that was not.
bool PublicFaultStore::Add(const std::string& config_map, const PublicFault& fault) {
  const auto on_node = by_node_.find(fault.node);
  const bool known = on_node != by_node_.end() && on_node->second.contains(fault.id);
  if (known) {
    Entry& entry = on_node->second.at(fault.id);
    const auto source = entry.config_maps.find(config_map);
    if (source != entry.config_maps.end()) {
      source->second = true;
      return false;
    }
    if (!Charge(entry.fault)) return false;
    entry.config_maps.emplace(config_map, true);
  } else {
    if (!Charge(fault)) return false;
    by_node_[fault.node].emplace(fault.id, Entry{fault, {{config_map, true}}});
  }
  of_config_map_[config_map].insert({fault.node, fault.id});
  return !known;
}

void PublicFaultStore::Erase(const Key& key) {
  const auto on_node = by_node_.find(key.node);
  on_node->second.erase(key.id);
  if (on_node->second.empty()) by_node_.erase(on_node);
}

// Whether nobody reports it any more.
bool PublicFaultStore::RemoveSource(const std::string& config_map, const Key& key) {
  Entry& entry = by_node_.at(key.node).at(key.id);
  ReleaseBytes(entry.fault);
  entry.config_maps.erase(config_map);
  if (!entry.config_maps.empty()) return false;
  Erase(key);
  return true;
}

// Whoever reported it.
bool PublicFaultStore::Recover(const Key& key) {
  const auto on_node = by_node_.find(key.node);
  if (on_node == by_node_.end() || !on_node->second.contains(key.id)) return false;
  const Entry& entry = on_node->second.at(key.id);
  for (const auto& [config_map, now] : entry.config_maps) {
    ReleaseBytes(entry.fault);
    const auto keys = of_config_map_.find(config_map);
    keys->second.erase(key);
    if (keys->second.empty()) of_config_map_.erase(keys);
  }
  Erase(key);
  return true;
}

std::set<std::string> PublicFaultStore::Put(const std::string& config_map,
                                            const std::vector<PublicFault>& reported) {
  std::set<std::string> changed;
  if (const auto before = of_config_map_.find(config_map); before != of_config_map_.end()) {
    for (const Key& key : before->second) {
      by_node_.at(key.node).at(key.id).config_maps[config_map] = false;
    }
  }
  for (const PublicFault& fault : reported) {
    const bool news = fault.recovered ? Recover({fault.node, fault.id}) : Add(config_map, fault);
    if (news) changed.insert(fault.node);
  }
  return changed;
}

std::set<std::string> PublicFaultStore::Forget(const std::string& config_map) {
  std::set<std::string> changed;
  const auto found = of_config_map_.find(config_map);
  if (found == of_config_map_.end()) return changed;
  for (const Key& key : found->second) {
    if (RemoveSource(config_map, key)) changed.insert(key.node);
  }
  of_config_map_.erase(found);
  return changed;
}

std::set<std::string> PublicFaultStore::ForgetReplaced() {
  std::set<std::string> changed;
  for (auto of = of_config_map_.begin(); of != of_config_map_.end();) {
    for (auto key = of->second.begin(); key != of->second.end();) {
      if (by_node_.at(key->node).at(key->id).config_maps.at(of->first)) {
        ++key;
        continue;
      }
      if (RemoveSource(of->first, *key)) changed.insert(key->node);
      key = of->second.erase(key);
    }
    of = of->second.empty() ? of_config_map_.erase(of) : std::next(of);
  }
  return changed;
}

std::vector<PublicFault> PublicFaultStore::Of(const std::string& node) const {
  std::vector<PublicFault> faults;
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return faults;
  for (const auto& [id, entry] : found->second) faults.push_back(entry.fault);
  return faults;
}

std::set<std::string> PublicFaultStore::ConfigMapsOf(const std::string& node) const {
  std::set<std::string> names;
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return names;
  for (const auto& [id, entry] : found->second) {
    for (const auto& [config_map, names_it] : entry.config_maps) names.insert(config_map);
  }
  return names;
}

std::set<std::string> PublicFaultStore::nodes() const {
  std::set<std::string> names;
  for (const auto& [node, faults] : by_node_) names.insert(node);
  return names;
}

}  // namespace mindgate::faults
