#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "watcher/scaling/instances.h"

namespace mindgate::watcher::scaling {

// The pods of each service and the rules, as the informers tell them. Safe from many threads.
class ServiceIndex {
 public:
  struct View {
    std::vector<PodPtr> pods;  // by name
    RuleState rule;
    // By name, without those that run with pods whose own labels name another service.
    std::vector<PodGroupPtr> pod_groups{};
    bool empty() const { return pods.empty() && pod_groups.empty(); }
  };

  // A pod before and after a change; null: it did not exist before, or no longer exists. Returns
  // the services that this concerns.
  std::vector<ServiceKey> Changed(const PodPtr& before, const PodPtr& after);
  // Likewise of a PodGroup.
  std::vector<ServiceKey> Changed(const PodGroupPtr& before, const PodGroupPtr& after);
  // Null: the ConfigMap is not there, or holds no rule.
  std::vector<ServiceKey> RuleChanged(const std::string& ns, const std::string& name,
                                      std::shared_ptr<const RuleState> rule);

  // Whether a pod or a PodGroup names that rule.
  bool NamesRule(const std::string& ns, const std::string& name) const;

  View Look(const ServiceKey& service) const;
  std::vector<ServiceKey> services() const;

 private:
  using RuleKey = std::pair<std::string, std::string>;  // namespace and name

  template <typename T>
  using ByService = std::map<ServiceKey, std::vector<std::shared_ptr<const T>>>;  // by name

  template <typename T>
  static std::vector<ServiceKey> Change(ByService<T>& all, const std::shared_ptr<const T>& before,
                                        const std::shared_ptr<const T>& after);

  using JobName = std::pair<std::string, std::string>;  // namespace and PodState::instance

  // Other services that have a PodGroup of the pod's job.
  void AddServicesOfItsJob(const PodState& pod, std::vector<ServiceKey>& concerned) const
      REQUIRES(mutex_);
  void LeaveOutJobsOfOthers(const ServiceKey& service, View& view) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  ByService<PodState> pods_ GUARDED_BY(mutex_);
  ByService<PodGroupState> pod_groups_ GUARDED_BY(mutex_);
  std::map<JobName, std::set<ServiceKey>> services_of_jobs_ GUARDED_BY(mutex_);  // by PodGroups
  std::map<RuleKey, std::shared_ptr<const RuleState>> rules_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher::scaling
