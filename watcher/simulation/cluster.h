#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "watcher/simulation/scenario.h"

namespace mindgate::watcher::simulation {

// Nodes, their NPUs, and the pods on them. A pod takes the lowest NPUs of its node that work and
// are free. Owners are instances, named by a number of the caller's.
class Cluster {
 public:
  explicit Cluster(const std::vector<NodeSpec>& nodes);

  // Puts all pods of an instance on nodes, or none: each on the first node that has room. Returns
  // the node of each pod, in ascending order.
  std::optional<std::vector<size_t>> Place(size_t owner, int64_t pods, int64_t npus_per_pod);

  // How many pods of that size would find room, at most `most`.
  int64_t Room(int64_t npus_per_pod, int64_t most) const;

  // Takes the instance's pods away, if it has any.
  void Release(size_t owner);

  // Each returns the instances that had a pod on what broke, in ascending order; the caller
  // releases them.
  std::vector<size_t> BreakNode(size_t node);
  // The lowest NPUs that work break, at most `count`.
  std::vector<size_t> BreakCards(size_t node, int64_t count);

  void RepairNode(size_t node);
  void RepairCards(size_t node, int64_t count);  // likewise the lowest

  bool IsBroken(size_t node) const { return nodes_[node].broken; }
  int64_t WorkingCards(size_t node) const;

  // Changes whenever room may have come: what found none before need not try again until then.
  uint64_t freed() const { return freed_; }

 private:
  struct Card {
    std::optional<size_t> owner;
    bool broken = false;
  };
  struct Node {
    std::vector<Card> cards;
    int64_t free = 0;  // work and have no owner
    bool broken = false;
  };

  std::vector<Node> nodes_;
  std::map<size_t, std::vector<size_t>> placed_;  // by owner: the node of each pod
  uint64_t freed_ = 0;
};

}  // namespace mindgate::watcher::simulation
