#include "watcher/scaling/service_index.h"

namespace mindgate::watcher::scaling {

std::vector<ServiceKey> ServiceIndex::PodChanged(const PodPtr& before, const PodPtr& after) {
  std::vector<ServiceKey> concerned;
  const MutexLock lock(mutex_);
  if (before != nullptr && (after == nullptr || after->service != before->service)) {
    const auto service = pods_.find(before->service);
    if (service != pods_.end()) {
      service->second.erase(before->name);
      if (service->second.empty()) pods_.erase(service);
    }
    concerned.push_back(before->service);
  }
  if (after != nullptr) {
    pods_[after->service][after->name] = after;
    concerned.push_back(after->service);
  }
  return concerned;
}

std::vector<ServiceKey> ServiceIndex::RuleChanged(const std::string& ns, const std::string& name,
                                                  std::shared_ptr<const RuleState> rule) {
  std::vector<ServiceKey> concerned;
  const MutexLock lock(mutex_);
  if (rule == nullptr) {
    rules_.erase({ns, name});
  } else {
    rules_[{ns, name}] = std::move(rule);
  }
  for (auto at = pods_.lower_bound({ns, name, ""});
       at != pods_.end() && at->first.ns == ns && at->first.rule == name; ++at) {
    concerned.push_back(at->first);
  }
  return concerned;
}

bool ServiceIndex::NamesRule(const std::string& ns, const std::string& name) const {
  const MutexLock lock(mutex_);
  const auto at = pods_.lower_bound({ns, name, ""});
  return at != pods_.end() && at->first.ns == ns && at->first.rule == name;
}

ServiceIndex::View ServiceIndex::Look(const ServiceKey& service) const {
  View view;
  const MutexLock lock(mutex_);
  if (const auto found = pods_.find(service); found != pods_.end()) {
    for (const auto& [name, pod] : found->second) view.pods.push_back(pod);
  }
  const auto rule = rules_.find({service.ns, service.rule});
  view.rule = rule == rules_.end() ? RuleMissing(service) : *rule->second;
  // Nobody can decide about instances without knowing all of their pods.
  for (const PodPtr& pod : view.pods) {
    if (pod->unreadable) view.rule = PodUnreadable(*pod);
  }
  return view;
}

std::vector<ServiceKey> ServiceIndex::services() const {
  std::vector<ServiceKey> keys;
  const MutexLock lock(mutex_);
  for (const auto& [key, pods] : pods_) keys.push_back(key);
  return keys;
}

}  // namespace mindgate::watcher::scaling
