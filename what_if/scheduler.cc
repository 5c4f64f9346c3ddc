#include "what_if/scheduler.h"

#include <algorithm>
#include <numeric>

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

bool TakesNewPods(const Node& node, const Scheduler::Floor& floor) {
  if (node.closed || floor.drained.contains(node.name)) return false;
  if (floor.faults.not_ready.contains(node.name)) return false;
  const NodeFaults* faulty = FaultsOf(floor.faults, node.name);
  if (faulty == nullptr) return true;
  return std::max(faulty->machine.status, faulty->switches.status) < NodeStatus::kPreSeparate;
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

std::vector<Use> UseOf(const Inventory& inventory, const std::vector<bool>& stays) {
  std::vector<Use> use(inventory.nodes.size());
  for (size_t i = 0; i < inventory.pods.size(); ++i) {
    const Pod& pod = inventory.pods[i];
    if (!stays[i] || pod.npus == 0) continue;
    const auto node = inventory.FindNode(pod.node);
    if (!node) continue;
    use[*node].asked[pod.resource] += pod.npus;
    use[*node].chips[pod.resource].insert(pod.chips.begin(), pod.chips.end());
    if (pod.chips.empty()) use[*node].unnamed[pod.resource] += pod.npus;
  }
  return use;
}

}  // namespace

Scheduler::Scheduler(const Floor& floor) : inventory_(floor.inventory) {
  const std::vector<Node>& nodes = inventory_.nodes;
  std::vector<Use> use = UseOf(inventory_, floor.stays);
  std::map<std::string, std::vector<int64_t>> room;  // by resource: of each node
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    const NodeFaults* faulty = FaultsOf(floor.faults, node.name);
    const NodeFaults* before = FaultsOf(floor.reported, node.name);
    open_.push_back(TakesNewPods(node, floor));
    if (IsSubHealthyNode(faulty)) sub_healthy_.insert(i);
    if (!node.taints.empty()) tainted_.insert(i);
    std::set<std::string> resources;
    for (const auto& [resource, chips] : node.chips) resources.insert(resource);
    for (const auto& [resource, count] : node.allocatable) resources.insert(resource);
    for (const std::string& resource : resources) {
      std::set<std::string>& free = free_[{i, resource}];
      int64_t lost = 0;  // what the kubelet does not know of yet
      const auto chips = node.chips.find(resource);
      if (chips != node.chips.end()) {
        for (const std::string& chip : chips->second) {
          if (IsClosed(faulty, chip)) {
            const bool now = faulty->devices.unhealthy.contains(chip);
            const bool known = before != nullptr && before->devices.unhealthy.contains(chip);
            lost += now && !known ? 1 : 0;
          } else if (!use[i].chips[resource].contains(chip)) {
            free.insert(chip);
          }
        }
      }
      int64_t count = std::ssize(free) - use[i].unnamed[resource];
      if (const auto offered = node.allocatable.find(resource); offered != node.allocatable.end()) {
        const int64_t left = offered->second - lost - use[i].asked[resource];
        count = chips == node.chips.end() ? left : std::min(count, left);
      }
      auto& of_resource = room.try_emplace(resource, nodes.size(), 0).first->second;
      of_resource[i] = std::max<int64_t>(count, 0);
    }
  }
  for (const auto& [resource, of_nodes] : room) {
    std::vector<simulation::NodeSpec> specs;
    for (size_t i = 0; i < nodes.size(); ++i) {
      specs.push_back({nodes[i].name, of_nodes[i], nodes[i].labels, nodes[i].super_pod});
    }
    auto& cluster = clusters_.try_emplace(resource, specs).first->second;
    for (size_t i = 0; i < nodes.size(); ++i) cluster.SetCordoned(i, !open_[i]);
  }
}

simulation::PodNeeds Scheduler::NeedsOf(const Pod& pod, const Request& request) const {
  simulation::PodNeeds needs{pod.npus, pod.node_selector, request.one_super_pod && pod.npus > 0};
  std::set<size_t> not_on;
  if (request.refuses_sub_healthy) not_on = sub_healthy_;
  for (const size_t node : tainted_) {
    if (!Tolerates(pod.tolerations, inventory_.nodes[node].taints)) not_on.insert(node);
  }
  needs.not_on.assign(not_on.begin(), not_on.end());
  return needs;
}

std::optional<size_t> Scheduler::PlaceWithoutNpus(const simulation::PodNeeds& needs) const {
  for (size_t i = 0; i < inventory_.nodes.size(); ++i) {
    if (!open_[i] || std::binary_search(needs.not_on.begin(), needs.not_on.end(), i)) continue;
    const Labels& labels = inventory_.nodes[i].labels;
    const bool selected =
        std::all_of(needs.node_selector.begin(), needs.node_selector.end(), [&](const auto& label) {
          const auto found = labels.find(label.first);
          return found != labels.end() && found->second == label.second;
        });
    if (selected) return i;
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
  std::set<std::string>& free = free_[{node, pod.resource}];
  std::set<std::string> taken;
  while (!free.empty() && std::ssize(taken) < pod.npus) {
    // The sets are in the order of bytes: any chips do.
    taken.insert(free.extract(free.begin()));
  }
  return taken;
}

std::string ShortageText(const Shortage& shortage) {
  const bool one = shortage.pods == 1;
  std::string text = "room for " + std::to_string(shortage.pods) + " more pod" + (one ? "" : "s");
  if (shortage.npus > 0) {
    text +=
        " with " + std::to_string(shortage.npus) + " " + shortage.resource + (one ? "" : " each");
  }
  std::vector<std::string> labels;
  for (const auto& [key, value] : shortage.node_selector) labels.push_back(key + "=" + value);
  if (!labels.empty()) {
    text += std::string(one ? " on a node" : " on nodes") + " with " + Join(labels, ", ");
  }
  return text + (shortage.one_super_pod ? ", in one super pod" : "");
}

}  // namespace mindgate::what_if
