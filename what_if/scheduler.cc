#include "what_if/scheduler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace mindgate::what_if {
namespace {

using faults::FaultLevel;
using faults::NodeFaults;
using faults::NodeStatus;

const NodeFaults* FaultsOf(const SurveyedFaults& faults, const std::string& node) {
  const auto found = faults.nodes.find(node);
  return found == faults.nodes.end() ? nullptr : &found->second;
}

// Empty: it takes new pods.
std::string_view WhyClosed(const Node& node, const Scheduler::ClusterState& state) {
  if (node.closed) return "cordoned";
  if (state.drained.contains(node.name)) return "drained";
  if (state.faults.not_ready.contains(node.name)) return "not Ready";
  const NodeFaults* faulty = FaultsOf(state.faults, node.name);
  if (faulty == nullptr) return "";
  const NodeStatus status = std::max(faulty->machine.status, faulty->switches.status);
  return status < NodeStatus::kPreSeparate ? "" : "faulty";
}

bool IsSubHealthyNode(const NodeFaults* node) {
  if (node == nullptr) return false;
  return node->switches.status == NodeStatus::kSubHealthy ||
         std::any_of(
             node->devices.faults.begin(), node->devices.faults.end(),
             [](const faults::ChipFault& fault) { return fault.level == FaultLevel::kSubHealth; });
}

bool IsClosed(const NodeFaults* node, const std::string& chip) {
  if (node == nullptr) return false;
  const faults::DeviceFaults& devices = node->devices;
  return devices.unhealthy.contains(chip) || devices.network_unhealthy.contains(chip) ||
         devices.recovering.contains(chip) ||
         std::any_of(devices.faults.begin(), devices.faults.end(),
                     [&](const faults::ChipFault& fault) {
                       return fault.level >= FaultLevel::kPreSeparate &&
                              (fault.chip.empty() || fault.chip == chip);
                     });
}

// What the pods that stay on a node use.
struct Use {
  std::map<std::string, std::set<std::string>> chips{};  // by resource
  std::map<std::string, int64_t> asked{};                // likewise
  std::map<std::string, int64_t> unnamed{};  // chips of pods that do not say which they use
};

Use UseOf(size_t node, const Scheduler::ClusterState& state) {
  Use use;
  for (const size_t i : state.inventory.pods_on[node]) {
    const Pod& pod = state.inventory.pods[i];
    if (!state.keeps_node[i] || pod.npus == 0) continue;
    use.asked[pod.resource] += pod.npus;
    use.chips[pod.resource].insert(pod.chips.begin(), pod.chips.end());
    if (pod.chips.empty()) use.unnamed[pod.resource] += pod.npus;
  }
  return use;
}

std::set<std::string> ResourcesOf(const Node& node) {
  std::set<std::string> resources;
  for (const auto& [resource, chips] : node.chips) resources.insert(resource);
  for (const auto& [resource, count] : node.allocatable) resources.insert(resource);
  return resources;
}

// Tolerations of which it is remembered which nodes they leave out: each may leave out all.
constexpr size_t kMaxRemembered = 64;

}  // namespace

Scheduler::Scheduler(const ClusterState& state)
    : inventory_(state.inventory),
      closed_(inventory_.nodes.size()),
      free_(inventory_.nodes.size()) {
  std::set<std::string> resources;
  std::vector<simulation::NodeSpec> specs;
  for (size_t i = 0; i < inventory_.nodes.size(); ++i) {
    const Node& node = inventory_.nodes[i];
    resources.merge(ResourcesOf(node));
    specs.push_back({node.name, 0, node.labels, node.super_pod});
    if (!node.taints.empty()) tainted_.push_back(i);
  }
  for (const std::string& resource : resources) clusters_.try_emplace(resource, specs);
  for (size_t i = 0; i < inventory_.nodes.size(); ++i) Renew(i, state);
}

