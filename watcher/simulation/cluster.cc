#include "watcher/simulation/cluster.h"

#include <algorithm>
#include <set>

namespace mindgate::watcher::simulation {

Cluster::Cluster(const std::vector<NodeSpec>& nodes) {
  for (const NodeSpec& spec : nodes) {
    nodes_.push_back({std::vector<Card>(static_cast<size_t>(spec.npus)), spec.npus, false});
  }
}

std::optional<std::vector<size_t>> Cluster::Place(size_t owner, int64_t pods,
                                                  int64_t npus_per_pod) {
  // Pods of one instance are all alike, so filling node after node finds room whenever there is.
  std::vector<size_t> chosen;
  for (size_t i = 0; i < nodes_.size() && std::ssize(chosen) < pods; ++i) {
    if (nodes_[i].broken) continue;
    const int64_t fit = std::min(nodes_[i].free / npus_per_pod, pods - std::ssize(chosen));
    chosen.insert(chosen.end(), static_cast<size_t>(fit), i);
  }
  if (std::ssize(chosen) < pods) return std::nullopt;
  for (const size_t i : chosen) {
    int64_t missing = npus_per_pod;
    for (Card& card : nodes_[i].cards) {
      if (missing == 0) break;
      if (card.broken || card.owner) continue;
      card.owner = owner;
      --missing;
    }
    nodes_[i].free -= npus_per_pod;
  }
  placed_[owner] = chosen;
  return chosen;
}

int64_t Cluster::Room(int64_t npus_per_pod, int64_t most) const {
  int64_t room = 0;
  for (const Node& node : nodes_) {
    if (!node.broken) room += node.free / npus_per_pod;
    if (room >= most) return most;
  }
  return room;
}

void Cluster::Release(size_t owner) {
  const auto placed = placed_.find(owner);
  if (placed == placed_.end()) return;
  for (const size_t i : std::set(placed->second.begin(), placed->second.end())) {
    for (Card& card : nodes_[i].cards) {
      if (card.owner != owner) continue;
      card.owner.reset();
      if (!card.broken) ++nodes_[i].free;
    }
  }
  placed_.erase(placed);
  ++freed_;
}

std::vector<size_t> Cluster::BreakNode(size_t node) {
  nodes_[node].broken = true;
  std::set<size_t> owners;
  for (const Card& card : nodes_[node].cards) {
    if (card.owner) owners.insert(*card.owner);
  }
  return {owners.begin(), owners.end()};
}

std::vector<size_t> Cluster::BreakCards(size_t node, int64_t count) {
  std::set<size_t> owners;
  for (Card& card : nodes_[node].cards) {
    if (count == 0) break;
    if (card.broken) continue;
    card.broken = true;
    --count;
    if (card.owner) {
      owners.insert(*card.owner);
    } else {
      --nodes_[node].free;
    }
  }
  return {owners.begin(), owners.end()};
}

void Cluster::RepairNode(size_t node) {
  nodes_[node].broken = false;
  ++freed_;
}

void Cluster::RepairCards(size_t node, int64_t count) {
  for (Card& card : nodes_[node].cards) {
    if (count == 0) break;
    if (!card.broken) continue;
    card.broken = false;
    --count;
    if (!card.owner) ++nodes_[node].free;
  }
  ++freed_;
}

int64_t Cluster::WorkingCards(size_t node) const {
  const auto& cards = nodes_[node].cards;
  return std::count_if(cards.begin(), cards.end(), [](const Card& card) { return !card.broken; });
}

}  // namespace mindgate::watcher::simulation
