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

namespace {

template <typename T>
auto FindByName(std::vector<std::shared_ptr<const T>>& row, const std::string& name) {
  return std::lower_bound(
      row.begin(), row.end(), name,
      [](const auto& each, const std::string& wanted) { return each->name < wanted; });
}

}  // namespace

template <typename T>
std::vector<ServiceKey> ServiceIndex::Change(ByService<T>& all,
                                             const std::shared_ptr<const T>& before,
                                             const std::shared_ptr<const T>& after) {
  std::vector<ServiceKey> concerned;
  if (before != nullptr && (after == nullptr || ServiceKeyOf(*after) != ServiceKeyOf(*before))) {
    const auto service = all.find(ServiceKeyOf(*before));
    if (service != all.end()) {
      const auto place = FindByName(service->second, before->name);
      if (place != service->second.end() && (*place)->name == before->name) {
        service->second.erase(place);
      }
      if (service->second.empty()) all.erase(service);
    }
    concerned.push_back(ServiceKeyOf(*before));
  }
  if (after != nullptr) {
    auto& service = all[ServiceKeyOf(*after)];
    const auto place = FindByName(service, after->name);
    if (place != service.end() && (*place)->name == after->name) {
      *place = after;
    } else {
      service.insert(place, after);
    }
    concerned.push_back(ServiceKeyOf(*after));
  }
  return concerned;
}

std::vector<ServiceKey> ServiceIndex::Changed(const PodPtr& before, const PodPtr& after) {
  const MutexLock lock(mutex_);
  std::vector<ServiceKey> concerned = Change(pods_, before, after);
  const bool moves =
      before == nullptr || after == nullptr || ServiceKeyOf(*before) != ServiceKeyOf(*after);
  if (moves && before != nullptr) AddServicesOfItsJob(*before, concerned);
  if (moves && after != nullptr) AddServicesOfItsJob(*after, concerned);
  return concerned;
}

void ServiceIndex::AddServicesOfItsJob(const PodState& pod,
                                       std::vector<ServiceKey>& concerned) const {
  const auto found = services_of_jobs_.find({ServiceKeyOf(pod).ns, pod.instance});
  if (found == services_of_jobs_.end()) return;
  for (const ServiceKey& service : found->second) {
    if (std::find(concerned.begin(), concerned.end(), service) == concerned.end()) {
      concerned.push_back(service);
    }
  }
}

std::vector<ServiceKey> ServiceIndex::Changed(const PodGroupPtr& before, const PodGroupPtr& after) {
  const MutexLock lock(mutex_);
  std::vector<ServiceKey> concerned = Change(pod_groups_, before, after);
  const auto is_of_service = [&](const PodGroupState& of) REQUIRES(mutex_) {
    const auto service = pod_groups_.find(of.service);
    return service != pod_groups_.end() &&
           std::any_of(service->second.begin(), service->second.end(),
                       [&](const PodGroupPtr& each) { return each->instance == of.instance; });
  };
  for (const PodGroupPtr& of : {before, after}) {
    if (of == nullptr) continue;
    const JobName job{of->service.ns, of->instance};
    auto& services = services_of_jobs_[job];
    if (is_of_service(*of)) {
      services.insert(of->service);
    } else {
      services.erase(of->service);
    }
    if (services.empty()) services_of_jobs_.erase(job);
  }
  return concerned;
}

std::vector<ServiceKey> ServiceIndex::RuleChanged(const std::string& ns, const std::string& name,
                                                  std::shared_ptr<const RuleState> rule) {
  std::set<ServiceKey> concerned;
  const MutexLock lock(mutex_);
  if (rule == nullptr) {
    rules_.erase({ns, name});
  } else {
    rules_[{ns, name}] = std::move(rule);
  }
  const auto add = [&](const auto& all) {
    for (auto at = all.lower_bound({ns, name, ""});
         at != all.end() && at->first.ns == ns && at->first.rule == name; ++at) {
      concerned.insert(at->first);
    }
  };
  add(pods_);
  add(pod_groups_);
  return {concerned.begin(), concerned.end()};
}

bool ServiceIndex::NamesRule(const std::string& ns, const std::string& name) const {
  const MutexLock lock(mutex_);
  const auto is_among = [&](const auto& all) {
    const auto at = all.lower_bound({ns, name, ""});
    return at != all.end() && at->first.ns == ns && at->first.rule == name;
  };
  return is_among(pods_) || is_among(pod_groups_);
}