void Scheduler::Renew(size_t i, const ClusterState& state) {
  const Node& node = inventory_.nodes[i];
  const NodeFaults* faulty = FaultsOf(state.faults, node.name);
  const NodeFaults* before = FaultsOf(state.reported, node.name);
  closed_[i] = WhyClosed(node, state);
  if (IsSubHealthyNode(faulty)) {
    sub_healthy_.insert(i);
  } else {
    sub_healthy_.erase(i);
  }
  Use use = UseOf(i, state);
  free_[i].clear();
  for (const std::string& resource : ResourcesOf(node)) {
    std::set<std::string>& free = free_[i][resource];
    int64_t lost = 0;  // what the kubelet does not know of yet
    const auto chips = node.chips.find(resource);
    if (chips != node.chips.end()) {
      for (const std::string& chip : chips->second) {
        if (IsClosed(faulty, chip)) {
          const bool now = faulty->devices.unhealthy.contains(chip);
          const bool known = before != nullptr && before->devices.unhealthy.contains(chip);
          lost += now && !known ? 1 : 0;
        } else if (!use.chips[resource].contains(chip)) {
          free.insert(chip);
        }
      }
    }
    int64_t count = std::ssize(free) - use.unnamed[resource];
    if (const auto offered = node.allocatable.find(resource); offered != node.allocatable.end()) {
      const int64_t left = offered->second - lost - use.asked[resource];
      count = chips == node.chips.end() ? left : std::min(count, left);
    }
    clusters_.at(resource).SetNpus(i, std::max<int64_t>(count, 0));
  }
  for (auto& [resource, cluster] : clusters_) cluster.SetCordoned(i, !closed_[i].empty());
}

void Scheduler::Clear() {
  Release(placed_);
  placed_.clear();
}

const std::vector<size_t>& Scheduler::NotToleratedBy(const Pod& pod) {
  const auto known = not_tolerated_.find(pod.tolerations);
  if (known != not_tolerated_.end()) return known->second;
  if (not_tolerated_.size() >= kMaxRemembered) not_tolerated_.clear();
  std::vector<size_t>& nodes = not_tolerated_[pod.tolerations];
  for (const size_t node : tainted_) {
    if (!Tolerates(pod.tolerations, inventory_.nodes[node].taints)) nodes.push_back(node);
  }
  return nodes;
}

simulation::PodNeeds Scheduler::NeedsOf(const Pod& pod, const Request& request) {
  simulation::PodNeeds needs{pod.npus, pod.node_selector, request.one_super_pod && pod.npus > 0};
  const std::vector<size_t>& not_tolerated = NotToleratedBy(pod);
  if (request.refuses_sub_healthy) {
    std::set_union(not_tolerated.begin(), not_tolerated.end(), sub_healthy_.begin(),
                   sub_healthy_.end(), std::back_inserter(needs.not_on));
  } else {
    needs.not_on = not_tolerated;
  }
  return needs;
}

std::optional<size_t> Scheduler::PlaceWithoutNpus(const simulation::PodNeeds& needs) const {
  for (size_t i = 0; i < inventory_.nodes.size(); ++i) {
    if (!closed_[i].empty() || std::binary_search(needs.not_on.begin(), needs.not_on.end(), i))
      continue;
    if (simulation::UnmetLabel(needs.node_selector, inventory_.nodes[i].labels) == nullptr)
      return i;
  }
  return std::nullopt;
}

void Scheduler::Release(const std::vector<size_t>& pods) {
  for (const size_t pod : pods) {
    const auto cluster = clusters_.find(inventory_.pods[pod].resource);
    if (cluster != clusters_.end()) cluster->second.Release(pod);
  }
}

