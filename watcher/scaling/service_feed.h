#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/informer.h"
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
    // After each change that concerns a service, in a thread of the feed.
    std::function<void(const ServiceKey&)> changed{};
    // What cannot be followed now ("pods"), and when it is tried again.
    std::function<void(const char* what, const kube::Fault& fault, std::chrono::milliseconds pause)>
        failed{};
    uint64_t seed = 1;
  };

  // The rest must outlive it.
  ServiceFeed(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, Options options);

  // Until `stop`, with three threads of its own.
  void Run(const std::stop_token& stop);

  const ServiceIndex& index() const { return index_; }
  bool synced() const { return pods_.synced() && rules_.synced(); }
  // Whether what is known is complete and, as far as one can know, new.
  bool current() const { return pods_.current() && rules_.current(); }
  // Likewise of the rule of one service; `changed` follows when it is not.
  bool knows_rule_of(const ServiceKey& service) const {
    return rules_.IsKnown({service.ns, service.rule});
  }
  // Pods of which no more than the metadata is known, as they are larger than an object may be.
  size_t left_out() const { return pods_.left_out(); }
  bool WaitSynced(std::chrono::milliseconds longest, const std::stop_token& stop) const {
    return pods_.WaitSynced(longest, stop) && rules_.WaitSynced(longest, stop);
  }

 private:
  kube::Informer<PodPtr>::Options PodOptions();
  RuleFeed::Options RuleOptions();
  void PodChanged(const PodPtr& before, const PodPtr& after);
  void Tell(const std::vector<ServiceKey>& concerned) const;

  const Options options_;
  ServiceIndex index_;
  kube::Informer<PodPtr> pods_;
  RuleFeed rules_;
};

}  // namespace mindgate::watcher::scaling
