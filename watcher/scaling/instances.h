#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/small_optional.h"
#include "kube/event_book.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/pod.h"
#include "watcher/scaling/pod_group.h"

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

}  // namespace mindgate::watcher::scaling