ServiceIndex::View ServiceIndex::Find(const ServiceKey& service) const {
  View view;
  const MutexLock lock(mutex_);
  if (const auto found = pods_.find(service); found != pods_.end()) {
    view.pods = found->second;
  }
  if (const auto found = pod_groups_.find(service); found != pod_groups_.end()) {
    view.pod_groups = found->second;
  }
  LeaveOutJobsOfOthers(service, view);
  const auto rule = rules_.find({service.ns, service.rule});
  view.rule = rule == rules_.end() ? RuleMissing(service) : *rule->second;
  // Nobody can decide about instances without knowing all of their pods.
  for (const PodPtr& pod : view.pods) {
    if (pod->unreadable) view.rule = PodUnreadable(*pod);
  }
  return view;
}

void ServiceIndex::LeaveOutJobsOfOthers(const ServiceKey& service, View& view) const {
  std::set<std::string_view> jobs;
  for (const PodGroupPtr& pod_group : view.pod_groups) {
    if (pod_group->has_room()) jobs.insert(pod_group->instance);
  }
  for (const PodPtr& pod : view.pods) jobs.erase(pod->instance);
  std::set<std::string_view> of_others;
  for (auto at = pods_.lower_bound({service.ns, "", ""});
       !jobs.empty() && at != pods_.end() && at->first.ns == service.ns; ++at) {
    if (at->first == service) continue;
    for (const PodPtr& pod : at->second) {
      if (jobs.contains(pod->instance)) of_others.insert(pod->instance);
    }
  }
  std::erase_if(view.pod_groups, [&](const PodGroupPtr& pod_group) {
    return of_others.contains(pod_group->instance);
  });
}

std::vector<ServiceKey> ServiceIndex::services() const {
  std::set<ServiceKey> keys;
  const MutexLock lock(mutex_);
  for (const auto& [key, pods] : pods_) keys.insert(keys.end(), key);
  for (const auto& [key, pod_groups] : pod_groups_) keys.insert(key);
  return {keys.begin(), keys.end()};
}

namespace {

using Room = std::map<std::string, int64_t>;  // NPUs by node

void Add(const Instance& instance, const std::set<std::string, std::less<>>& unusable, Room& room) {
  for (const auto& [node, npus] : instance.npus) {
    if (!unusable.contains(node)) room[node] += npus;
  }
}

// How many pods find a place. `needs` are in descending order: each goes to the first node that has
// so much left, and what is largest finds its place first.
std::ptrdiff_t Placed(const std::vector<int64_t>& needs, Room room) {
  return std::count_if(needs.begin(), needs.end(), [&](int64_t need) {
    const auto node = std::find_if(room.begin(), room.end(),
                                   [&](const auto& each) { return each.second >= need; });
    if (node == room.end()) return false;
    node->second -= need;
    return true;
  });
}

}  // namespace

bool LeavesRoom(const Instance& instance,
                const std::set<std::string, std::less<>>& unusable_nodes) {
  return instance.npus.empty() ||
         std::any_of(instance.npus.begin(), instance.npus.end(),
                     [&](const auto& of_node) { return !unusable_nodes.contains(of_node.first); });
}

std::vector<const Instance*> FewestThatFit(
    const std::vector<const Instance*>& surplus, const Instance& beneficiary,
    const std::set<std::string, std::less<>>& unusable_nodes) {
  const auto placed = [&](const std::vector<const Instance*>& given_up) {
    Room room;
    for (const Instance* instance : given_up) Add(*instance, unusable_nodes, room);
    return Placed(beneficiary.needs, std::move(room));
  };
  const auto fits = [&](const std::vector<const Instance*>& given_up) {
    return placed(given_up) == std::ssize(beneficiary.needs);
  };
  if (surplus.empty()) return {};
  const bool is_known = std::any_of(beneficiary.needs.begin(), beneficiary.needs.end(),
                                    [](int64_t need) { return need > 0; });
  if (!is_known) return {surplus.front()};
  for (const Instance* instance : surplus) {
    if (fits({instance})) return {instance};
  }
  std::vector<const Instance*> together;
  for (const Instance* instance : surplus) {
    together.push_back(instance);
    if (!fits(together)) continue;
    // Without those that were not needed.
    for (size_t i = 0; i < together.size();) {
      std::vector<const Instance*> fewer = together;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (fits(fewer)) {
        together = std::move(fewer);
      } else {
        ++i;
      }
    }
    return together;
  }
  const Instance* most = nullptr;
  std::ptrdiff_t pods = 0;
  for (const Instance* instance : surplus) {
    if (const auto has_room = placed({instance}); has_room > pods) {
      most = instance;
      pods = has_room;
    }
  }
  if (most == nullptr) return {};
  return {most};
}

}  // namespace mindgate::watcher::scaling
