#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulation/cluster.h"
#include "what_if/forecast.h"
#include "what_if/inventory.h"
#include "what_if/survey.h"

namespace mindgate::what_if {

// Puts pods on nodes as the scheduler of `mindgate simulate` does: each on the first node in the
// order of their names that has enough free chips, pods of a gang together or not at all. A chip is
// free when no pod uses it, and no report calls it unhealthy or keeps new pods from it. A node
// takes no new pods when it is not Ready, cordoned, drained, unhealthy or to be separated, or when
// it has a taint that a pod does not tolerate. Processors, memory, affinity and the links between
// chips are not considered.
class Scheduler {
 public:
  struct ClusterState {
    const Inventory& inventory;
    const SurveyedFaults& faults;    // as they are supposed to be
    const SurveyedFaults& reported;  // as the kubelets know them
    const std::set<std::string, std::less<>>& drained;
    const std::vector<bool>& keeps_node;  // by pod: it keeps its chips
  };
  // `state` is read only in calls that take it, but for the inventory, which must outlive the
  // scheduler.
  explicit Scheduler(const ClusterState& state);

  // Reads a node again, when what `state` says of it has changed and nothing is placed.
  void Renew(size_t node, const ClusterState& state);
  // Takes away all that was placed.
  void Clear();

  struct Request {
    std::vector<size_t> pods{};        // of the inventory
    size_t together = 0;               // so many of them, or none
    bool refuses_sub_healthy = false;  // its subHealthyStrategy is not ignore
    bool one_super_pod = false;
    std::optional<size_t> beside{};  // a node with a pod of the gang that stays
  };
  struct Answer {
    std::vector<std::optional<size_t>> nodes{};  // of each pod of the request
    std::optional<Shortage> shortage{};          // of all of them together
  };
  Answer Place(const Request& request);

  // Why a node takes no such pod as it is now: "full", "cordoned", "taint dedicated", "label
  // pool=blue". Empty: it takes it.
  std::string WhyNot(size_t node, const Pod& pod, bool refuses_sub_healthy) const;
  // NPUs of the resource that are free on a node; 0: also where none are offered.
  int64_t Free(size_t node, const std::string& resource) const;
  // Whether there is room for the pod on a node, as it is now.
  bool CouldTake(size_t node, const Pod& pod) const { return WhyNot(node, pod, false).empty(); }
  // Fills in why nodes take no such pod, as they are now.
  void Explain(const Pod& pod, bool refuses_sub_healthy, Shortage& shortage) const;

  // Chips for a pod that was placed, the lowest that are free; each is given once.
  std::set<std::string> TakeChips(size_t node, const Pod& pod);

 private:
  const std::vector<size_t>& NotToleratedBy(const Pod& pod);
  simulation::PodNeeds NeedsOf(const Pod& pod, const Request& request);
  std::optional<size_t> PlaceWithoutNpus(const simulation::PodNeeds& needs) const;
  std::vector<std::optional<size_t>> PlaceAll(const std::vector<size_t>& pods,
                                              const Request& request,
                                              std::optional<Shortage>& shortage);
  void Release(const std::vector<size_t>& pods);

  const Inventory& inventory_;
  std::vector<std::string_view> closed_;  // by node: why it takes no new pods; empty: it does
  std::set<size_t> sub_healthy_;
  std::vector<size_t> tainted_;
  // Nodes that pods with these tolerations do not tolerate.
  std::map<std::vector<Toleration>, std::vector<size_t>> not_tolerated_;
  std::map<std::string, simulation::Cluster> clusters_;             // by resource
  std::vector<std::map<std::string, std::set<std::string>>> free_;  // by node and resource
  std::vector<size_t> placed_;                                      // pods that need NPUs
};

// What becomes of each pod of a cluster before anything is placed, and the room that this leaves.
// One board serves one question after the other: each decides again only about what it concerns,
// and puts that back.
class Board {
 public:
  // Nothing is decided yet, and nothing is placed. `ground` must outlive it.
  explicit Board(const InitialState& initial);

  const std::vector<PodLoss>& losses() const { return losses_; }  // by pod
  size_t others() const { return others_; }                       // Forecast::others
  Scheduler& scheduler() { return scheduler_; }
  // Nodes that were read again for the last decision: their room may be another one.
  const std::set<size_t>& renewed() const { return renewed_; }

  // Decides about `pods` as DecideLosses does, and takes away what was placed. `nodes` are those
  // whose faults or drains differ from those of the decision before.
  std::set<GroupName> Decide(const Situation& situation, std::span<const size_t> pods,
                             std::span<const size_t> nodes);

  // For putting back: what Decide changes of these pods.
  std::vector<PodLoss> Save(std::span<const size_t> pods) const;
  void Restore(const Situation& situation, std::span<const size_t> pods, std::vector<PodLoss> saved,
               std::span<const size_t> nodes);

 private:
  // Reads the nodes again, and those on which one of the pods keeps_node no longer, or again.
  void RenewNodes(const Situation& situation, std::span<const size_t> pods,
                  std::span<const size_t> nodes);

  const InitialState& initial_;
  std::vector<PodLoss> losses_;
  std::vector<bool> stays_;  // as losses_ says
  size_t others_ = 0;
  std::set<size_t> renewed_;
  Scheduler scheduler_;
};

}  // namespace mindgate::what_if
