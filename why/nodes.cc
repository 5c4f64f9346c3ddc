#include <algorithm>
#include <map>

#include "base/text.h"
#include "schemas/names.h"
#include "why/checks.h"

namespace mindgate::why {

// Nodes against what waiting pods ask for, and who is to place them.

bool WouldFit(const PlacementFacts& placement, const NodeFacts& node) {
  return node.unmet.empty() &&
         (placement.npus == 0 || (node.offers && node.free >= placement.npus));
}

namespace {

constexpr size_t kMaxNodeNames = 5;

bool IsPlaceable(const PlacementFacts& placement) {
  return std::any_of(placement.nodes.begin(), placement.nodes.end(),
                     [](const NodeFacts& node) { return node.why_not.empty(); });
}

// Waiting pods that no node takes.
std::vector<const PlacementFacts*> Unplaceable(const Facts& facts) {
  std::vector<const PlacementFacts*> list;
  for (const PlacementFacts& placement : facts.placements) {
    if (!placement.nodes.empty() && !IsPlaceable(placement)) list.push_back(&placement);
  }
  return list;
}

std::string NodesText(const std::vector<std::string>& names) {
  return Counted(static_cast<int64_t>(names.size()), "node") + " (" +
         JoinFirst(names, kMaxNodeNames) + ")";
}

std::string AskedText(const PlacementFacts& placement) {
  return std::to_string(placement.npus) + " " + placement.resource;
}

// Nodes that take no pod for this reason, whatever it asks for. `fix`: a command, to which the
// first node's name is added.
Findings NodesThatAre(std::string_view why_not, const Facts& facts, std::string_view what,
                      const std::string& why, std::string_view fix) {
  Findings found;
  for (const PlacementFacts* placement : Unplaceable(facts)) {
    std::vector<std::string> names;
    for (const NodeFacts& node : placement->nodes) {
      if (node.why_not == why_not && WouldFit(*placement, node)) names.push_back(node.name);
    }
    if (names.empty()) continue;
    found.push_back({.what = NodesText(names) + " " + std::string(what),
                     .why = why,
                     .fix = std::string(fix) + " " + names.front()});
  }
  return found;
}

// "why nodes take none: full on 3, taint dedicated on 1".
std::string WhyNodesText(const PlacementFacts& placement) {
  std::map<std::string, size_t> counts;
  for (const NodeFacts& node : placement.nodes) ++counts[node.why_not];
  std::vector<std::string> parts;
  for (const auto& [why, count] : counts) {
    if (!why.empty()) parts.push_back(why + " on " + std::to_string(count));
  }
  return "why nodes take none: " + Join(parts, ", ");
}

}  // namespace

Findings SchedulerAbsent(const Facts& facts) {
  constexpr std::chrono::seconds kPatience(30);
  std::map<std::string, std::vector<std::string>> pods_of;
  for (const PodFacts& pod : facts.pods) {
    if (!pod.waits_for_a_node() || pod.scheduler_reported || !pod.created ||
        facts.now - *pod.created < kPatience) {
      continue;
    }
    const GroupFacts* group = facts.FindGroup(pod.pod_group);
    const bool group_answered = group != nullptr && !group->condition.empty();
    if (group_answered || NewestEvent(facts, {"FailedScheduling", "Scheduled", "Unschedulable"}, "",
                                      "Pod/" + pod.name) != nullptr) {
      continue;
    }
    pods_of[pod.scheduler].push_back(pod.name);
  }
  Findings found;
  for (const auto& [scheduler, pods] : pods_of) {
    found.push_back({.what = "no scheduler answers for " + PodsText(pods) +
                             ": spec.schedulerName is " + scheduler,
                     .why = "No scheduler wrote a condition or an Event about them in " +
                            FormatDuration(kPatience) + ".",
                     .fix = "start the scheduler of that name, or correct spec.schedulerName "
                            "(NPUs need volcano)"});
  }
  return found;
}

Findings WrongScheduler(const Facts& facts) {
  std::vector<std::string> pods;
  for (const PodFacts& pod : facts.pods) {
    if (pod.npus > 0 && pod.scheduler == schemas::kDefaultScheduler && !pod.ready && !pod.ended() &&
        pod.resource.starts_with(schemas::kResourcePrefix)) {
      pods.push_back(pod.name);
    }
  }
  if (pods.empty()) return {};
  return {{.what = PodsThat(pods, "asks", "ask") +
                   " for NPUs with spec.schedulerName default-scheduler",
           .why = "MindCluster chooses chips in Volcano: another scheduler places the pod without "
                  "chips, or counts chips that are faulty as free.",
           .fix = "set spec.schedulerName to volcano in the pod template"}};
}

Findings NoSuchDevice(const Facts& facts) {
  Findings found;
  for (const PlacementFacts* placement : Unplaceable(facts)) {
    const bool offered = std::any_of(placement->nodes.begin(), placement->nodes.end(),
                                     [](const NodeFacts& node) { return node.offers; });
    if (placement->npus == 0 || offered) continue;
    std::vector<std::string> evidence = placement->unknown;
    found.push_back({.what = "no node offers " + placement->resource + ", the resource of " +
                             PodsText(placement->pods),
                     .why = "Nodes offer what their device plugin registers.",
                     .fix = "write the resource that the nodes have (kubectl describe nodes), or "
                            "start Ascend Device Plugin there",
                     .evidence = std::move(evidence)});
  }
  return found;
}

namespace {

// What the node lacks of the selector that lacks the fewest labels, among those that are large
// enough for one of the pods (where none is, among all). Empty: it is not labels that keep the pods
// away.
std::vector<std::string> LabelsToAdd(const PlacementFacts& placement) {
  const NodeFacts* nearest = nullptr;
  bool any_large = false;
  for (const NodeFacts& node : placement.nodes) {
    const bool large = placement.npus == 0 || (node.offers && node.all >= placement.npus);
    if (any_large && !large) continue;
    const bool first_large = large && !any_large;
    if (nearest == nullptr || first_large || node.unmet.size() < nearest->unmet.size()) {
      nearest = &node;
    }
    any_large = any_large || large;
  }
  return nearest == nullptr ? std::vector<std::string>() : nearest->unmet;
}

}  // namespace

Findings NoSuchLabel(const Facts& facts) {
  Findings found;
  for (const PlacementFacts* placement : Unplaceable(facts)) {
    const std::vector<std::string> to_add = LabelsToAdd(*placement);
    if (to_add.empty()) continue;
    std::vector<std::string> asked;
    for (const auto& [key, value] : placement->node_selector) asked.push_back(key + "=" + value);
    std::vector<std::string> missing;
    std::copy_if(placement->unknown.begin(), placement->unknown.end(), std::back_inserter(missing),
                 [](const std::string& text) { return text.starts_with("no node has "); });
    found.push_back(
        {.what = PodsText(placement->pods) + " may go to no node: nodeSelector asks for " +
                 JoinFirst(asked, kMaxNodeNames),
         .why = missing.empty() ? "No node that is large enough has all of these labels."
                                : JoinFirst(missing, kMaxNodeNames, "; "),
         .fix = "correct spec.nodeSelector, or label a node: kubectl label node NODE " +
                Join(to_add, " ")});
  }
  return found;
}

Findings MoreThanANodeHas(const Facts& facts) {
  Findings found;
  for (const PlacementFacts* placement : Unplaceable(facts)) {
    int64_t most = 0;
    std::string largest;
    for (const NodeFacts& node : placement->nodes) {
      if (node.offers && node.all > most) {
        most = node.all;
        largest = node.name;
      }
    }
    if (most == 0 || placement->npus <= most) continue;
    found.push_back({.what = PodsThat(placement->pods, "asks", "ask") + " for " +
                             AskedText(*placement) + " each, and no node has more than " +
                             std::to_string(most),
                     .why = "The largest node is " + largest + ".",
                     .fix = "ask for " + std::to_string(most) +
                            " or less in one pod, and use several pods for more"});
  }
  return found;
}

Findings NotEnoughNpus(const Facts& facts) {
  Findings found;
  for (const PlacementFacts* placement : Unplaceable(facts)) {
    std::vector<std::string> evidence;
    int64_t most = 0;
    int64_t total = 0;
    bool full = false;
    for (const NodeFacts& node : placement->nodes) {
      if (node.why_not != "full" || placement->npus > node.all) continue;
      full = true;
      most = std::max(most, node.free);
      total += node.free;
      if (evidence.size() < kMaxNodeNames) {
        evidence.push_back(node.name + ": " + std::to_string(node.free) + " of " +
                           std::to_string(node.all) + " free");
      }
    }
    if (!full) continue;
    evidence.push_back(WhyNodesText(*placement));
    found.push_back({.what = "not enough free NPUs: " + PodsThat(placement->pods, "asks", "ask") +
                             " for " + AskedText(*placement) +
                             " each, and the most that a node has free is " + std::to_string(most),
                     .why = "On all nodes together " + std::to_string(total) +
                            " are free, but one pod takes its NPUs from one node.",
                     .fix = "end or move pods (mindgate what-if shows what would fit), ask for "
                            "less, or add a node",
                     .evidence = std::move(evidence)});
  }
  return found;
}

Findings GangRoom(const Facts& facts) {
  Findings found;
  for (const PlacementFacts& placement : facts.placements) {
    if (placement.gang_lacks.empty() || !IsPlaceable(placement)) continue;
    found.push_back({.what = "a node takes one of " + PodsText(placement.pods) +
                             ", but there is no room for all of its gang",
                     .why = "It lacks " + placement.gang_lacks + ".",
                     .fix = "free that room, or ask for a smaller gang (minMember, replicas)"});
  }
  return found;
}

Findings TaintNotTolerated(const Facts& facts) {
  Findings found;
  for (const PlacementFacts* placement : Unplaceable(facts)) {
    std::map<std::string, std::vector<std::string>> nodes_of;
    for (const NodeFacts& node : placement->nodes) {
      if (node.why_not.starts_with("taint ") && WouldFit(*placement, node)) {
        nodes_of[node.why_not.substr(6)].push_back(node.name);
      }
    }
    for (const auto& [taint, nodes] : nodes_of) {
      found.push_back({.what = PodsThat(placement->pods, "does", "do") +
                               " not tolerate the taint " + taint + " of " + NodesText(nodes),
                       .why = taint == schemas::kFaultyNode
                                  ? "mindgate isolated the node because its hardware is faulty."
                                  : "These nodes would have enough free NPUs.",
                       .fix = taint == schemas::kFaultyNode
                                  ? "repair the node; `mindgate release-nodes` removes the taint"
                                  : "add a toleration for " + taint +
                                        " to the pod template, or "
                                        "remove the taint: kubectl taint node NODE " +
                                        taint + "-"});
    }
  }
  return found;
}

Findings NodesCordoned(const Facts& facts) {
  return NodesThatAre("cordoned", facts, "may take no new pods, as cordoned",
                      "spec.unschedulable of the node is true.", "kubectl uncordon");
}

Findings NodesNotReady(const Facts& facts) {
  return NodesThatAre("not Ready", facts, "cannot take pods, as not Ready",
                      "The kubelet does not report, or reports that it cannot run pods.",
                      "repair the node: kubectl describe node");
}

Findings SchedulerMessage(const Facts& facts) {
  std::map<std::string, std::vector<std::string>> pods_of;
  for (const PodFacts& pod : facts.pods) {
    if (!pod.waits_for_a_node()) continue;
    std::string message = pod.unscheduled;
    if (message.empty()) {
      const EventFacts* event =
          NewestEvent(facts, {"FailedScheduling", "Unschedulable"}, "", "Pod/" + pod.name);
      if (event != nullptr) message = event->note;
    }
    if (!message.empty()) pods_of[message].push_back(pod.name);
  }
  Findings found;
  for (const auto& [message, pods] : pods_of) {
    found.push_back(
        {.what = "the scheduler cannot place " + PodsText(pods) + ": " + Cut(message, 400),
         .why = "This is the message of the scheduler itself.",
         .fix = "kubectl describe pod " + pods.front() + InNamespace(facts) +
                " has all of its Events"});
  }
  return found;
}

}  // namespace mindgate::why
