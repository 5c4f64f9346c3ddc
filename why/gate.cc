#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "schemas/names.h"
#include "why/checks.h"

// Scheduling gates: that of elastic scaling, and those of others.
namespace mindgate::why {
namespace {

std::vector<std::string> PodsBehind(const Facts& facts, std::string_view gate) {
  std::vector<std::string> pods;
  for (const PodFacts& pod : facts.pods) {
    if (pod.is_behind(gate)) pods.push_back(pod.name);
  }
  return pods;
}

std::string HeldText(const HeldFacts& held) {
  return PodsText(held.pods) + (held.pods.size() == 1 ? " is" : " are") +
         " behind the scheduling gate " + std::string(schemas::kScalingGate);
}

}  // namespace

Findings RuleMissing(const Facts& facts) {
  Findings found;
  std::set<std::string> seen;
  for (const HeldFacts& held : facts.held) {
    if (held.rule_exists || !seen.insert(held.rule).second) continue;
    if (held.rule.empty()) {
      found.push_back({.what = HeldText(held) + ", and name no scaling rule",
                       .why = "The watcher groups gated pods by the labels " +
                              std::string(schemas::kScalingRule) + " and " +
                              std::string(schemas::kJobId) + ".",
                       .fix = "set both labels on the pod template, or remove the gate"});
      continue;
    }
    found.push_back(
        {.what = HeldText(held) + ", and their scaling rule does not exist: ConfigMap " + held.rule,
         .why = "Without its rule no instance of the service may start.",
         .fix = "create ConfigMap " + held.rule + " with the key " +
                std::string(schemas::kScalingRuleKey) + InNamespace(facts) +
                ", or correct the label " + std::string(schemas::kScalingRule)});
  }
  return found;
}

Findings RuleInvalid(const Facts& facts) {
  Findings found;
  std::set<std::string> seen;
  for (const HeldFacts& held : facts.held) {
    if (!held.rule_exists || held.problem.empty() || !seen.insert(held.rule).second) continue;
    found.push_back(
        {.what = HeldText(held) + ", and their scaling rule cannot be used: ConfigMap " + held.rule,
         .why = held.problem,
         .fix = "correct the key " + std::string(schemas::kScalingRuleKey) +
                "; `mindgate apply -f FILE -o table` shows each mistake with its line"});
  }
  return found;
}

Findings HeldByRule(const Facts& facts) {
  Findings found;
  for (const HeldFacts& held : facts.held) {
    if (!held.rule_exists || !held.problem.empty() || held.granted) continue;
    found.push_back(
        {.what = HeldText(held) + ": scaling rule " + held.rule + " holds " + held.instance +
                 (held.group.empty() ? "" : " of group " + held.group),
         .why = held.waits,
         .fix = "wait for the other groups of the service, or change the rule: mindgate "
                "status" +
                InNamespace(facts) + " shows what it waits for"});
  }
  return found;
}

Findings GateWithoutWatcher(const Facts& facts) {
  const std::vector<std::string> pods = PodsBehind(facts, schemas::kScalingGate);
  if (pods.empty() || !facts.watcher.known) return {};
  const HeldFacts held{.pods = pods};
  if (!facts.watcher.leads) {
    return {{.what = HeldText(held) + ", and no watcher of mindgate runs to open it",
             .why = "The Lease of the watcher has no current holder.",
             .fix = "start the watcher (mindgate doctor names what keeps it), or open the gates "
                    "with `mindgate release-gates" +
                    InNamespace(facts) + "`"}};
  }
  const bool granted = std::any_of(facts.held.begin(), facts.held.end(),
                                   [](const HeldFacts& one) { return one.granted; });
  if (facts.watcher.acts || !granted) return {};
  return {{.what = HeldText(held) + ", and the watcher only observes: elasticScaling.mode is " +
                   facts.watcher.mode,
           .why = "The rule lets them start, but the watcher opens no gate in this mode.",
           .fix = "set elasticScaling.mode to enforce, or open the gates with `mindgate "
                  "release-gates" +
                  InNamespace(facts) + "`"}};
}

Findings OtherGate(const Facts& facts) {
  std::map<std::string, std::vector<std::string>> pods_of;
  for (const PodFacts& pod : facts.pods) {
    for (const std::string& gate : pod.gates) {
      if (gate != schemas::kScalingGate && pod.node.empty()) pods_of[gate].push_back(pod.name);
    }
  }
  Findings found;
  for (const auto& [gate, pods] : pods_of) {
    found.push_back({.what = PodsText(pods) + (pods.size() == 1 ? " is" : " are") +
                             " behind the scheduling gate " + gate,
                     .why = "It is not mindgate's: whoever set it must remove it.",
                     .fix = "ask the component that owns " + gate +
                            ", or remove the gate from spec.schedulingGates"});
  }
  return found;
}

}  // namespace mindgate::why
