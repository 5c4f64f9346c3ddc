#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/compact.h"
#include "base/threads.h"
#include "kube/events.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/pod.h"

namespace mindgate::watcher::scaling {

// An instance and what its verdicts are carried out on. Pods that are going are left out.
struct ObservedInstance {
  Instance instance;
  kube::ObjectReference regarding;
  std::vector<const PodState*> pods;         // by name; of the pods given to Observe
  const PodGroupState* pod_group = nullptr;  // of one that is known by it, which has no pods here

  std::set<std::string> uids() const;  // of its pods
};

// When a watcher first saw something of a pod or a PodGroup, by its own clock: what the pods say of
// time is by the API server's, and of a gated pod that it is not scheduled since it was made.
struct Seen {
  Time ungated{};                       // without our gate
  SmallOptional<Time> unschedulable{};  // and without room
  bool came_ungated = false;            // it was so when it was first seen, and not the watcher
  // Of a PodGroup: pods with the labels of the rule were there until a moment ago.
  bool had_pods = false;
};

// By UID, in one row: there may be 100,000 pods. The UIDs are those of the pods and PodGroups, and
// keep these in memory until what was seen of a service is noted again, as it is after each change.
class SeenByUid {
 public:
  struct Entry {
    std::shared_ptr<const std::string> uid;  // never null
    Seen seen;
  };

  SeenByUid() = default;
  // In any order; of one UID the first counts.
  explicit SeenByUid(std::vector<Entry> entries);

  // Null: it was not seen.
  const Seen* Find(std::string_view uid) const;

 private:
  std::vector<Entry> entries_;  // by UID
};

// The UID of a pod or PodGroup, which stays as long as it.
template <typename T>
std::shared_ptr<const std::string> UidOf(const std::shared_ptr<const T>& object) {
  return {object, &object->uid};
}

// The instances that the pods of one service make, by name. One is granted when one of its pods has
// no gate of ours any more: so what was granted is known from the pods alone, whoever granted it.
// One runs when as many of its pods run as its owner says that it has, else as the rule says
// (server_num_per_group), else all; what waits beside them does not matter. A PodGroup makes one
// where no pods with the labels of the rule are: it is queued, or its pods lack the labels and it
// counts by the phase of the PodGroup, as upstream counts all. `rule` and `seen` may be null; times
// are the pods' own without `seen`.
std::vector<ObservedInstance> Observe(std::span<const PodPtr> pods,
                                      const schemas::ScalingRule* rule, const SeenByUid* seen,
                                      std::span<const PodGroupPtr> pod_groups = {});

// The rule in a ConfigMap, or why it cannot be used.
struct RuleState {
  std::optional<schemas::ScalingRule> rule;
  std::string why_not;
};

RuleState RuleOf(const json::Value& config_map);
RuleState RuleMissing(const ServiceKey& service);
RuleState PodUnreadable(const PodState& pod);  // nothing can be decided about its service

// The pods of each service and the rules, as the informers report them. Safe from many threads.
class ServiceIndex {
 public:
  struct View {
    std::vector<PodPtr> pods;  // by name
    RuleState rule;
    // By name, without those that run with pods whose own labels name another service.
    std::vector<PodGroupPtr> pod_groups{};
    bool empty() const { return pods.empty() && pod_groups.empty(); }
  };

  // A pod before and after a change; null: it did not exist before, or no longer exists. Returns
  // the services that this concerns.
  std::vector<ServiceKey> Changed(const PodPtr& before, const PodPtr& after);
  // Likewise of a PodGroup.
  std::vector<ServiceKey> Changed(const PodGroupPtr& before, const PodGroupPtr& after);
  // Null: the ConfigMap is not there, or holds no rule.
  std::vector<ServiceKey> RuleChanged(const std::string& ns, const std::string& name,
                                      std::shared_ptr<const RuleState> rule);

  // Whether a pod or a PodGroup names that rule.
  bool NamesRule(const std::string& ns, const std::string& name) const;

  View Find(const ServiceKey& service) const;
  std::vector<ServiceKey> services() const;

 private:
  using RuleKey = std::pair<std::string, std::string>;  // namespace and name

  template <typename T>
  using ByService = std::map<ServiceKey, std::vector<std::shared_ptr<const T>>>;  // by name

  template <typename T>
  static std::vector<ServiceKey> Change(ByService<T>& all, const std::shared_ptr<const T>& before,
                                        const std::shared_ptr<const T>& after);

  using JobName = std::pair<std::string, std::string>;  // namespace and PodState::instance

  // Other services that have a PodGroup of the pod's job.
  void AddServicesOfItsJob(const PodState& pod, std::vector<ServiceKey>& concerned) const
      REQUIRES(mutex_);
  void LeaveOutJobsOfOthers(const ServiceKey& service, View& view) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  ByService<PodState> pods_ GUARDED_BY(mutex_);
  ByService<PodGroupState> pod_groups_ GUARDED_BY(mutex_);
  std::map<JobName, std::set<ServiceKey>> services_of_jobs_ GUARDED_BY(mutex_);  // by PodGroups
  std::map<RuleKey, std::shared_ptr<const RuleState>> rules_ GUARDED_BY(mutex_);
};

// Whether what it has is on a node where others may be placed. So is that of one whose pods name no
// NPUs.
bool LeavesRoom(const Instance& instance, const std::set<std::string, std::less<>>& unusable_nodes);

// Which of `surplus`, the ones that are missed least first, go for `beneficiary`: one that leaves
// room for all of its pods that have no node, else as few as do together. What else is free is not
// known: where all of them together leave too little, the one goes that leaves room for most of the
// pods, and none where that is for no pod. NPUs on unusable nodes are no room. An instance whose
// pods name no NPUs fits anywhere.
std::vector<const Instance*> FewestThatFit(
    const std::vector<const Instance*>& surplus, const Instance& beneficiary,
    const std::set<std::string, std::less<>>& unusable_nodes);

}  // namespace mindgate::watcher::scaling
