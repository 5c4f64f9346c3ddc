#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "faults/node_faults.h"
#include "what_if/inventory.h"
#include "what_if/scheduler.h"
#include "what_if/snapshot.h"
#include "what_if/survey.h"
#include "why/checks.h"
#include "why/reader.h"

namespace mindgate::why {
namespace {

using faults::NodeFaults;
using faults::NodeStatus;
using watcher::rescheduling::FaultType;
using what_if::Inventory;
using what_if::Scheduler;
using what_if::Survey;

// Kinds of pods of one workload that differ in what they need.
constexpr size_t kMaxNeeds = 4;
constexpr size_t kMaxFaults = 200;

std::set<std::string> ClosedChips(const NodeFaults& node) {
  std::set<std::string> chips;
  const faults::DeviceFaults& devices = node.devices;
  for (const auto* list : {&devices.unhealthy, &devices.network_unhealthy, &devices.recovering}) {
    chips.insert(list->begin(), list->end());
  }
  for (const faults::ChipFault& fault : devices.faults) {
    if (fault.level >= faults::FaultLevel::kPreSeparate && !fault.chip.empty()) {
      chips.insert(fault.chip);
    }
  }
  return chips;
}

void AddFaults(const std::string& name, const NodeFaults& node, Facts& facts) {
  const auto add = [&](const std::string& part, std::string level,
                       const std::vector<std::string>& codes) {
    if (facts.faults.size() < kMaxFaults) {
      facts.faults.push_back({name, part, std::move(level), codes});
    }
  };
  for (const auto& [part, hardware] :
       {std::pair{"node", &node.machine}, std::pair{"switch", &node.switches}}) {
    if (hardware->status != NodeStatus::kHealthy) {
      add(part, std::string(faults::NodeStatusName(hardware->status)), hardware->codes);
    }
  }
  std::set<std::string> with_level;
  for (const faults::ChipFault& fault : node.devices.faults) {
    with_level.insert(fault.chip);
    add(fault.chip.empty() ? "all chips" : fault.chip,
        std::string(faults::FaultLevelName(fault.level)), fault.codes);
  }
  for (const std::string& chip : ClosedChips(node)) {
    if (!with_level.contains(chip)) add(chip, "Unhealthy", {});
  }
}

// Nodes against waiting pods, as what-if's scheduler sees both.
class Places {
 public:
  Places(const Inventory& inventory, const Survey& survey)
      : inventory_(inventory),
        survey_(survey),
        stays_(StaysOf(inventory)),
        scheduler_({inventory, survey, survey, {}, stays_}) {}

  void AddTo(Facts& facts) {
    using Needs = std::tuple<std::string, int64_t, what_if::Labels,
                             std::vector<what_if::Toleration>, std::string>;
    std::map<Needs, std::vector<size_t>> alike;
    for (const PodFacts& pod : facts.pods) {
      const auto found =
          pod.waits_for_a_node() ? inventory_.FindPod(facts.ns, pod.name) : std::nullopt;
      if (!found) continue;
      const what_if::Pod& entry = inventory_.pods[*found];
      alike[{entry.resource, entry.npus, entry.node_selector, entry.tolerations, entry.pod_group}]
          .push_back(*found);
    }
    for (const auto& [needs, pods] : alike) {
      if (facts.placements.size() == kMaxNeeds) break;
      facts.placements.push_back(PlacementOf(pods));
    }
  }

 private:
  static std::vector<bool> StaysOf(const Inventory& inventory) {
    std::vector<bool> keeps_node;
    for (const what_if::Pod& pod : inventory.pods)
      keeps_node.push_back(pod.on.has_value() && !pod.failed);
    return keeps_node;
  }

