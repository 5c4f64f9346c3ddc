#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "watcher/frame/leader_client.h"
#include "watcher/rescheduling/job_state.h"
#include "watcher/rescheduling/spent_budget.h"

namespace mindgate::watcher::rescheduling {

// What is remembered of jobs, and what of it the next leader must know in a ConfigMap. Safe from
// many threads.
class StateStore {
 public:
  static constexpr std::string_view kKey = "state.json";
  // A ConfigMap may have 1 MiB. Of what is more, those jobs are left out that were restarted
  // longest ago: their retries are given again, as they are by the plugin whenever Volcano
  // restarts.
  static constexpr size_t kMaxBytes = 900UL * 1024;
  // Of one job. Beyond, its pods and super pods are left out: the next leader finds those that are
  // still faulty again.
  static constexpr size_t kMaxJobBytes = 64UL * 1024;

  using Exists = std::function<bool(const JobKey&)>;

  // Of the ConfigMap. Without a namespace nothing outlives the program.
  StateStore(std::string ns, std::string name) : ns_(std::move(ns)), name_(std::move(name)) {}

  // Reads what the leader before left, once in each term, but for jobs that `exists` denies (null:
  // of none). Nothing may be decided before. `now` as for Decode.
  kube::Answer<void> Load(LeaderClient& client, Time now, const Exists& exists = {});

  JobState Get(const JobKey& job) const;
  // What the budget counted, first of all for the leader before.
  SpentBudget spent() const;
  // In memory only.
  void Set(const JobKey& job, JobState state);
  // Also for the next leader, which is written before anything is done. Writes nothing when what is
  // kept there would not change. `spends`: when the budget is about to count it.
  kube::Answer<void> Save(LeaderClient& client, const JobKey& job, JobState state,
                          std::optional<Time> spends = {});
  // What was saved with `spends` did not happen: memory is as it was before, and what is kept for
  // the next leader with the next Save.
  void TakeBack(const JobKey& job, JobState before, bool spent);
  // Of all that `exists` denies. What is kept for the next leader goes with the next Save.
  void Keep(const Exists& exists);

 private:
  // What of a job is for the next leader.
  struct Entry {
    Time restarted{};
    std::string text;
  };

  void Put(const JobKey& job, JobState state) REQUIRES(mutex_);
  void Drop(const JobKey& job) REQUIRES(mutex_);
  std::string Text() const REQUIRES(mutex_);

  const std::string ns_;
  const std::string name_;
  Mutex writing_;  // one write at a time; before `mutex_`
  mutable Mutex mutex_;
  JobStates states_ GUARDED_BY(mutex_);
  std::map<JobKey, Entry> entries_ GUARDED_BY(mutex_);
  SpentBudget spent_ GUARDED_BY(mutex_);
  std::optional<Time> loaded_ GUARDED_BY(mutex_);  // for the term that began then
  uint64_t version_ GUARDED_BY(mutex_) = 0;        // of `entries_` and `spent_`
  uint64_t written_ GUARDED_BY(mutex_) = 0;        // the version that the ConfigMap has
};

}  // namespace mindgate::watcher::rescheduling
