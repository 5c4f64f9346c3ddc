#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/pod.h"

namespace mindgate::watcher::rescheduling {

// The pods of each PodGroup, as the informers tell them. Safe from many threads.
class JobIndex {
 public:
  // A pod before and after a change; null: it did not exist before, or no longer exists. Returns
  // the jobs that this concerns.
  std::vector<JobKey> Changed(const PodPtr& before, const PodPtr& after);
  // Likewise of a PodGroup.
  std::vector<JobKey> Changed(const PodGroupPtr& before, const PodGroupPtr& after);

  // Nothing when there is no such PodGroup: the scheduler knows no such job then.
  std::optional<Job> Look(const JobKey& job) const;
  std::vector<JobKey> jobs() const;
  // Those that have a pod on the node.
  std::vector<JobKey> JobsOn(std::string_view node) const;
  // Of those, whose PodGroup exists, the ones with a pod there that a scheduler bound and nobody
  // deletes: whoever may create pods may write any node into one.
  std::vector<JobKey> BoundJobsOn(std::string_view node) const;
  // Chips that pods have on the node which have not ended and are not being deleted.
  int64_t CountChipsOn(std::string_view node) const;
  std::set<std::string, std::less<>> ChipsOn(std::string_view node) const;

 private:
  struct Entry {
    PodGroupPtr group;
    std::vector<PodPtr> pods;  // by name
  };

  void Remove(const PodState& pod) REQUIRES(mutex_);
  void Insert(const PodPtr& pod) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<JobKey, Entry> jobs_ GUARDED_BY(mutex_);
  // The jobs of the pods of each node, as often as they have pods there, which own the keys.
  std::map<std::string, std::vector<const JobKey*>, std::less<>> on_node_ GUARDED_BY(mutex_);
  std::map<std::string, int64_t, std::less<>> chips_on_ GUARDED_BY(mutex_);  // CountChipsOn
};

// Labels and annotations of the PodGroup and its pods, as the plugin merges them.
Job JobOf(const PodGroupState& group, const std::vector<PodPtr>& pods);

}  // namespace mindgate::watcher::rescheduling