  PlacementFacts PlacementOf(const std::vector<size_t>& pods) {
    const what_if::Pod& first = inventory_.pods[pods.front()];
    PlacementFacts placement{
        .resource = first.resource,
        .npus = first.npus,
        .node_selector = {first.node_selector.begin(), first.node_selector.end()}};
    for (const size_t pod : pods) placement.pods.push_back(inventory_.pods[pod].name);
    for (size_t i = 0; i < inventory_.nodes.size(); ++i) {
      placement.nodes.push_back(NodeOf(i, first));
    }
    what_if::Shortage shortage;
    scheduler_.Explain(first, false, shortage);
    placement.unknown = shortage.unknown;
    placement.gang_lacks = GangLacks(pods);
    return placement;
  }

  NodeFacts NodeOf(size_t i, const what_if::Pod& pod) const {
    const what_if::Node& node = inventory_.nodes[i];
    NodeFacts facts{.name = node.name, .why_not = scheduler_.WhyNot(i, pod, false)};
    for (const auto& [key, value] : pod.node_selector) {
      const auto label = node.labels.find(key);
      if (label == node.labels.end() || label->second != value) {
        facts.unmet.push_back(key + "=" + value);
      }
    }
    if (pod.npus == 0) return facts;
    const auto chips = node.chips.find(pod.resource);
    const auto offered = node.allocatable.find(pod.resource);
    facts.offers = chips != node.chips.end() || offered != node.allocatable.end();
    if (!facts.offers) return facts;
    facts.free = scheduler_.Free(i, pod.resource);
    if (chips != node.chips.end()) facts.all = std::ssize(chips->second);
    if (offered != node.allocatable.end()) facts.all = std::max(facts.all, offered->second);
    const auto faulty = survey_.nodes.find(node.name);
    if (faulty == survey_.nodes.end()) return facts;
    for (const std::string& chip : ClosedChips(faulty->second)) {
      const auto uses = [&](size_t of) { return inventory_.pods[of].chips.contains(chip); };
      const auto& on = inventory_.pods_on[i];
      if (std::none_of(on.begin(), on.end(), uses)) facts.faulty.push_back(chip);
    }
    return facts;
  }

  // What the gang of the pods lacks; empty: nothing, or they have none.
  std::string GangLacks(const std::vector<size_t>& pods) {
    const what_if::Pod& first = inventory_.pods[pods.front()];
    const auto gang = inventory_.gangs.find({first.ns, first.pod_group});
    if (first.pod_group.empty() || gang == inventory_.gangs.end()) return "";
    const int64_t there =
        std::count_if(inventory_.pods.begin(), inventory_.pods.end(), [&](const what_if::Pod& pod) {
          return pod.ns == first.ns && pod.pod_group == first.pod_group && !pod.failed;
        });
    const int64_t placed =
        std::count_if(inventory_.pods.begin(), inventory_.pods.end(), [&](const what_if::Pod& pod) {
          return pod.ns == first.ns && pod.pod_group == first.pod_group && pod.on && !pod.failed;
        });
    const int64_t together = std::max<int64_t>(gang->second.Together(there) - placed, 0);
    const auto answer = scheduler_.Place({.pods = pods,
                                          .together = static_cast<size_t>(together),
                                          .one_super_pod = gang->second.one_super_pod});
    const bool none = std::none_of(answer.nodes.begin(), answer.nodes.end(),
                                   [](const auto& node) { return node.has_value(); });
    scheduler_.Clear();
    return none && answer.shortage ? what_if::ShortageText(*answer.shortage) : "";
  }

