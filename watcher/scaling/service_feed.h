#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "kube/informer.h"
#include "watcher/frame/pods.h"
#include "watcher/scaling/rule_feed.h"
#include "watcher/scaling/service_index.h"

namespace mindgate::watcher::scaling {

// Follows the pods and the PodGroups under scaling rules, and the rules that they name.
class ServiceFeed {
 public:
  struct Options {
    std::string ns{};  // empty: all namespaces
    // ConfigMaps of these are not scaling rules and change all the time.
    std::vector<std::string> without_rules{};
    std::function<bool()> wanted = [] { return true; };  // whether pods are needed for it now
    // Whether PodGroups are needed now; those of nobody are not followed.
    std::function<bool()> wants_pod_groups = [] { return true; };
    // After each change that concerns a service, in a thread of the feed.
    std::function<void(const ServiceKey&)> changed{};
    std::function<void()> became_current{};  // current() may have become true; likewise
    // Rules cannot be followed now.
    std::function<void(const kube::Fault& fault, std::chrono::milliseconds pause)> failed{};
    // PodGroups cannot be followed now: nothing is known of jobs without pods, or whose pods lack
    // the labels. A cluster that has no such kind is reported once.
    std::function<void(const kube::Fault& fault, std::chrono::milliseconds pause)>
        pod_groups_failed{};
    uint64_t seed = 1;
  };

  // Subscribes to `pods`, which must not run yet. All must outlive it.
  ServiceFeed(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, PodInformer& pods,
              Options options);

  // Until `stop`, in the caller's thread and two of its own; `pods` runs elsewhere.
  void Run(const std::stop_token& stop);

  const ServiceIndex& index() const { return index_; }
  bool synced() const { return pods_.synced() && rules_.synced() && HasAskedForPodGroups(); }
  // Whether what is known of pods and rules is complete and, as far as one can know, new. PodGroups
  // were listed, unless they cannot be. What is known of them may always be old: read one again
  // before anything is taken back for it.
  bool current() const { return pods_.current() && rules_.current() && HasAskedForPodGroups(); }
  // Likewise of the rule of one service; `changed` follows when it is not.
  bool knows_rule_of(const ServiceKey& service) const {
    return rules_.IsKnown({service.ns, service.rule});
  }
  bool WaitSynced(std::chrono::milliseconds longest, const std::stop_token& stop) const {
    return pods_.WaitSynced(longest, stop) && rules_.WaitSynced(longest, stop) &&
           (HasAskedForPodGroups() || pod_groups_.WaitSynced(longest, stop));
  }

 private:
  void Subscribe();
  RuleFeed::Options RuleOptions();
  kube::Informer<PodGroupPtr>::Options PodGroupOptions();
  bool HasAskedForPodGroups() const {
    return pod_groups_.synced() || pod_groups_fail_ || !options_.wants_pod_groups();
  }
  void FollowPodGroups(const std::stop_token& stop);
  template <typename T>
  void Changed(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& after);
  void FollowRulesOf(const ServiceKey* before, const ServiceKey* after) REQUIRES(changes_);
  void Tell(const std::vector<ServiceKey>& concerned) const;

  const Options options_;
  ServiceIndex index_;
  kube::Sleeper& sleeper_;
  PodInformer& pods_;
  PodReader pod_reader_;  // of the thread that follows pods
  RuleFeed rules_;
  // Held while the index and the rules that are followed change together.
  Mutex changes_;
  std::atomic<bool> pod_groups_fail_ = false;    // the last time that they were listed or watched
  std::atomic<bool> pod_groups_absent_ = false;  // the cluster has no such kind
  kube::Informer<PodGroupPtr> pod_groups_;
};

}  // namespace mindgate::watcher::scaling