// All of them or none, those that need most first.
std::vector<std::optional<size_t>> Scheduler::PlaceAll(const std::vector<size_t>& pods,
                                                       const Request& request,
                                                       std::optional<Shortage>& shortage) {
  using Likeness = std::pair<std::string, simulation::PodNeeds>;
  std::map<Likeness, std::vector<size_t>, std::greater<>> alike;  // places in `pods`
  for (size_t i = 0; i < pods.size(); ++i) {
    const Pod& pod = inventory_.pods[pods[i]];
    alike[{pod.resource, NeedsOf(pod, request)}].push_back(i);
  }
  std::vector<std::optional<size_t>> placed(pods.size());
  std::optional<size_t> beside = request.beside;
  for (const auto& [likeness, places] : alike) {
    const auto& [resource, needs] = likeness;
    const auto count = std::ssize(places);
    const auto fail = [&](int64_t room) {
      Release(pods);
      if (!shortage) {
        shortage = {count - room, needs.npus, resource, needs.node_selector, needs.one_super_pod};
      }
      return std::vector<std::optional<size_t>>(pods.size());
    };
    if (needs.npus == 0) {
      const auto node = PlaceWithoutNpus(needs);
      if (!node) return fail(0);
      for (const size_t place : places) placed[place] = node;
      continue;
    }
    const auto cluster = clusters_.find(resource);
    if (cluster == clusters_.end()) return fail(0);
    std::vector<size_t> numbers;
    for (const size_t place : places) numbers.push_back(pods[place]);
    const auto nodes = cluster->second.Place(numbers, needs, beside);
    // Beside those that stay there may be less room than elsewhere.
    if (!nodes) return fail(std::min(cluster->second.Room(needs, count), count - 1));
    placed_.insert(placed_.end(), numbers.begin(), numbers.end());
    for (size_t i = 0; i < places.size(); ++i) placed[places[i]] = (*nodes)[i];
    if (request.one_super_pod) beside = nodes->front();
  }
  return placed;
}

Scheduler::Answer Scheduler::Place(const Request& request) {
  Answer answer;
  if (request.pods.empty()) return answer;
  answer.nodes = PlaceAll(request.pods, request, answer.shortage);
  if (answer.nodes.front() || request.together >= request.pods.size()) return answer;
  const auto first = request.pods.begin();
  const auto middle = first + static_cast<std::ptrdiff_t>(request.together);
  std::optional<Shortage> of_gang;
  std::vector<std::optional<size_t>> nodes = PlaceAll({first, middle}, request, of_gang);
  if (of_gang) return answer;
  // The rest one by one, each where there is room.
  for (auto pod = middle; pod != request.pods.end(); ++pod) {
    std::optional<Shortage> lack;
    nodes.push_back(PlaceAll({*pod}, request, lack).front());
  }
  answer.nodes = std::move(nodes);
  return answer;
}

std::set<std::string> Scheduler::TakeChips(size_t node, const Pod& pod) {
  std::set<std::string>& free = free_[node][pod.resource];
  std::set<std::string> taken;
  while (!free.empty() && std::ssize(taken) < pod.npus) {
    // The sets are in the order of bytes: any chips do.
    taken.insert(free.extract(free.begin()));
  }
  return taken;
}

// In the order of kube-scheduler's filters.
std::string Scheduler::WhyNot(size_t i, const Pod& pod, bool refuses_sub_healthy) const {
  const Node& node = inventory_.nodes[i];
  if (!closed_[i].empty()) return std::string(closed_[i]);
  for (const Taint& taint : node.taints) {
    if (!Tolerates(pod.tolerations, {taint})) return "taint " + taint.key;
  }
  if (const auto* label = simulation::UnmetLabel(pod.node_selector, node.labels)) {
    return "label " + label->first + "=" + label->second;
  }
  if (refuses_sub_healthy && sub_healthy_.contains(i)) return "sub-healthy";
  if (pod.npus == 0) return "";
  if (!node.chips.contains(pod.resource) && !node.allocatable.contains(pod.resource)) {
    return "no " + pod.resource;
  }
  return clusters_.at(pod.resource).Free(i) < pod.npus ? "full" : "";
}

int64_t Scheduler::Free(size_t i, const std::string& resource) const {
  const auto cluster = clusters_.find(resource);
  return cluster == clusters_.end() ? 0 : cluster->second.Free(i);
}

