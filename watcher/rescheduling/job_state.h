#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/time.h"
#include "json/json.h"
#include "json/value.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/response.h"

namespace mindgate::watcher::rescheduling {

// From the first pod of a job that goes because of a fault until the job has all pods again that it
// needs.
struct Restart {
  Time since{};  // the grace period counts from here
  FaultType reason = FaultType::kHealthy;
  bool by_force = false;   // with grace period 0 from the start
  bool timed_out = false;  // the pods' own grace period was too long
  Escalation escalation = Escalation::kFaultyPods;
  std::set<int64_t> super_pods{};  // the logical ones of the faulty pods
  // Known to one leader only. The next one finds the faulty pods again, since those go last.
  std::set<std::string> targets{};  // UIDs of the pods that go
  std::optional<Time> finished{};   // since when all of them are gone
  bool operator==(const Restart&) const = default;
};

// What is remembered of a job between two decisions. All but `seen` and what Restart says is kept
// when the watcher restarts.
struct JobState {
  std::string uid{};  // of the PodGroup: another one begins anew
  int64_t retries_used = 0;
  std::string retried_for{};        // UID of the failed pod that the last retry was for
  int64_t in_vain = 0;              // restarts, each of which replaced what the last one had made
  std::optional<Time> restarted{};  // when the last one began
  std::optional<Restart> restart{};
  std::map<std::string, Time> seen{};  // since when each faulty pod is known, by UID
  bool operator==(const JobState&) const = default;

  // Nothing of it would be missed.
  bool IsEmpty() const { return retries_used == 0 && !restarted && !restart; }
};

using JobStates = std::map<JobKey, JobState>;

// As it is kept: {"jobs": [{"namespace": "", "podGroup": "", "uid": "", ...}]}, by namespace and
// name. Of more than `max` those go first that were restarted longest ago.
json::Json Encode(const JobStates& states, size_t max);
// Takes what it understands: what a person broke must not stop rescheduling.
JobStates Decode(const json::Value& text);

}  // namespace mindgate::watcher::rescheduling
