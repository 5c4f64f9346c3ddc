#include "faults/public_fault_store.h"

#include <utility>

namespace mindgate::faults {
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
    const auto teller = entry.config_maps.find(config_map);
    if (teller != entry.config_maps.end()) {
      teller->second = true;
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

// Whether nobody tells of it any more.
bool PublicFaultStore::RemoveSource(const std::string& config_map, const Key& key) {
  Entry& entry = by_node_.at(key.node).at(key.id);
  ReleaseBytes(entry.fault);
  entry.config_maps.erase(config_map);
  if (!entry.config_maps.empty()) return false;
  Erase(key);
  return true;
}

// Whoever told of it.
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
                                            const std::vector<PublicFault>& told) {
  std::set<std::string> changed;
  if (const auto before = of_config_map_.find(config_map); before != of_config_map_.end()) {
    for (const Key& key : before->second) {
      by_node_.at(key.node).at(key.id).config_maps[config_map] = false;
    }
  }
  for (const PublicFault& fault : told) {
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
    for (const auto& [config_map, says] : entry.config_maps) names.insert(config_map);
  }
  return names;
}

std::set<std::string> PublicFaultStore::nodes() const {
  std::set<std::string> names;
  for (const auto& [node, faults] : by_node_) names.insert(node);
  return names;
}

}  // namespace mindgate::faults
