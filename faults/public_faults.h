#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "faults/node_faults.h"
#include "json/value.h"

namespace mindgate::faults {

// A fault of chips that a system outside of MindCluster reports.
struct PublicFault {
  std::string node;                // its name, or KeyOfSerial of what the message says
  std::string id{};                // of the sender and the fault, as ClusterD distinguishes faults
  bool recovered = false;          // it is over, and the rest is not known
  std::vector<int64_t> devices{};  // their numbers on the node
  std::string code{};
  FaultLevel level = FaultLevel::kNotHandle;
  std::optional<Time> since{};
  bool operator==(const PublicFault&) const = default;
};

// A ConfigMap with the label mc-consumer-publicfault=true. ClusterD reads those of all namespaces
// and adds them to what it reports of the chips (mind-cluster:
// component/clusterd/pkg/domain/publicfault). Without it the readers here list and watch the
// namespaces of rescheduling.publicFaults, and no other: whoever writes one can have pods deleted.
inline constexpr std::string_view kPublicSelector = "mc-consumer-publicfault=true";
inline constexpr std::string_view kPublicKey = "PublicFault";

// Senders may name a node by the serial number of its server instead (SerialNumberOf in
// watcher/frame/informers.h). It stands for the name, and no node has such a name.
std::string KeyOfSerial(std::string_view serial);
// Nothing for the name of a node.
std::optional<std::string> SerialOfKey(std::string_view node);

// What occurs and what recovers by the message that stands there now, in its order;
// PublicFaultStore knows what earlier ones said. "once" is over by itself after 5 s, and not a
// state. Bounds are those of upstream. What is not understood is added to `problems`, and is no
// fault.
std::vector<PublicFault> ReadPublicFaults(const json::Value& message,
                                          std::vector<std::string>& problems);

// Adds it, for chips of a type: "Ascend910" makes device 3 "Ascend910-3".
void AddPublicFault(const PublicFault& fault, std::string_view chip_type, DeviceFaults& devices);

// Public faults that messages reported and none has ended, as ClusterD keeps them: by node and id.
// A message that takes the place of another one reports its own faults only; the first message
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
  std::set<std::string> Put(const std::string& config_map,
                            const std::vector<PublicFault>& reported);
  // It is gone.
  std::set<std::string> Forget(const std::string& config_map);
  // Of what messages said that others have replaced since: nobody watched, and may have missed that
  // it recovered.
  std::set<std::string> ForgetReplaced();

  // Those of a node, by id.
  std::vector<PublicFault> Of(const std::string& node) const;
  // The ConfigMaps that reported them.
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
    std::map<std::string, bool> config_maps;  // that reported it; whether what they say now does
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
