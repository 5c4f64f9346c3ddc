#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "watcher/frame/pods.h"
#include "watcher/scaling/rule_feed.h"
#include "watcher/scaling/service_index.h"

namespace mindgate::watcher::scaling {

// Follows the pods under scaling rules, and the rules that they name.
class ServiceFeed {
 public:
  struct Options {
    std::string ns{};  // empty: all namespaces
    // ConfigMaps of these are not scaling rules and change all the time.
    std::vector<std::string> without_rules{};
    std::function<bool()> wanted = [] { return true; };  // whether pods are needed for it now
    // After each change that concerns a service, in a thread of the feed.
    std::function<void(const ServiceKey&)> changed{};
    std::function<void()> became_current{};  // current() may have become true; likewise
    // Rules cannot be followed now.
    std::function<void(const kube::Fault& fault, std::chrono::milliseconds pause)> failed{};
    uint64_t seed = 1;
  };

  // Subscribes to `pods`, which must not run yet. All must outlive it.
  ServiceFeed(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, PodInformer& pods,
              Options options);

  // Until `stop`, in the caller's thread and one of its own; `pods` runs elsewhere.
  void Run(const std::stop_token& stop);

  const ServiceIndex& index() const { return index_; }
  bool synced() const { return pods_.synced() && rules_.synced(); }
  // Whether what is known is complete and, as far as one can know, new.
  bool current() const { return pods_.current() && rules_.current(); }
  // Likewise of the rule of one service; `changed` follows when it is not.
  bool knows_rule_of(const ServiceKey& service) const {
    return rules_.IsKnown({service.ns, service.rule});
  }
  bool WaitSynced(std::chrono::milliseconds longest, const std::stop_token& stop) const {
    return pods_.WaitSynced(longest, stop) && rules_.WaitSynced(longest, stop);
  }

 private:
  void Subscribe();
  RuleFeed::Options RuleOptions();
  void PodChanged(const PodPtr& before, const PodPtr& after);
  void Tell(const std::vector<ServiceKey>& concerned) const;

  const Options options_;
  ServiceIndex index_;
  PodInformer& pods_;
  RuleFeed rules_;
};

}  // namespace mindgate::watcher::scaling
