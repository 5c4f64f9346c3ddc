#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "kube/informer.h"
#include "kube/reflector.h"
#include "watcher/frame/informers.h"
#include "watcher/frame/workers.h"
#include "watcher/scaling/instances.h"

namespace mindgate::watcher::scaling {

// The ConfigMap of a rule.
struct RuleName {
  std::string ns;
  std::string name;
  friend auto operator<=>(const RuleName&, const RuleName&) = default;
  friend const std::string& NamespaceOf(const RuleName& rule) { return rule.ns; }
};

// Follows the rules that pods name. Of all other ConfigMaps, however large and many, it sees the
// metadata go by and keeps nothing: no selector can distinguish a rule from another ConfigMap, but
// a rule that no pod names decides nothing. A rule is read when pods begin to name it and when its
// metadata changed, by a list of that one name: who may list ConfigMaps needs no further right. One
// that is too large to be a rule is read once in 5 s, however often it changes: whoever may write
// it would keep the reader from the rules of others.
class RuleFeed {
 public:
  struct Options {
    std::string ns{};  // empty: all namespaces
    // No rules are in these, and their ConfigMaps change all the time.
    std::vector<std::string> without{};
    // A rule that is followed was read, whether it changed or not; null: there is no ConfigMap of
    // that name, or it holds no rule. From threads of the feed, one at a time, which must not call
    // the feed.
    std::function<void(const RuleName&, std::shared_ptr<const RuleState>)> read{};
    std::function<void(const kube::Fault& fault, std::chrono::milliseconds pause)> failed{};
    std::function<void()> on_synced{};  // current() has become true
    uint64_t seed = 1;
  };

  // The rest must outlive it.
  RuleFeed(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, Options options);

  // Until `stop`, in the caller's thread and one of its own.
  void Run(const std::stop_token& stop);

  // From any thread. Following what is followed already changes nothing.
  void Follow(const RuleName& rule);
  void Forget(const RuleName& rule);

  // Whether every rule that was followed when Run began has been read.
  bool synced() const;
  bool WaitSynced(std::chrono::milliseconds timeout, const std::stop_token& stop) const;
  // Whether every change is heard of.
  bool current() const { return listed_ && reflector_.following(); }
  // Whether what was read of a rule is the newest, as far as one can know.
  bool IsKnown(const RuleName& rule) const;

 private:
  // What is known of a rule that is followed.
  struct Followed {
    uint64_t change;              // the newest that may concern it; no two have the same number
    uint64_t read = 0;            // the change after which it was read; 0: it never was
    kube::Backoff backoff{0};     // after reads that failed
    Clock::Instant not_before{};  // when it may be read again
  };

  kube::Selection SelectionOf() const;
  kube::Reflector::Handler MakeHandler();
  void Changed(const RuleName& rule);
  void AllChanged();
  void ReadAll(const std::stop_token& stop);
  void Read(const RuleName& rule, const std::stop_token& stop);
  void ReadAgain(const RuleName& rule, const kube::Fault& fault);
  bool MayExist(const RuleName& rule) const;
  void NoteIfSynced() REQUIRES(mutex_);

  kube::Client& client_;
  const Clock& clock_;
  const Options options_;
  const json::Projection fields_;
  WorkQueue<RuleName> queue_;  // to read
  mutable Mutex mutex_;
  mutable ConditionVariable synced_changed_;
  std::map<RuleName, Followed> followed_ GUARDED_BY(mutex_);
  uint64_t changes_ GUARDED_BY(mutex_) = 0;
  size_t never_read_ GUARDED_BY(mutex_) = 0;  // of what is followed
  bool synced_ GUARDED_BY(mutex_) = false;
  std::atomic<bool> listed_ = false;  // set with mutex_ held
  // A list or watch has worked since one failed the last time. The reflector follows a moment after
  // its list, and what the list makes due may be read before.
  std::atomic<bool> hears_ = false;
  kube::Reflector reflector_;
};

// Follows the pods and the PodGroups under scaling rules, and the rules that they name.
class ServiceFeed {
 public:
  struct Options {
    std::string ns{};  // empty: all namespaces
    // ConfigMaps of these are not scaling rules and change all the time.
    std::vector<std::string> without_rules{};
    std::function<bool()> enabled = [] { return true; };  // whether pods are needed for it now
    // Whether PodGroups are needed now; those of nobody are not followed.
    std::function<bool()> wants_pod_groups = [] { return true; };
    // After each change that concerns a service, in a thread of the feed.
    std::function<void(const ServiceKey&)> changed{};
    std::function<void()> on_synced{};  // current() may have become true; likewise
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
  void Notify(const std::vector<ServiceKey>& concerned) const;

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
