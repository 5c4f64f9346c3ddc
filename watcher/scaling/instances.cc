#include "watcher/scaling/instances.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "schemas/names.h"

namespace mindgate::watcher::scaling {
namespace {

Phase PhaseOf(const std::vector<const PodState*>& pods) {
  const auto live = [](const PodState* pod) { return !pod->ended; };
  const auto gated = [&](const PodState* pod) { return pod->gate.has_value() || pod->ended; };
  const auto runs = [&](const PodState* pod) { return pod->running || pod->ended; };
  if (std::none_of(pods.begin(), pods.end(), live)) return Phase::kEnded;
  if (std::all_of(pods.begin(), pods.end(), gated)) return Phase::kHeld;
  return std::all_of(pods.begin(), pods.end(), runs) ? Phase::kRunning : Phase::kStarting;
}

// Since when there is no room for a pod that may be scheduled.
std::optional<Time> UnschedulableSince(const PodState& pod,
                                       const std::map<std::string, Time>& ungated) {
  if (pod.gate || !pod.unschedulable) return std::nullopt;
  const auto seen = ungated.find(pod.uid);
  return seen == ungated.end() ? *pod.unschedulable : std::max(*pod.unschedulable, seen->second);
}

ObservedInstance Of(const std::string& name, std::vector<const PodState*> pods,
                    const std::map<std::string, Time>& ungated) {
  std::sort(pods.begin(), pods.end(),
            [](const PodState* a, const PodState* b) { return a->name < b->name; });
  ObservedInstance observed;
  Instance& instance = observed.instance;
  instance.name = name;
  instance.group = pods.front()->group;
  instance.phase = PhaseOf(pods);
  instance.since = Time::max();
  for (const PodState* pod : pods) {
    if (pod->ended) continue;
    instance.since = std::min(instance.since, pod->created);
    instance.ready += pod->ready ? 1 : 0;
    instance.placed += pod->placed ? 1 : 0;
    if (const auto since = UnschedulableSince(*pod, ungated)) {
      instance.unschedulable = std::min(instance.unschedulable.value_or(*since), *since);
    }
  }
  observed.regarding = pods.front()->regarding;
  observed.pods = std::move(pods);
  return observed;
}

}  // namespace

std::vector<ObservedInstance> Observe(std::span<const PodPtr> pods,
                                      const std::map<std::string, Time>& ungated) {
  std::map<std::string, std::vector<const PodState*>> by_instance;
  for (const PodPtr& pod : pods) {
    if (!pod->terminating) by_instance[pod->instance].push_back(pod.get());
  }
  std::vector<ObservedInstance> observed;
  for (auto& [name, members] : by_instance)
    observed.push_back(Of(name, std::move(members), ungated));
  return observed;
}

RuleState RuleOf(const json::Value& config_map) {
  const std::string name(json::FindString(json::Find(config_map, "metadata"), "name").value_or(""));
  const std::string_view text = schemas::ScalingRuleText(config_map).value_or("");
  auto reading = schemas::ReadScalingRule(text);
  if (reading.rule) return {std::move(reading.rule), ""};
  std::string why = "the rule in ConfigMap " + name + " cannot be used";
  if (!reading.refused.empty()) {
    const json::Issue& first = reading.refused.items().front();
    why += ": line " + std::to_string(first.at.line) + ", column " +
           std::to_string(first.at.column) + ": " + first.message;
  }
  return {std::nullopt, std::move(why)};
}

RuleState RuleMissing(const ServiceKey& service) {
  return {std::nullopt, "there is no ConfigMap " + Quote(service.rule) + " with the key " +
                            std::string(schemas::kScalingRuleKey) + " in namespace " + service.ns};
}

RuleState PodUnreadable(const PodState& pod) {
  return {std::nullopt, "pod " + pod.name + " is too large to be read, so its state is unknown"};
}

}  // namespace mindgate::watcher::scaling
