#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "watcher/rescheduling/classification.h"
#include "watcher/rescheduling/policy.h"

namespace mindgate::watcher::rescheduling {

// Whether the others cannot go on without the pod.
bool IsMaster(const Task& task, const FaultPolicy& policy);

// The rack block of the pod; nothing: it has none, or no rank yet.
std::optional<int64_t> RackOf(const Task& task, const FaultPolicy& policy);
// Likewise its logical super pod, or with schedule_policy multilevel its block of the first level.
std::optional<int64_t> SuperPodOf(const Task& task, const FaultPolicy& policy);

// The tasks that go, by their index: never more than FaultPolicy::widest. A fault of the master
// takes the whole job, and so does a wider scope that reaches it; jobs limited to their faulty pods
// never lose others (mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go).
std::vector<size_t> ScopeOf(const std::vector<Task>& tasks, const std::vector<FaultType>& types,
                            const FaultPolicy& policy, Escalation escalation);

enum class Step : uint8_t {
  kNothing,
  kDelete,    // at once, with grace period 0
  kEvict,     // with the pods' own grace period, and by force when that takes too long
  kAnnotate,  // huawei.com/pod-status, for a platform that acts on it
  kFails,     // the plugin tries and cannot, in every session
};

struct Response {
  Step step = Step::kNothing;
  FaultType reason = FaultType::kHealthy;
  std::vector<size_t> tasks{};  // what the step is done to
  std::string why{};            // a sentence without its full stop, for people
  bool asks_to_exit = false;    // the job itself before its pods: kEvict because of sub-health
  bool operator==(const Response&) const = default;
};

// What happens to a job whose tasks are of these types. `retries_left` as far as it is known; the
// label says how many there are at first.
Response Respond(const std::vector<Task>& tasks, const std::vector<FaultType>& types,
                 const FaultPolicy& policy, std::optional<int64_t> retries_left = std::nullopt,
                 Escalation escalation = Escalation::kFaultyPods);

}  // namespace mindgate::watcher::rescheduling
