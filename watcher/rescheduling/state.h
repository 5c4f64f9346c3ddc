#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "base/time.h"
#include "json/value.h"
#include "watcher/frame/leader_client.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/policy.h"

namespace mindgate::watcher::rescheduling {

// What distinguishes a pod from the others of its job: the beginning of its UID, as what is kept is
// to stay small. 48 bits of it are random.
std::string ShortUid(std::string_view uid);

// A pod that goes.
struct Target {
  Time since{};  // its grace period counts from here
  bool by_force = false;
  bool operator==(const Target&) const = default;
};

// Which pods were chosen when the last of them were, in few words: never more than were. The next
// leader needs it to finish those that hang; what still is faulty it finds again, as that goes
// last.
struct ChosenPods {
  std::optional<Escalation> all{};  // the older pods of this scope
  std::set<std::string> pods{};     // others, by ShortUid
  bool operator==(const ChosenPods&) const = default;
};

// From the first pod of a job that goes because of a fault until the job has all pods again that it
// needs.
struct Restart {
  Time since{};  // when the last of its pods were chosen
  FaultType reason = FaultType::kHealthy;
  bool by_force = false;  // all of them with grace period 0
  Escalation escalation = Escalation::kFaultyPods;
  // The blocks of the faulty pods.
  std::set<int64_t> racks{};
  std::set<int64_t> super_pods{};
  std::optional<Time> finished{};  // since when all pods that go are gone
  ChosenPods chosen{};
  // By UID. Known to one leader only; the next one makes its own of `chosen`.
  std::map<std::string, Target> targets{};
  bool inherited = false;  // that is still to be done
  bool operator==(const Restart&) const = default;
};

// A restart by somebody else, as that one recorded it.
struct OtherRestart {
  Time recorded{};  // by its own clock
  Time since{};     // by ours: not later than when the record was seen first
  bool operator==(const OtherRestart&) const = default;
};

// Since when what is wrong with a job is known.
struct Seen {
  std::map<std::string, Time> faulty{};  // each faulty pod, by ShortUid
  std::map<std::string, Time> going{};   // likewise, that it is being deleted; one leader only
  std::optional<OtherRestart> other{};   // one leader only
  bool empty() const { return faulty.empty(); }
  bool operator==(const Seen&) const = default;
};

// What is remembered of a job between two decisions, and by the next leader. Of what may be many
// the next leader knows the first few (kMost... in state.cc): one ConfigMap of 1 MiB holds all
// jobs, and one of them should take no more than 640 bytes.
struct JobState {
  std::string uid{};  // of the PodGroup: another one begins again
  int64_t retries_used = 0;
  std::string retried_for{};        // ShortUid of the failed pod that the last retry was for
  int64_t futile_restarts = 0;      // restarts, each of which replaced what the last one had made
  std::optional<Time> restarted{};  // when the last one began
  // When the youngest pod that was there then was created, by the API server's clock. Pods that
  // were created later came after it, whatever our clock says.
  std::optional<Time> youngest{};
  std::optional<Restart> restart{};
  Seen seen{};
  bool operator==(const JobState&) const = default;

  // Nothing of it would be missed.
  bool IsEmpty() const { return retries_used == 0 && !restarted && !restart && seen.empty(); }
};

using JobStates = std::map<JobKey, JobState>;

// As it is kept: {"jobs": [{"namespace": "", "podGroup": "", "uid": "", ...}]}, by namespace and
// name. Of more than `max` those go first that were restarted longest ago.
json::Json Encode(const JobStates& states, size_t max);
// Takes what it understands: what a person broke must not stop rescheduling. The times were written
// by the clock of another host: one after `now` counts as `now`. One that is too early stays, so
// that a grace period may be shorter by the difference of the two clocks, once after a failover.
JobStates Decode(const json::Value& text, Time now);

// What the budget counted within the last minute, for the next leader: also of jobs that are gone
// by then, and of those that were restarted more than once. Not safe from many threads.
class SpentBudget {
 public:
  // More than anybody may spend within a minute (restartsPerMinute), so that what a person wrote
  // stays small.
  static constexpr size_t kMost = 1000;

  // Forgets what is older than a minute.
  void Add(const std::string& ns, Time now);
  // The newest one of the namespace.
  void TakeBack(const std::string& ns);

  bool empty() const { return times_.empty(); }
  // In order of time.
  const std::map<std::string, std::vector<Time>>& times() const { return times_; }

  // {"<namespace>": ["2026-01-01T00:00:00Z"]}.
  json::Json Encode() const;
  // Takes what it understands. Clocks of two machines differ, so that only times of the leader
  // before are compared: the newest one counts as if it were `now`.
  static SpentBudget Decode(const json::Value* object, Time now);

 private:
  std::map<std::string, std::vector<Time>> times_;
};

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
