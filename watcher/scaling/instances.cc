#include "watcher/scaling/instances.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "json/issues.h"
#include "schemas/names.h"

namespace mindgate::watcher::scaling {
namespace {

// How many pods must run for the instance to run.
size_t NeededPods(const std::vector<const PodState*>& pods, const schemas::ScalingRule* rule) {
  int64_t declared = 0;
  for (const PodState* pod : pods) declared = std::max<int64_t>(declared, pod->size);
  // A leader that runs alone is not an instance yet (LeaderReady makes its workers afterwards).
  if (declared > 0) return static_cast<size_t>(declared);
  if (rule != nullptr && !rule->tiers.empty()) {
    const auto* group = rule->tiers.front().Find(pods.front()->group());
    if (group != nullptr && group->server_num_per_group > 0) {
      return std::min(pods.size(), static_cast<size_t>(group->server_num_per_group));
    }
  }
  return pods.size();
}

Phase PhaseOf(const std::vector<const PodState*>& pods, const schemas::ScalingRule* rule) {
  const auto gated = [](const PodState* pod) { return pod->gate.has_value(); };
  if (std::all_of(pods.begin(), pods.end(), gated)) return Phase::kHeld;
  const auto running =
      std::count_if(pods.begin(), pods.end(), [](const PodState* pod) { return pod->running; });
  return static_cast<size_t>(running) >= NeededPods(pods, rule) ? Phase::kRunning
                                                                : Phase::kStarting;
}

void Earliest(std::optional<Time>& time, const std::optional<Time>& other) {
  if (other) time = std::min(time.value_or(*other), *other);
}

// What the scheduler may place now and has not.
void AddTimes(const PodState& pod, const SeenByUid* seen, Instance& instance) {
  if (pod.gate) return;
  if (seen == nullptr) {
    Earliest(instance.started, pod.created);
    Earliest(instance.unschedulable, pod.unschedulable);
  } else if (const Seen* found = seen->Find(pod.uid)) {
    Earliest(instance.started, found->ungated);
    Earliest(instance.unschedulable, found->unschedulable);
    instance.came_ungated = instance.came_ungated || found->came_ungated;
  }
}

ObservedInstance Of(const std::string& name, std::vector<const PodState*> pods,
                    const schemas::ScalingRule* rule, const SeenByUid* seen) {
  std::sort(pods.begin(), pods.end(),
            [](const PodState* a, const PodState* b) { return a->name < b->name; });
  ObservedInstance observed;
  Instance& instance = observed.instance;
  instance.name = name;
  instance.group = pods.front()->group();
  instance.workload = pods.front()->origin->workload;
  instance.revision = pods.front()->origin->revision;
  instance.phase = PhaseOf(pods, rule);
  instance.since = Time::max();
  for (const PodState* pod : pods) {
    instance.since = std::min(instance.since, pod->created);
    instance.ready += pod->ready ? 1 : 0;
    instance.gated += pod->gate ? 1 : 0;
    if (pod->node == nullptr) {
      instance.needs.push_back(pod->npus);
    } else {
      ++instance.placed;
      instance.npus[*pod->node] += pod->npus;
    }
    AddTimes(*pod, seen, instance);
  }
  // Pods that its owner has not made yet need room, too.
  for (size_t i = pods.size(); pods.back()->size > 0 && i < NeededPods(pods, rule); ++i) {
    instance.needs.push_back(pods.back()->npus);
  }
  std::sort(instance.needs.rbegin(), instance.needs.rend());
  observed.regarding = pods.front()->regarding();
  observed.pods = std::move(pods);
  return observed;
}

ObservedInstance Queued(const PodGroupState& pod_group, const SeenByUid* seen) {
  // Anybody may write a minMember: what is larger looks like this many pods.
  constexpr int64_t kMaxPods = 1024;
  ObservedInstance observed;
  Instance& instance = observed.instance;
  instance.name = pod_group.instance;
  instance.group = pod_group.group;
  instance.phase = Phase::kQueued;
  instance.since = pod_group.created;
  if (seen != nullptr) {
    if (const Seen* found = seen->Find(pod_group.uid)) {
      instance.unschedulable = found->unschedulable;
    }
  } else if (pod_group.waits()) {
    instance.unschedulable = pod_group.created;
  }
  const int64_t pods = std::min(pod_group.pods, kMaxPods);
  for (int64_t i = 0; i < pods; ++i) {
    const int64_t rest = i < pod_group.npus_of_group % pods ? 1 : 0;
    instance.needs.push_back(pod_group.npus_of_group / pods + rest);
  }
  observed.regarding = pod_group.regarding;
  observed.pod_group = &pod_group;
  return observed;
}

// One whose pods were admitted without the labels of the rule.
ObservedInstance Unlabelled(const PodGroupState& pod_group, const SeenByUid* seen) {
  ObservedInstance observed;
  Instance& instance = observed.instance;
  instance.name = pod_group.instance;
  instance.group = pod_group.group;
  instance.unlabelled = true;
  instance.phase = pod_group.phase == PodGroupPhase::kRunning ? Phase::kRunning : Phase::kStarting;
  instance.since = pod_group.created;
  instance.started = pod_group.created;
  if (seen != nullptr) {
    if (const Seen* found = seen->Find(pod_group.uid)) instance.started = found->ungated;
  }
  observed.regarding = pod_group.regarding;
  observed.pod_group = &pod_group;
  return observed;
}

// Whether the phase of the PodGroup may still be about pods with the labels, which have just gone.
bool IsStale(const PodGroupState& pod_group, const SeenByUid* seen) {
  if (seen == nullptr) return false;
  const Seen* found = seen->Find(pod_group.uid);
  return found != nullptr && found->had_pods;
}

}  // namespace

SeenByUid::SeenByUid(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return *a.uid < *b.uid; });
  const auto end = std::unique(entries_.begin(), entries_.end(),
                               [](const Entry& a, const Entry& b) { return *a.uid == *b.uid; });
  entries_.erase(end, entries_.end());
  entries_.shrink_to_fit();
}

