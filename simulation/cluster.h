#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "simulation/scenario.h"

namespace mindgate::simulation {

// What pods ask of nodes.
struct PodNeeds {
  int64_t npus = 0;
  Labels node_selector{};
  bool one_super_pod = false;    // all that are placed together, and with `beside`
  std::vector<size_t> not_on{};  // nodes that are out of the question, in ascending order
  auto operator<=>(const PodNeeds&) const = default;
};

// The first label of a node selector that `labels` lack; null: they have them all.
const Labels::value_type* UnmetLabel(const Labels& selector, const Labels& labels);

// Nodes, their NPUs, and the pods on them. A pod takes the lowest NPUs of its node that work and
// are free. Pods are named by numbers of the caller's.
class Cluster {
 public:
  explicit Cluster(const std::vector<NodeSpec>& nodes);

  // Puts all of the pods on nodes, or none: each on the first node that has room. Returns the node
  // of each, in ascending order. `beside`: a node in whose super pod others of them are.
  std::optional<std::vector<size_t>> Place(std::span<const size_t> pods, const PodNeeds& needs,
                                           std::optional<size_t> beside = std::nullopt);

  // How many such pods would find room, at most `most`.
  int64_t Room(const PodNeeds& needs, int64_t most) const;

  // Takes the pod away, if it is on a node.
  void Release(size_t pod);

  // Each returns the pods on what broke, in ascending order; the caller releases them.
  std::vector<size_t> BreakNode(size_t node);
  // The lowest NPUs that work break, at most `count`.
  std::vector<size_t> BreakCards(size_t node, int64_t count);
  void RepairNode(size_t node);
  void RepairCards(size_t node, int64_t count);  // likewise the lowest
  int64_t WorkingCards(size_t node) const;
  // Those that have NPUs of it.
  std::vector<size_t> PodsOn(size_t node) const;
  // The NPUs of a pod, in ascending order.
  std::vector<int64_t> CardsOf(size_t pod) const;

  // Pods come to nodes that are ready, not cordoned, not isolated and not broken.
  void SetReady(size_t node, bool ready);
  void SetCordoned(size_t node, bool cordoned);
  void SetIsolated(size_t node, bool isolated);
  // What is reported of it: whether the node gets no pods, and which NPUs get none.
  void SetReported(size_t node, bool closed, const std::set<int64_t>& cards);
  bool IsIsolated(size_t node) const { return nodes_[node].isolated; }
  bool IsBroken(size_t node) const { return nodes_[node].broken; }
  bool IsReady(size_t node) const { return nodes_[node].ready; }
  // By its Node, whatever is reported.
  bool IsUsable(size_t node) const { return nodes_[node].usable(); }

  int64_t Free(size_t node) const { return nodes_[node].free; }
  // So many NPUs that work, of a node on which no pods are.
  void SetNpus(size_t node, int64_t count);

  // Changes whenever room may have come: what found none before need not try again until then.
  uint64_t freed() const { return freed_; }

 private:
  struct Card {
    std::optional<size_t> pod;
    bool broken = false;
    bool reported = false;  // as one that is to get no pods
    bool works() const { return !broken && !reported; }
  };
  struct Node {
    Labels labels;
    std::string super_pod;
    std::vector<Card> cards;
    int64_t free = 0;  // work and have no pod
    bool broken = false;
    bool cordoned = false;
    bool isolated = false;
    bool closed = false;  // by a report
    bool ready = true;
    bool usable() const { return !broken && !cordoned && !isolated && ready; }
  };

  int64_t Fits(const Node& node, const PodNeeds& needs) const;
  void CountFree(size_t node);
  // The first node from `from` on with so many free NPUs, or more nodes than there are.
  size_t NextWithFree(size_t from, int64_t npus) const;
  // Nodes for so many pods, all in `super_pod` unless it is null; fewer nodes than pods: no room.
  std::vector<size_t> Choose(size_t pods, const PodNeeds& needs,
                             const std::string* super_pod) const;

  std::vector<Node> nodes_;
  // Most nodes of a busy cluster are full, and are passed over 64 at a time: the bit of a node is
  // set in the row of each count of NPUs, from 1, that it has free.
  static constexpr size_t kRows = 16;
  std::array<std::vector<uint64_t>, kRows> with_free_;
  std::vector<std::string> super_pods_;  // in the order of their first nodes
  std::map<size_t, size_t> placed_;      // the node of each pod
  uint64_t freed_ = 0;
};

}  // namespace mindgate::simulation