  const Inventory& inventory_;
  const Survey& survey_;
  const std::vector<bool> stays_;
  Scheduler scheduler_;
};

bool IsHardware(FaultType type) {
  return type != FaultType::kHealthy && type != FaultType::kPodFailed;
}

std::string ByOf(const what_if::SurveyedJob& job) {
  using watcher::rescheduling::Step;
  const bool acts = job.response.step != Step::kNothing && job.response.step != Step::kFails;
  return acts && job.due.by != what_if::Actor::kNobody ? std::string(what_if::ActorText(job.due.by))
                                                       : std::string();
}

void AddHitsOfJobs(const Survey& survey, const std::map<std::string, const PodFacts*>& ours,
                   Facts& facts) {
  // Pods that failed and were replaced are on no hardware any more.
  const bool is_well = IsWell(facts);
  for (const what_if::SurveyedJob& job : survey.jobs) {
    if (job.ns != facts.ns || !IsHardware(job.response.reason)) continue;
    std::map<std::string, std::vector<std::string>> pods_on;
    for (size_t i = 0; i < job.tasks.size(); ++i) {
      const watcher::rescheduling::Task& task = job.tasks[i];
      if (!IsHardware(job.types[i]) || (task.ended && is_well)) continue;
      if (ours.contains(task.pod)) pods_on[task.node].push_back(task.pod);
    }
    for (auto& [node, pods] : pods_on) {
      HitFacts hit{.pods = std::move(pods), .node = node};
      hit.fault = watcher::rescheduling::FaultTypeName(job.response.reason);
      hit.fault_scheduling = job.policy.written;
      hit.by = ByOf(job);
      hit.by_plugin = !hit.by.empty() && job.due.by == what_if::Actor::kPlugin;
      if (!hit.by.empty()) hit.when = what_if::WhenText(job.due);
      hit.why = job.response.why + (job.due.why.empty() ? "" : "; " + job.due.why);
      facts.hits.push_back(std::move(hit));
    }
  }
}

// The survey has all pods of a node on which anything is faulty.
void AddHits(const Survey& survey, Facts& facts) {
  std::map<std::string, const PodFacts*> ours;
  for (const PodFacts& pod : facts.pods) ours.emplace(pod.name, &pod);
  AddHitsOfJobs(survey, ours, facts);
  for (const what_if::SurveyedPod& pod : survey.pods) {
    const auto known = ours.find(pod.task.pod);
    if (pod.ns != facts.ns || !pod.pod_group.empty() || known == ours.end()) continue;
    const FaultType type = Classify(pod.task, {}, {survey.nodes, survey.not_ready});
    if (pod.task.ended || !IsHardware(type)) continue;
    facts.hits.push_back({.pods = {pod.task.pod},
                          .node = pod.task.node,
                          .fault = std::string(FaultTypeName(type)),
                          .fault_scheduling = known->second->fault_scheduling,
                          .in_pod_group = false,
                          .why = "It is in no PodGroup, which both MindCluster and mindgate need"});
  }
}

bool IsReported(const Survey& survey, const CachedFacts& cached) {
  const auto node = survey.nodes.find(cached.node);
  if (survey.not_ready.contains(cached.node)) return true;
  if (node == survey.nodes.end()) return false;
  const std::set<std::string> closed = ClosedChips(node->second);
  return cached.chips.empty() || node->second.IsUnhealthy() ||
         std::any_of(cached.chips.begin(), cached.chips.end(),
                     [&](const std::string& chip) { return closed.contains(chip); });
}

}  // namespace

void AddCluster(const what_if::ClusterSnapshot& snapshot, Facts& facts) {
  const Survey survey = what_if::SurveyOf(snapshot, what_if::FaultsIn(snapshot));
  const Inventory inventory = what_if::TakeInventory(snapshot);
  Places(inventory, survey).AddTo(facts);
  AddHits(survey, facts);
  std::set<std::string> matter;
  for (const PodFacts& pod : facts.pods) {
    if (pod.node.empty()) continue;
    matter.insert(pod.node);
    if (survey.not_ready.contains(pod.node)) facts.lost_nodes.insert(pod.node);
  }
  for (const PlacementFacts& placement : facts.placements) {
    for (const NodeFacts& node : placement.nodes) {
      if (!node.why_not.empty()) matter.insert(node.name);
    }
  }
  for (const auto& [name, node] : survey.nodes) {
    if (matter.contains(name)) AddFaults(name, node, facts);
  }
  for (CachedFacts& cached : facts.cached) cached.reported = IsReported(survey, cached);
}

}  // namespace mindgate::why
