#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "watcher/frame/leader_client.h"
#include "watcher/rescheduling/job_state.h"

namespace mindgate::watcher::rescheduling {

// What is remembered of jobs, and what of it the next leader must know in a ConfigMap. Safe from
// many threads.
class StateStore {
 public:
  static constexpr std::string_view kKey = "state.json";
  // 400 bytes each at most but for super pods: well below the 1 MiB that a ConfigMap may have.
  static constexpr size_t kMaxJobs = 2000;

  // Of the ConfigMap. Without a namespace nothing outlives the program.
  StateStore(std::string ns, std::string name) : ns_(std::move(ns)), name_(std::move(name)) {}

  // Reads what the leader before left, once in each term. Nothing may be decided before.
  kube::Answer<void> Load(LeaderClient& client);

  JobState Get(const JobKey& job) const;
  // In memory only.
  void Set(const JobKey& job, JobState state);
  // Also for the next leader, which is written before anything is done. Writes nothing when what is
  // kept there would not change.
  kube::Answer<void> Save(LeaderClient& client, const JobKey& job, JobState state);
  // Of all that `exists` denies. What is kept for the next leader goes with the next Save.
  void Keep(const std::function<bool(const JobKey&)>& exists);

 private:
  const std::string ns_;
  const std::string name_;
  Mutex writing_;  // one write at a time; before `mutex_`
  mutable Mutex mutex_;
  JobStates states_ GUARDED_BY(mutex_);
  std::optional<Time> loaded_ GUARDED_BY(mutex_);  // for the term that began then
  std::string written_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher::rescheduling
