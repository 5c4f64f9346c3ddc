#include "watcher/scaling/service_index.h"

#include <algorithm>
#include <string_view>

namespace mindgate::watcher::scaling {
namespace {

template <typename T>
auto PlaceOf(std::vector<std::shared_ptr<const T>>& row, const std::string& name) {
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
      const auto place = PlaceOf(service->second, before->name);
      if (place != service->second.end() && (*place)->name == before->name) {
        service->second.erase(place);
      }
      if (service->second.empty()) all.erase(service);
    }
    concerned.push_back(ServiceKeyOf(*before));
  }
  if (after != nullptr) {
    auto& service = all[ServiceKeyOf(*after)];
    const auto place = PlaceOf(service, after->name);
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

ServiceIndex::View ServiceIndex::Look(const ServiceKey& service) const {
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

}  // namespace mindgate::watcher::scaling
