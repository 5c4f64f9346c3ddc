#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "schemas/config.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/job_state.h"

// When which pods of a job go because of a fault. Pure: the same state and time give the same
// decision.
//
// It does what MindCluster's plugin does (mind-cluster:
// component/ascend-for-volcano/internal/rescheduling), and what the plugin gets wrong it does
// better: faults are looked at again in every round, not only before the first restart; retries and
// grace periods survive a restart of the watcher; wider scopes come after a time and not after a
// number of scheduling sessions; and a job whose replacements fail as well is restarted after
// growing pauses.
namespace mindgate::watcher::rescheduling {

struct DecisionOptions {
  // How long whoever else may act has time to, from when a fault is seen; 0: none. A deletion by
  // somebody else, or one that the plugin recorded, gives them more time, but not without end.
  std::chrono::seconds takeover_after{0};
  // From the end of a restart that left the job incomplete to one of a wider scope: after half of
  // it that of the rack blocks, after one such time that of the logical super pods, after two the
  // whole job. The plugin counts 3, 6 and 12 sessions, of one second each by default.
  std::chrono::seconds escalate_after{6};
  // How long pods may take that end by themselves: grace-over-time of the scheduler. Each has its
  // own time, from when it was chosen, or for one that somebody deleted before, from when that was
  // seen of it.
  std::chrono::seconds grace_over_time{900};
  schemas::EnforcementMode only_where_room = schemas::EnforcementMode::kOff;
  // Why pods of the job that a restart takes, and those that wait, would not all find a place;
  // empty: they would. Asked only when pods go that are not faulty. Null: they would.
  std::function<std::string(const std::vector<size_t>& going)> why_no_room{};
};

// The pause before the second restart in vain; each one after it is twice as long, up to the
// longest.
inline constexpr std::chrono::seconds kFirstPause{10};
inline constexpr std::chrono::seconds kLongestPause{300};

struct Decision {
  // kDelete, kEvict and kAnnotate are done to `tasks` now; the others say why nothing is done.
  // kAnnotate without tasks: all of them are marked.
  Step step = Step::kNothing;
  FaultType reason = FaultType::kHealthy;
  std::vector<FaultType> types{};  // of each task
  std::vector<size_t> tasks{};     // those that are not faulty come first
  bool asks_to_exit = false;       // the job, before its pods are evicted (GracefulExit)
  bool stops_asking = false;       // it was asked, and has its pods again
  bool begins = false;             // more pods go than before: this is what budgets count
  bool waits = false;              // something will be done, but not yet
  bool lacks_room = false;         // pods that are not faulty stay, as there is no room for all
  std::string why{};               // a sentence without its full stop, for people
  JobState next{};                 // to be kept before anything is done
  std::optional<Time> requeue_at{};
  bool operator==(const Decision&) const = default;
};

// The value of huawei.com/pod-status for a platform that restarts the pod itself:
// "Unhealthy-CardUnhealthy".
std::string PodStatus(FaultType type);

// `now` must not jump between two decisions of one leader: see TermClock. What the API server's
// clock says is compared with its own times only, but for deletionTimestamp, which is bounded.
Decision Decide(const Job& job, const Hardware& hardware, const JobState& state,
                const DecisionOptions& options, Time now);

}  // namespace mindgate::watcher::rescheduling
