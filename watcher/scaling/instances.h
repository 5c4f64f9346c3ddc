#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "kube/event_book.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/pod.h"

namespace mindgate::watcher::scaling {

// An instance and what its verdicts are carried out on. Pods that are going are left out.
struct ObservedInstance {
  Instance instance;
  kube::ObjectReference regarding;
  std::vector<const PodState*> pods;  // by name; of the pods given to Observe
};

// The instances that the pods of one service make, by name. One counts as running when all of its
// pods run, and as granted when one of them has no gate of ours any more: so what was granted is
// known from the pods alone, whoever granted it. `ungated` says by UID when a pod was first seen
// without our gate: the scheduler says of a gated pod, too, since when it is not placed, and its
// time without room does not begin before.
std::vector<ObservedInstance> Observe(std::span<const PodPtr> pods,
                                      const std::map<std::string, Time>& ungated = {});

// The rule in a ConfigMap, or why it cannot be used.
struct RuleState {
  std::optional<schemas::ScalingRule> rule;
  std::string why_not;
};

RuleState RuleOf(const json::Value& config_map);
RuleState RuleMissing(const ServiceKey& service);
RuleState PodUnreadable(const PodState& pod);  // nothing can be decided about its service

}  // namespace mindgate::watcher::scaling
