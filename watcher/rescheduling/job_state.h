#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/time.h"
#include "json/json.h"
#include "json/value.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/response.h"

namespace mindgate::watcher::rescheduling {

// What tells a pod from the others of its job: the beginning of its UID, as what is kept is to stay
// small. 48 bits of it are random.
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
// the next leader knows the first few (kMost... in job_state.cc): one ConfigMap of 1 MiB holds all
// jobs, and one of them should take no more than 640 bytes.
struct JobState {
  std::string uid{};  // of the PodGroup: another one begins anew
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

}  // namespace mindgate::watcher::rescheduling
