#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "faults/public_faults.h"

namespace mindgate::faults {

// Public faults that messages told of and none has ended, as ClusterD keeps them: by node and id. A
// message that takes the place of another one speaks of its own faults only; the first message
// about a fault counts until one says that it recovered (mind-cluster:
// component/clusterd/pkg/application/publicfault, fault_collector.go). ClusterD also keeps them
// when the ConfigMap is deleted, and writes them down. This is memory only, and ends with the
// ConfigMap: what nobody can look up, a person must be able to end. Not safe from many threads.
class PublicFaultStore {
 public:
  // Of all nodes and ConfigMaps together; ClusterD keeps as many. More do not count.
  static constexpr size_t kMaxFaults = 50'000;
  static constexpr size_t kMaxBytes = 16UL * 1024 * 1024;

  // What a ConfigMap says now, in the order of the message. Returns the nodes of which something
  // else is known, as PublicFault names them.
  std::set<std::string> Put(const std::string& config_map, const std::vector<PublicFault>& told);
  // It is gone.
  std::set<std::string> Forget(const std::string& config_map);
  // Of what messages said that others have replaced since: nobody watched, and may have missed that
  // it recovered.
  std::set<std::string> ForgetReplaced();

  // Those of a node, by id.
  std::vector<PublicFault> Of(const std::string& node) const;
  // The ConfigMaps that told of them.
  std::set<std::string> ConfigMapsOf(const std::string& node) const;
  // All that have one.
  std::set<std::string> nodes() const;

  size_t faults() const { return faults_; }
  size_t bytes() const { return bytes_; }
  // How many did not count, as there were too many.
  size_t left_out() const { return left_out_; }

 private:
  struct Entry {
    PublicFault fault;
    std::map<std::string, bool> config_maps;  // that told of it; whether what they say now does
  };
  struct Key {
    std::string node;
    std::string id;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  static size_t SizeOf(const PublicFault& fault);
  bool Charge(const PublicFault& fault);
  void ReleaseBytes(const PublicFault& fault);
  bool Add(const std::string& config_map, const PublicFault& fault);
  bool Recover(const Key& key);
  bool RemoveSource(const std::string& config_map, const Key& key);
  void Erase(const Key& key);

  std::map<std::string, std::map<std::string, Entry>> by_node_;  // and id
  std::map<std::string, std::set<Key>> of_config_map_;
  size_t faults_ = 0;
  size_t bytes_ = 0;
  size_t left_out_ = 0;
};

}  // namespace mindgate::faults
