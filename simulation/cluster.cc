#include "simulation/cluster.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

namespace mindgate::simulation {
namespace {

constexpr size_t kBitsOfWord = 64;

}  // namespace

const Labels::value_type* UnmetLabel(const Labels& selector, const Labels& labels) {
  for (const auto& label : selector) {
    const auto found = labels.find(label.first);
    if (found == labels.end() || found->second != label.second) return &label;
  }
  return nullptr;
}

Cluster::Cluster(const std::vector<NodeSpec>& nodes) {
  std::set<std::string> known;
  for (auto& row : with_free_) row.resize((nodes.size() + kBitsOfWord - 1) / kBitsOfWord);
  for (const NodeSpec& spec : nodes) {
    Node& node = nodes_.emplace_back();
    node.labels = spec.labels;
    node.super_pod = spec.super_pod;
    node.cards.resize(static_cast<size_t>(spec.npus));
    CountFree(nodes_.size() - 1);
    if (!spec.super_pod.empty() && known.insert(spec.super_pod).second) {
      super_pods_.push_back(spec.super_pod);
    }
  }
}

void Cluster::CountFree(size_t node) {
  const auto& cards = nodes_[node].cards;
  const int64_t free = std::count_if(cards.begin(), cards.end(),
                                     [](const Card& card) { return card.works() && !card.pod; });
  nodes_[node].free = free;
  const uint64_t bit = uint64_t{1} << (node % kBitsOfWord);
  for (size_t row = 0; row < kRows; ++row) {
    uint64_t& word = with_free_[row][node / kBitsOfWord];
    word = static_cast<int64_t>(row) < free ? word | bit : word & ~bit;
  }
}

size_t Cluster::NextWithFree(size_t from, int64_t npus) const {
  if (npus == 0) return from;
  const auto& row =
      with_free_[static_cast<size_t>(std::clamp<int64_t>(npus, 1, static_cast<int64_t>(kRows))) -
                 1];
  for (size_t i = from / kBitsOfWord; i < row.size(); ++i) {
    const uint64_t word =
        i == from / kBitsOfWord ? row[i] >> (from % kBitsOfWord) << (from % kBitsOfWord) : row[i];
    if (word != 0) return i * kBitsOfWord + static_cast<size_t>(std::countr_zero(word));
  }
  return nodes_.size();
}

int64_t Cluster::Fits(const Node& node, const PodNeeds& needs) const {
  if (!node.usable() || node.closed || node.free < needs.npus) return 0;
  if (UnmetLabel(needs.node_selector, node.labels) != nullptr) return 0;
  return needs.npus == 0 ? std::numeric_limits<int64_t>::max() : node.free / needs.npus;
}

// Pods that are placed together are all alike, so filling node after node finds room whenever there
// is.
std::vector<size_t> Cluster::Choose(size_t pods, const PodNeeds& needs,
                                    const std::string* super_pod) const {
  std::vector<size_t> chosen;
  for (size_t i = NextWithFree(0, needs.npus); i < nodes_.size() && chosen.size() < pods;
       i = NextWithFree(i + 1, needs.npus)) {
    if (super_pod != nullptr && nodes_[i].super_pod != *super_pod) continue;
    const auto fit = std::min(static_cast<size_t>(Fits(nodes_[i], needs)), pods - chosen.size());
    if (fit == 0 || std::binary_search(needs.not_on.begin(), needs.not_on.end(), i)) continue;
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
      if (!card.works() || card.pod) continue;
      card.pod = pods[i];
      --missing;
    }
    CountFree(chosen[i]);
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
    if (card.pod == pod) card.pod.reset();
  }
  CountFree(placed->second);
  placed_.erase(placed);
  ++freed_;
}

std::vector<int64_t> Cluster::CardsOf(size_t pod) const {
  std::vector<int64_t> numbers;
  const auto placed = placed_.find(pod);
  if (placed == placed_.end()) return numbers;
  const auto& cards = nodes_[placed->second].cards;
  for (size_t i = 0; i < cards.size(); ++i) {
    if (cards[i].pod == pod) numbers.push_back(static_cast<int64_t>(i));
  }
  return numbers;
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
    if (card.pod) pods.insert(*card.pod);
  }
  CountFree(node);
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
  }
  CountFree(node);
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

void Cluster::SetIsolated(size_t node, bool isolated) {
  nodes_[node].isolated = isolated;
  if (!isolated) ++freed_;
}

void Cluster::SetReported(size_t node, bool closed, const std::set<int64_t>& cards) {
  nodes_[node].closed = closed;
  for (size_t i = 0; i < nodes_[node].cards.size(); ++i) {
    nodes_[node].cards[i].reported = cards.contains(static_cast<int64_t>(i));
  }
  CountFree(node);
  ++freed_;
}

void Cluster::SetNpus(size_t node, int64_t count) {
  nodes_[node].cards.assign(static_cast<size_t>(count), Card());
  CountFree(node);
  ++freed_;
}

}  // namespace mindgate::simulation