const Seen* SeenByUid::Find(std::string_view uid) const {
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), uid,
      [](const Entry& entry, std::string_view wanted) { return *entry.uid < wanted; });
  return found != entries_.end() && *found->uid == uid ? &found->seen : nullptr;
}

std::set<std::string> ObservedInstance::uids() const {
  std::set<std::string> uids;
  for (const PodState* pod : pods) uids.insert(pod->uid);
  return uids;
}

std::vector<ObservedInstance> Observe(std::span<const PodPtr> pods,
                                      const schemas::ScalingRule* rule, const SeenByUid* seen,
                                      std::span<const PodGroupPtr> pod_groups) {
  std::map<std::string, std::vector<const PodState*>> by_instance;
  for (const PodPtr& pod : pods) {
    if (!pod->deleted) by_instance[pod->instance].push_back(pod.get());
  }
  std::vector<ObservedInstance> observed;
  for (auto& [name, members] : by_instance) {
    observed.push_back(Of(name, std::move(members), rule, seen));
  }
  if (pod_groups.empty()) return observed;
  std::set<std::string_view> going;  // instances with pods that are being deleted
  for (const PodPtr& pod : pods) {
    if (pod->deleted) going.insert(pod->instance);
  }
  for (const PodGroupPtr& pod_group : pod_groups) {
    // A job has one PodGroup; of two, the first by name stands for it.
    if (!by_instance.try_emplace(pod_group->instance).second) continue;
    if (!pod_group->has_room()) {
      observed.push_back(Queued(*pod_group, seen));
    } else if (!going.contains(pod_group->instance) && !IsStale(*pod_group, seen)) {
      observed.push_back(Unlabelled(*pod_group, seen));
    }
  }
  std::sort(observed.begin(), observed.end(),
            [](const ObservedInstance& a, const ObservedInstance& b) {
              return a.instance.name < b.instance.name;
            });
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
    why += ": " + json::LineText(first.at) + ": " + first.message;
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
