#include <algorithm>
#include <set>

#include "base/text.h"
#include "schemas/names.h"
#include "why/checks.h"

namespace mindgate::why {

// Faulty hardware in the way of pods or under them, and restarts because of it.

namespace {

constexpr size_t kMaxParts = 5;

std::string FaultText(const FaultFacts& fault) {
  return fault.node + ": " + fault.part + " is " + fault.level +
         (fault.codes.empty() ? "" : ", codes " + Join(fault.codes, ","));
}

std::vector<std::string> FaultsOn(const Facts& facts, const std::set<std::string>& nodes) {
  std::vector<std::string> texts;
  for (const FaultFacts& fault : facts.faults) {
    if (nodes.contains(fault.node) && texts.size() < kMaxParts) texts.push_back(FaultText(fault));
  }
  return texts;
}

std::string HitText(const HitFacts& hit) {
  return PodsText(hit.pods) + (hit.pods.size() == 1 ? " runs" : " run") +
         " on faulty hardware of node " + hit.node + " (" + hit.fault + ")";
}

// What makes faults of the pods be handled from now on; empty: nothing is missing. A pod without
// NPUs needs none of it, unless its label asks for it.
std::string HandlingText(const Facts& facts, const HitFacts& hit) {
  const bool off = hit.fault_scheduling.empty() || hit.fault_scheduling == "off";
  const std::string label = "set the label fault-scheduling (force or grace) in the pod template";
  if (hit.in_pod_group) return off ? label : "";
  const auto pod = std::find_if(facts.pods.begin(), facts.pods.end(),
                                [&](const PodFacts& one) { return one.name == hit.pods.front(); });
  if (pod == facts.pods.end() || (pod->npus == 0 && off)) return "";
  const std::string group =
      pod->scheduler == schemas::kVolcanoScheduler
          ? "see that volcano-controllers runs, which makes PodGroups of Volcano's pods"
          : "set spec.schedulerName to volcano in the pod template, so that its pods get a "
            "PodGroup";
  return off ? label + ", " + group : group;
}

}  // namespace

Findings ChipsFaulty(const Facts& facts) {
  Findings found;
  for (const PlacementFacts& placement : facts.placements) {
    std::set<std::string> nodes;
    std::vector<std::string> chips;
    const bool takes = std::any_of(placement.nodes.begin(), placement.nodes.end(),
                                   [](const NodeFacts& node) { return node.why_not.empty(); });
    for (const NodeFacts& node : placement.nodes) {
      const int64_t without_faults = node.free + static_cast<int64_t>(node.faulty.size());
      if (takes || node.why_not != "full" || node.faulty.empty() ||
          without_faults < placement.npus) {
        continue;
      }
      nodes.insert(node.name);
      for (const std::string& chip : node.faulty) chips.push_back(node.name + "/" + chip);
    }
    if (nodes.empty()) continue;
    found.push_back(
        {.what = "faulty chips keep " + PodsText(placement.pods) + " from " +
                 JoinFirst(nodes, kMaxParts) + ": " + JoinFirst(chips, kMaxParts),
         .why = "With these chips the node would have " + std::to_string(placement.npus) +
                " free " + placement.resource + ".",
         .fix = "repair or reset the chips; `mindgate status --faults` shows them, and `mindgate "
                "explain --fault CODE` what a code means",
         .evidence = FaultsOn(facts, nodes)});
  }
  return found;
}

Findings NodesFaulty(const Facts& facts) {
  Findings found;
  for (const PlacementFacts& placement : facts.placements) {
    std::set<std::string> nodes;
    bool takes = false;
    for (const NodeFacts& node : placement.nodes) {
      takes = takes || node.why_not.empty();
      const bool faulty = node.why_not == "faulty" || node.why_not == "sub-healthy";
      if (faulty && WouldFit(placement, node)) nodes.insert(node.name);
    }
    if (takes || nodes.empty()) continue;
    found.push_back({.what = "MindCluster keeps " + PodsText(placement.pods) +
                             " from faulty nodes: " + JoinFirst(nodes, kMaxParts),
                     .why = "NodeD or a switch reports the node as unhealthy or to be separated.",
                     .fix = "repair the node; `mindgate status --faults` shows what is reported",
                     .evidence = FaultsOn(facts, nodes)});
  }
  return found;
}

Findings PluginCacheStale(const Facts& facts) {
  const bool waits = !WaitingPods(facts).empty();
  Findings found;
  for (const CachedFacts& cached : facts.cached) {
    if (!waits || cached.reported) continue;
    found.push_back(
        {.what = "MindCluster's plugin still holds node " + cached.node +
                 " as faulty in its cache" +
                 (cached.chips.empty() ? "" : ": " + JoinFirst(cached.chips, kMaxParts)),
         .why = "No fault report names it any more; ConfigMap volcano-system/vcjob-fault-npu-cm "
                "has it as " +
                cached.state + ".",
         .fix = "wait for the next session of volcano-scheduler; if it stays, restart that: "
                "kubectl rollout restart deployment volcano-scheduler -n volcano-system"});
  }
  return found;
}

Findings OptedOut(const Facts& facts) {
  if (facts.opted_out.empty()) return {};
  Findings found;
  for (const HitFacts& hit : facts.hits) {
    // Without a PodGroup nothing would restart them either way.
    if (hit.by_plugin || !hit.in_pod_group) continue;
    found.push_back(
        {.what = HitText(hit) + ", and " + facts.opted_out + " keeps mindgate from restarting them",
         .why = hit.why.empty() ? "" : "Nothing else restarts them: " + hit.why + ".",
         .fix = "remove " + std::string(schemas::kRescheduling) +
                ": disabled there, or delete the pods yourself: kubectl delete pod " +
                hit.pods.front() + InNamespace(facts),
         .evidence = FaultsOn(facts, {hit.node})});
  }
  return found;
}

Findings FaultNotHandled(const Facts& facts) {
  Findings found;
  for (const HitFacts& hit : facts.hits) {
    const bool opted_out = !facts.opted_out.empty() && hit.in_pod_group;
    if (!hit.by.empty() || opted_out) continue;
    const std::string handling = HandlingText(facts, hit);
    found.push_back({.what = HitText(hit) + ", and nothing restarts them",
                     .why = hit.why,
                     .fix = handling + (handling.empty() ? "" : ", and ") +
                            "delete the pods on the faulty hardware: kubectl delete pod " +
                            hit.pods.front() + InNamespace(facts),
                     .evidence = FaultsOn(facts, {hit.node})});
  }
  return found;
}

Findings OnFaultyHardware(const Facts& facts) {
  Findings found;
  for (const HitFacts& hit : facts.hits) {
    const bool kept = !facts.opted_out.empty() && !hit.by_plugin;
    if (hit.by.empty() || kept) continue;
    found.push_back({.what = HitText(hit) + ": " + hit.by + " restarts them " + hit.when,
                     .why = hit.why,
                     .fix = "wait for it; `mindgate what-if` shows where they find room",
                     .evidence = FaultsOn(facts, {hit.node})});
  }
  return found;
}

Findings RetriesUsedUp(const Facts& facts) {
  if (IsWell(facts)) return {};
  Findings found;
  for (const GroupFacts& group : facts.groups) {
    if (!group.retries_left || *group.retries_left > 0) continue;
    const bool fails = std::any_of(facts.pods.begin(), facts.pods.end(), [&](const PodFacts& pod) {
      return pod.pod_group == group.name &&
             (pod.phase == "Failed" || std::any_of(pod.containers.begin(), pod.containers.end(),
                                                   [](const ContainerFacts& one) {
                                                     return !one.ready &&
                                                            one.exit_code.value_or(0) != 0;
                                                   }));
    });
    if (!fails) continue;
    found.push_back({.what = "PodGroup " + group.name +
                             " has used up its restarts: fault-retry-times has 0 left",
                     .why = "MindCluster's plugin restarts a failed pod no more; it counts in "
                            "ConfigMap volcano-system/vcjob-fault-npu-cm.",
                     .fix = "correct what makes the pods fail, then create the workload again, or "
                            "raise the label fault-retry-times"});
  }
  return found;
}

Findings RestartedByPlugin(const Facts& facts) {
  Findings found;
  for (const GroupFacts& group : facts.groups) {
    if (!group.restarted) continue;
    const std::vector<std::string> pods(group.restarted_for.begin(), group.restarted_for.end());
    found.push_back({.what = "MindCluster's plugin restarted PodGroup " + group.name + " at " +
                             FormatTime(*group.restarted) +
                             (pods.empty() ? "" : ", as it called faulty: " + PodNames(pods)),
                     .why = "ConfigMap mindx-dl/job-reschedule-reason has the record.",
                     .fix = "`mindgate status --faults` shows which hardware is faulty now"});
  }
  return found;
}

Findings RestartedByMindgate(const Facts& facts) {
  const auto fits = [](const EventFacts& event) {
    return event.reporter == schemas::kWatcherReporter &&
           (event.reason == "JobRestarted" || event.reason == "PodsMarked" ||
            event.reason == "NotRestarted" || event.reason == "WouldRestart" ||
            event.reason == "RestartWaits");
  };
  const auto found = std::find_if(facts.events.rbegin(), facts.events.rend(), fits);
  if (found == facts.events.rend()) return {};
  return {{.what = "mindgate decided about a fault at " + found->time + ": " + found->reason,
           .why = found->note,
           .fix = "`mindgate status --faults` shows all decisions",
           .evidence = {found->about + ": " + EventText(*found)}}};
}

}  // namespace mindgate::why
