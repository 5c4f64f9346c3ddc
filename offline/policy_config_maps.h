#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "admission/policy_files.h"
#include "base/result.h"
#include "json/value.h"
#include "kube/client.h"
#include "kube/reflector.h"

// Policies of a site's own that ConfigMaps of a cluster hold (`policies.configMaps`).
namespace mindgate::offline {

// The ConfigMaps of mindgate's namespace `ns` with the label, and what is read of them.
kube::Selection PolicyConfigMapsIn(const std::string& ns);

// What such ConfigMaps hold: each key that ends in .yaml, .yml or .json is a text, named
// "ConfigMap NS/NAME, key KEY". One thread at a time.
class PolicyConfigMapSet {
 public:
  // What is kept in all. A configuration takes a quarter of it (SitePolicies::kMostBytes), so that
  // one with too much is good again as soon as enough of it was removed.
  static constexpr size_t kMostBytes = size_t{16} * 1024 * 1024;

  // An object of the selection, instead of the one of its name. Of one that is beyond kMostBytes
  // only the fault is kept.
  void Put(const json::Value& object);
  // One of which only the metadata is known, since the rest is too large.
  void PutTooLarge(const json::Value& metadata_only);
  void Remove(const json::Value& object);

  // Whether one is kept without its texts: there may be room for it when others have gone.
  bool is_crowded() const { return crowded_ > 0; }
  // By name and key. The error has all that keeps one of them from being read, a line each.
  Result<admission::PolicyTexts> Texts() const;

 private:
  struct ConfigMap {
    admission::PolicyTexts texts{};
    std::string faults{};  // lines
    size_t bytes = 0;
    bool crowded = false;
  };

  void Insert(std::string name, ConfigMap config_map);
  void Erase(const std::string& name);

  std::map<std::string, ConfigMap> by_name_;
  size_t bytes_ = 0;
  size_t crowded_ = 0;
};

// Those that `ns` has now.
kube::Answer<PolicyConfigMapSet> ListPolicyConfigMaps(kube::Client& client, const std::string& ns);

// Why they cannot be listed, and what to do about it where that is known.
std::string PolicyConfigMapsFault(const std::string& ns, const kube::Fault& fault);

}  // namespace mindgate::offline
