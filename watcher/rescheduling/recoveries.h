#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "watcher/rescheduling/job.h"

namespace mindgate::watcher::rescheduling {

// How far a job has come since a fault of one of its pods was reported. Each ends the one before.
enum class RecoveryStep : uint8_t {
  kDecided,    // a restart began, or somebody else deletes the pod
  kDeleted,    // the faulty pods are gone
  kRecreated,  // as many pods exist as before
  kPlaced,     // they have nodes
  kRunning,    // they are Ready
};
inline constexpr int kRecoveryStepCount = 5;
std::string_view RecoveryStepName(RecoveryStep step);  // "decided"

// Measures the steps of all jobs, whoever restarts them: this watcher or MindCluster. Known to one
// leader only: a recovery that was under way when it began to lead is measured from then on. Safe
// from many threads.
class Recoveries {
 public:
  // Steps that come to pass at once take no time.
  using Observe = std::function<void(RecoveryStep step, std::chrono::nanoseconds since_last)>;

  explicit Recoveries(Observe observe) : observe_(std::move(observe)) {}

  // A job as it is now. `types`: of each task; `restarts`: a restart of ours is under way. A fault
  // that goes away before anything was done is not counted.
  void See(const JobKey& key, const Job& job, const std::vector<FaultType>& types, bool restarts,
           Time now);
  void Forget(const JobKey& key);
  void Keep(const std::function<bool(const JobKey&)>& exists);

 private:
  struct Recovery {
    Time since{};                  // of the last step that was reached, at first of the report
    int reached = 0;               // steps
    std::set<std::string> faulty;  // pods, by UID
    size_t pods = 0;               // that the job had
  };

  static bool IsReached(RecoveryStep step, const Recovery& recovery, const Job& job, bool restarts);

  const Observe observe_;
  Mutex mutex_;
  std::map<JobKey, Recovery> recoveries_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher::rescheduling
