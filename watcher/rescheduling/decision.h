#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "faults/fault_store.h"
#include "schemas/config.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/leader_client.h"
#include "watcher/frame/workers.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/state.h"

namespace mindgate::watcher::rescheduling {

// When which pods of a job go because of a fault. Pure: the same state and time give the same
// decision.
//
// It does what MindCluster's plugin does (mind-cluster:
// component/ascend-for-volcano/internal/rescheduling), and what the plugin gets wrong it does
// better: faults are evaluated again in every round, not only before the first restart; retries and
// grace periods survive a restart of the watcher; wider scopes come after a time and not after a
// number of scheduling sessions; and a job whose replacements fail as well is restarted after
// growing pauses.

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
  std::vector<FaultType> types{};       // of each task
  std::vector<size_t> tasks{};          // those that are not faulty come first
  bool requests_graceful_exit = false;  // the job, before its pods are evicted (GracefulExit)
  bool stops_asking = false;            // it was asked, and has its pods again
  bool counts_against_budget = false;   // more pods go than before: this is what budgets count
  bool is_pending = false;              // something will be done, but not yet
  bool lacks_room = false;  // pods that are not faulty stay, as there is no room for all
  std::string why{};        // a sentence without its full stop, for people
  JobState next{};          // to be kept before anything is done
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

// What a job is at this moment, as the API server and not the watches report it.
struct Revalidation {
  Job job{};                                       // as its PodGroup and its pods are
  std::set<std::string, std::less<>> not_ready{};  // of those given, the nodes that still are
  std::string changed{};                           // what is another one than was decided about
  std::string disabled_by_owner{};                 // by whose owner nothing may be done
  bool watch_lags = false;                         // what changed is on its way by a watch
  bool failed = false;                             // something could not be read
  PodGroupState group{};                           // that the job is of
};

// The reports on which it rests that this is known of a node, as the watches reported them; nothing
// when they have reported something else since. Null: it rests on none.
using ReportsOf = std::function<std::optional<std::vector<faults::ReportVersion>>(
    const std::string& node, const faults::NodeFaults& known)>;

// Whether Kubernetes has lost the node of the task, as the watches report it by now. Null: nobody
// asks.
using IsLost = std::function<bool(const Task& task)>;

// Up to so many pods are read one by one. Of the pods of a larger job only those that the step
// rests on are; labels, annotations and UIDs of the others come with one list of the namespace's
// metadata.
inline constexpr size_t kReadOneByOne = 64;

// Reads again what a decision rests on: the PodGroup and its owners, its pods, whose labels are its
// policy and any of which may opt out, and the nodes that Kubernetes lost, since pods and nodes
// come by different watches and either may be late. Of the reports of faults it asks for the
// version: when it is another one, their watch is late. What need not wait for each other is read
// at the same time, by `calls`.
Revalidation Revalidate(LeaderClient& client, CallThreads& calls, const JobKey& key, const Job& job,
                        const Decision& decision, const Hardware& hardware,
                        const ReportsOf& reports_of = {});

// Whether the watches still report the faults of hardware that the decision rests on. Calls nobody.
bool IsStillReported(const Job& job, const Decision& decision, const Hardware& hardware,
                     const ReportsOf& reports_of, const IsLost& is_lost);

// The question right before a call: whether namespace, PodGroup and owners, and with `pods` what
// the pods say, are as they were in the look.
Refusal IsStillSo(LeaderClient& client, CallThreads& calls, const JobKey& key,
                  const PodGroupState& seen, const Job& job, bool pods);

}  // namespace mindgate::watcher::rescheduling
