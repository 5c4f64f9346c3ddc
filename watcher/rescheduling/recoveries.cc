#include "watcher/rescheduling/recoveries.h"

#include <algorithm>

namespace mindgate::watcher::rescheduling {
namespace {

template <typename Is>
size_t CountOf(const Job& job, Is is) {
  return static_cast<size_t>(std::count_if(job.tasks.begin(), job.tasks.end(), is));
}

bool StaysUp(const Task& task) { return !task.going && !task.ended; }

}  // namespace

std::string_view RecoveryStepName(RecoveryStep step) {
  switch (step) {
    case RecoveryStep::kDecided:
      return "decided";
    case RecoveryStep::kDeleted:
      return "deleted";
    case RecoveryStep::kRecreated:
      return "recreated";
    case RecoveryStep::kPlaced:
      return "placed";
    case RecoveryStep::kRunning:
      return "running";
  }
  return "running";
}

bool Recoveries::IsReached(RecoveryStep step, const Recovery& recovery, const Job& job,
                           bool restarts) {
  const auto is_faulty = [&](const Task& task) { return recovery.faulty.contains(task.uid); };
  switch (step) {
    case RecoveryStep::kDecided:
      return restarts || CountOf(job, [&](const Task& task) {
                           return is_faulty(task) && !task.going;
                         }) < recovery.faulty.size();
    case RecoveryStep::kDeleted:
      return CountOf(job, is_faulty) == 0;
    case RecoveryStep::kRecreated:
      return CountOf(job, StaysUp) >= recovery.pods;
    case RecoveryStep::kPlaced:
      return CountOf(job, [](const Task& task) { return StaysUp(task) && !task.node.empty(); }) >=
             recovery.pods;
    case RecoveryStep::kRunning:
      return CountOf(job, [](const Task& task) { return StaysUp(task) && task.ready; }) >=
             recovery.pods;
  }
  return false;
}

void Recoveries::See(const JobKey& key, const Job& job, const std::vector<FaultType>& types,
                     bool restarts, Time now) {
  const MutexLock lock(mutex_);
  auto found = recoveries_.find(key);
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] == FaultType::kHealthy) continue;
    if (found == recoveries_.end()) {
      found = recoveries_.emplace(key, Recovery{.since = now, .faulty = {}}).first;
    }
    found->second.faulty.insert(job.tasks[i].uid);
  }
  if (found == recoveries_.end()) return;
  const bool heals = found->second.reached == 0 && ReasonOf(types) == FaultType::kHealthy &&
                     !IsReached(RecoveryStep::kDecided, found->second, job, restarts);
  if (heals) {
    recoveries_.erase(found);
    return;
  }
  Recovery& recovery = found->second;
  if (recovery.reached == 0) recovery.pods = std::max(recovery.pods, job.tasks.size());
  while (recovery.reached < kRecoveryStepCount) {
    const auto step = static_cast<RecoveryStep>(recovery.reached);
    if (!IsReached(step, recovery, job, restarts)) return;
    if (observe_) observe_(step, now - recovery.since);
    recovery.since = now;
    ++recovery.reached;
  }
  recoveries_.erase(found);
}

void Recoveries::Forget(const JobKey& key) {
  const MutexLock lock(mutex_);
  recoveries_.erase(key);
}

void Recoveries::Keep(const std::function<bool(const JobKey&)>& exists) {
  const MutexLock lock(mutex_);
  std::erase_if(recoveries_, [&](const auto& recovery) { return !exists(recovery.first); });
}

}  // namespace mindgate::watcher::rescheduling
