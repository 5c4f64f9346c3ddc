#include "simulation/cluster.h"

#include <algorithm>
#include <set>

namespace mindgate::simulation {

Cluster::Cluster(const std::vector<NodeSpec>& nodes) {
  std::set<std::string> known;
  for (const NodeSpec& spec : nodes) {
    Node& node = nodes_.emplace_back();
    node.labels = spec.labels;
    node.super_pod = spec.super_pod;
    node.cards.resize(static_cast<size_t>(spec.npus));
    node.free = spec.npus;
    if (!spec.super_pod.empty() && known.insert(spec.super_pod).second) {
      super_pods_.push_back(spec.super_pod);
    }
  }
}

int64_t Cluster::Fits(const Node& node, const PodNeeds& needs) const {
  if (!node.usable() || node.free < needs.npus) return 0;
  const bool selected =
      std::all_of(needs.node_selector.begin(), needs.node_selector.end(), [&](const auto& label) {
        const auto found = node.labels.find(label.first);
        return found != node.labels.end() && found->second == label.second;
      });
  return selected ? node.free / needs.npus : 0;
}

// Pods that are placed together are all alike, so filling node after node finds room whenever there
// is.
std::vector<size_t> Cluster::Choose(size_t pods, const PodNeeds& needs,
                                    const std::string* super_pod) const {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < nodes_.size() && chosen.size() < pods; ++i) {
    if (super_pod != nullptr && nodes_[i].super_pod != *super_pod) continue;
    if (std::binary_search(needs.not_on.begin(), needs.not_on.end(), i)) continue;
    const auto fit = std::min(static_cast<size_t>(Fits(nodes_[i], needs)), pods - chosen.size());
    chosen.insert(chosen.end(), fit, i);
  }
  return chosen;
}

std::optional<std::vector<size_t>> Cluster::Place(std::span<const size_t> pods,
                                                  const PodNeeds& needs,
                                                  std::optional<size_t> beside) {
  std::vector<size_t> chosen;
  if (!needs.one_super_pod) {
    chosen = Choose(pods.size(), needs, nullptr);
  } else if (beside) {
    chosen = Choose(pods.size(), needs, &nodes_[*beside].super_pod);
  } else {
    for (const std::string& super_pod : super_pods_) {
      chosen = Choose(pods.size(), needs, &super_pod);
      if (chosen.size() == pods.size()) break;
    }
  }
  if (chosen.size() < pods.size()) return std::nullopt;
  for (size_t i = 0; i < pods.size(); ++i) {
    Node& node = nodes_[chosen[i]];
    int64_t missing = needs.npus;
    for (Card& card : node.cards) {
      if (missing == 0) break;
      if (card.broken || card.pod) continue;
      card.pod = pods[i];
      --missing;
    }
    node.free -= needs.npus;
    placed_[pods[i]] = chosen[i];
  }
  return chosen;
}

int64_t Cluster::Room(const PodNeeds& needs, int64_t most) const {
  if (!needs.one_super_pod) {
    return std::ssize(Choose(static_cast<size_t>(most), needs, nullptr));
  }
  int64_t room = 0;
  for (const std::string& super_pod : super_pods_) {
    room = std::max(room, std::ssize(Choose(static_cast<size_t>(most), needs, &super_pod)));
  }
  return room;
}

void Cluster::Release(size_t pod) {
  const auto placed = placed_.find(pod);
  if (placed == placed_.end()) return;
  Node& node = nodes_[placed->second];
  for (Card& card : node.cards) {
    if (card.pod != pod) continue;
    card.pod.reset();
    if (!card.broken) ++node.free;
  }
  placed_.erase(placed);
  ++freed_;
}

std::vector<size_t> Cluster::PodsOn(size_t node) const {
  std::set<size_t> pods;
  for (const Card& card : nodes_[node].cards) {
    if (card.pod) pods.insert(*card.pod);
  }
  return {pods.begin(), pods.end()};
}

std::vector<size_t> Cluster::BreakNode(size_t node) {
  nodes_[node].broken = true;
  return PodsOn(node);
}

std::vector<size_t> Cluster::BreakCards(size_t node, int64_t count) {
  std::set<size_t> pods;
  for (Card& card : nodes_[node].cards) {
    if (count == 0) break;
    if (card.broken) continue;
    card.broken = true;
    --count;
    if (card.pod) {
      pods.insert(*card.pod);
    } else {
      --nodes_[node].free;
    }
  }
  return {pods.begin(), pods.end()};
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
    if (!card.pod) ++nodes_[node].free;
  }
  ++freed_;
}

int64_t Cluster::WorkingCards(size_t node) const {
  const auto& cards = nodes_[node].cards;
  return std::count_if(cards.begin(), cards.end(), [](const Card& card) { return !card.broken; });
}

void Cluster::SetReady(size_t node, bool ready) {
  nodes_[node].ready = ready;
  if (ready) ++freed_;
}

void Cluster::SetCordoned(size_t node, bool cordoned) {
  nodes_[node].cordoned = cordoned;
  if (!cordoned) ++freed_;
}

}  // namespace mindgate::simulation
