#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/pod.h"

namespace mindgate::watcher::scaling {

// How each service stands, as of the last decision about it. Safe from many threads.
class Standings {
 public:
  struct Standing {
    ServiceKey service;
    std::optional<size_t> reached;  // Decision::reached
    std::vector<GroupCount> groups;
  };

  void Set(Standing standing) {
    const MutexLock lock(mutex_);
    ServiceKey key = standing.service;
    standings_.insert_or_assign(std::move(key), std::move(standing));
  }
  void Remove(const ServiceKey& service) {
    const MutexLock lock(mutex_);
    standings_.erase(service);
  }
  std::vector<Standing> all() const {  // by service
    std::vector<Standing> all;
    const MutexLock lock(mutex_);
    for (const auto& [service, standing] : standings_) all.push_back(standing);
    return all;
  }

 private:
  mutable Mutex mutex_;
  std::map<ServiceKey, Standing> standings_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher::scaling