void Scheduler::Explain(const Pod& pod, bool refuses_sub_healthy, Shortage& shortage) const {
  std::map<std::string, size_t> counts;
  for (size_t i = 0; i < inventory_.nodes.size(); ++i) {
    const std::string why = WhyNot(i, pod, refuses_sub_healthy);
    if (!why.empty()) ++counts[why];
  }
  for (const auto& [why, nodes] : counts) shortage.left_out.push_back({why, nodes});
  std::stable_sort(shortage.left_out.begin(), shortage.left_out.end(),
                   [](const LeftOut& a, const LeftOut& b) { return a.nodes > b.nodes; });
  constexpr size_t kMaxValues = 5;
  const auto& devices = inventory_.devices;
  if (pod.npus > 0 && !devices.contains(pod.resource)) {
    shortage.unknown.push_back("no node offers " + pod.resource +
                               (devices.empty()
                                    ? ", nor any other device"
                                    : ": they offer " + JoinFirst(devices, kMaxValues)));
  }
  for (const auto& [key, value] : pod.node_selector) {
    std::set<std::string> values;
    for (const Node& node : inventory_.nodes) {
      const auto found = node.labels.find(key);
      if (found != node.labels.end()) values.insert(found->second);
    }
    if (values.contains(value)) continue;
    shortage.unknown.push_back("no node has " + key + "=" + value +
                               (values.empty() ? ", nor " + key + " at all"
                                               : ": they have " + JoinFirst(values, kMaxValues)));
  }
}

namespace {

std::vector<bool> AllThatHaveANode(const Inventory& inventory) {
  std::vector<bool> keeps_node;
  for (const Pod& pod : inventory.pods) keeps_node.push_back(pod.on.has_value());
  return keeps_node;
}

size_t CountOthers(const std::vector<PodLoss>& losses, std::span<const size_t> pods) {
  return static_cast<size_t>(
      std::count_if(pods.begin(), pods.end(), [&](size_t pod) { return losses[pod].is_other; }));
}

}  // namespace

Board::Board(const InitialState& initial)
    : initial_(initial),
      losses_(initial.inventory.pods.size()),
      stays_(AllThatHaveANode(initial.inventory)),
      scheduler_({initial.inventory, initial.reported, initial.reported, {}, stays_}) {}

std::set<GroupName> Board::Decide(const Situation& situation, std::span<const size_t> pods,
                                  std::span<const size_t> nodes) {
  others_ -= CountOthers(losses_, pods);
  std::set<GroupName> may_widen =
      DecideLosses(initial_.inventory, initial_.jobs, situation, pods, losses_);
  others_ += CountOthers(losses_, pods);
  RenewNodes(situation, pods, nodes);
  return may_widen;
}

std::vector<PodLoss> Board::Save(std::span<const size_t> pods) const {
  std::vector<PodLoss> saved;
  for (const size_t pod : pods) saved.push_back(losses_[pod]);
  return saved;
}

void Board::Restore(const Situation& situation, std::span<const size_t> pods,
                    std::vector<PodLoss> saved, std::span<const size_t> nodes) {
  others_ -= CountOthers(losses_, pods);
  for (size_t i = 0; i < pods.size(); ++i) losses_[pods[i]] = std::move(saved[i]);
  others_ += CountOthers(losses_, pods);
  RenewNodes(situation, pods, nodes);
}

void Board::RenewNodes(const Situation& situation, std::span<const size_t> pods,
                       std::span<const size_t> nodes) {
  scheduler_.Clear();
  renewed_.clear();
  renewed_.insert(nodes.begin(), nodes.end());
  for (const size_t pod : pods) {
    const bool keeps_node = KeepsItsPlace(losses_[pod].loss);
    if (keeps_node == stays_[pod]) continue;
    stays_[pod] = keeps_node;
    if (initial_.inventory.pods[pod].on) renewed_.insert(*initial_.inventory.pods[pod].on);
  }
  for (const size_t node : renewed_) {
    scheduler_.Renew(
        node, {initial_.inventory, situation.faults, initial_.reported, situation.drained, stays_});
  }
}

}  // namespace mindgate::what_if
