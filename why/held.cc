#include "why/held.h"

#include <algorithm>
#include <memory>
#include <set>

#include "schemas/names.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/service_index.h"

namespace mindgate::why {
namespace {

using watcher::scaling::RuleState;
using watcher::scaling::ServiceKey;

// Nothing is given up here: what the watcher would give up is another question.
schemas::ElasticScaling WithoutRebalance(schemas::ElasticScaling settings) {
  settings.rebalance = schemas::EnforcementMode::kOff;
  return settings;
}

void AddDecision(const ScalingView& view, const ServiceKey& key, const RuleState& state,
                 const schemas::ElasticScaling& settings, const std::set<std::string>& pods,
                 Facts& facts) {
  watcher::scaling::ServiceIndex index;
  for (const watcher::scaling::PodPtr& pod : view.pods) {
    if (watcher::scaling::ServiceKeyOf(*pod) == key) index.Changed(nullptr, pod);
  }
  for (const watcher::scaling::PodGroupPtr& group : view.pod_groups) {
    if (group->service == key) index.Changed(nullptr, group);
  }
  index.RuleChanged(key.ns, key.rule, std::make_shared<const RuleState>(state));
  const auto service_view = index.Look(key);
  const auto* rule = state.rule ? &*state.rule : nullptr;
  watcher::scaling::Service service{state.rule, state.why_not, {}};
  std::map<std::string, HeldFacts> held;  // by instance
  for (const auto& observed :
       watcher::scaling::Observe(service_view.pods, rule, nullptr, service_view.pod_groups)) {
    HeldFacts& one = held[observed.instance.name];
    one.instance = observed.instance.name;
    one.group = observed.instance.group;
    for (const watcher::scaling::PodState* pod : observed.pods) {
      if (pods.contains(pod->name)) one.pods.push_back(pod->name);
    }
    service.instances.push_back(observed.instance);
  }
  for (const auto& outcome : watcher::scaling::Decide(service, settings, facts.now).outcomes) {
    HeldFacts& one = held[outcome.instance];
    one.granted = outcome.verdict == watcher::scaling::Verdict::kGrant;
    one.waits = outcome.reason;
  }
  for (auto& [name, one] : held) {
    if (one.pods.empty()) continue;
    one.rule = key.rule;
    one.problem = state.rule ? "" : state.why_not;
    facts.held.push_back(std::move(one));
  }
}

}  // namespace

void AddHeld(const ScalingView& view, const schemas::ElasticScaling& settings, Facts& facts) {
  std::map<ServiceKey, std::set<std::string>> pods_of;
  std::vector<std::string> without_labels;
  for (const PodFacts& pod : facts.pods) {
    if (!pod.is_behind(schemas::kScalingGate)) continue;
    if (pod.rule.empty() || pod.job_id.empty()) {
      without_labels.push_back(pod.name);
    } else {
      pods_of[{facts.ns, pod.rule, pod.job_id}].insert(pod.name);
    }
  }
  if (!without_labels.empty()) {
    facts.held.push_back({.pods = std::move(without_labels), .rule_exists = false});
  }
  for (const auto& [key, pods] : pods_of) {
    const auto rule = view.rules.find(key.rule);
    if (rule == view.rules.end()) continue;
    if (!rule->second) {
      facts.held.push_back(
          {.pods = {pods.begin(), pods.end()}, .rule = key.rule, .rule_exists = false});
      continue;
    }
    AddDecision(view, key, *rule->second, WithoutRebalance(settings), pods, facts);
  }
}

}  // namespace mindgate::why
