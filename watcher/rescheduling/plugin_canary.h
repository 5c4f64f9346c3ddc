#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/time.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/leader_client.h"
#include "watcher/rescheduling/job.h"

namespace mindgate::watcher::rescheduling {

// Compares what the plugin recorded with what mindgate found, job by job, and reports where the
// plugin called other pods faulty: Event PluginDiffers. Compared are the pods that were faulty from
// a job's first fault until none has been for kQuiet. A job of which mindgate itself restarted
// something is not compared: the plugin may have seen the result. Safe from many threads, one at a
// time to a job.
class PluginCanary {
 public:
  // For as long the plugin may restart what is left, or a replacement be faulty as well.
  static constexpr std::chrono::seconds kQuiet{5};
  // Of a job; with more than these it is not compared.
  static constexpr size_t kMostPods = 1000;

  // Both must outlive it.
  PluginCanary(log::Logger& logger, DecisionListener& decisions)
      : logger_(logger), decisions_(decisions) {}

  // `types`: what is wrong with each of the job's pods now. Returns when it is to be called again;
  // nothing: with the next change.
  std::optional<Time> Look(LeaderClient& client, const JobKey& key, const Job& job,
                           const std::vector<FaultType>& types, Time now);
  // The job is not compared until its next fault.
  void Forget(const JobKey& key);
  // Of jobs that `exists` denies nothing is kept.
  void Keep(const std::function<bool(const JobKey&)>& exists);

  // Jobs that were reported.
  uint64_t reported() const;

 private:
  using Faulty = std::map<std::string, Time>;  // pods, since when
  struct Spell {
    Faulty faulty{};
    std::optional<Time> quiet_since{};
  };

  std::optional<Time> Note(const JobKey& key, const Job& job, const std::vector<FaultType>& types,
                           Time now, Faulty& over);

  log::Logger& logger_;
  DecisionListener& decisions_;
  mutable Mutex mutex_;
  std::map<JobKey, Spell> jobs_ GUARDED_BY(mutex_);
  uint64_t reported_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mindgate::watcher::rescheduling
