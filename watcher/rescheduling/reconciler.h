#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/client.h"
#include "schemas/config.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/disruption_budget.h"
#include "watcher/frame/leader_client.h"
#include "watcher/frame/reconcile_loop.h"
#include "watcher/rescheduling/decision.h"
#include "watcher/rescheduling/fresh_look.h"
#include "watcher/rescheduling/state_store.h"

namespace mindgate::watcher::rescheduling {

// Decides about one job and carries the decision out: deletes pods on faulty hardware and failed
// pods, or marks them for a platform that does. `mindgate watch` and `mindgate simulate` run the
// same one.
//
// Before each step it looks at its Lease, the namespace, the PodGroup and its owners, the faulty
// pods and their nodes again, and decides about what it finds; asks the disruption budget when a
// restart begins; and writes down what it is about to do. Each call names the pod's uid, so that no
// other pod is met, and one that is repeated is harmless. Safe from many threads, one at a time to
// a job.
class Reconciler {
 public:
  struct Options {
    std::function<schemas::Rescheduling()> settings;
    std::function<std::chrono::seconds()> grace_over_time;
    bool dry_run = false;  // as mode observe, whatever the settings say
    // Where its Lease is and where it keeps what the next leader must know; empty: nowhere.
    std::string ns{};
    std::string lease{};
    std::string state = "mindgate-rescheduling";
    // What a leader before kept of jobs that this denies is forgotten; null: of none.
    std::function<bool(const JobKey&)> exists{};
    ReportsOf reports_of{};
  };

  // What it is told at the moment of a decision.
  struct Inputs {
    std::optional<Job> job;  // nothing: there is no such PodGroup
    std::shared_ptr<const faults::FaultsByNode> faults;
    std::set<std::string, std::less<>> not_ready{};  // of the nodes of its pods; also what is gone
    std::string stopped{};  // why nothing may be restarted in the whole cluster now
  };

  struct Counts {
    uint64_t looks = 0;
    // Pods, by fault type and by what was done: "deleted", "evicted", "annotated".
    std::map<std::pair<std::string, std::string>, uint64_t> pods{};
    uint64_t restarts = 0;  // of jobs, begun or widened
    uint64_t failed = 0;    // calls of the API server
  };

  // `writer` as for LeaderClient. All must outlive it.
  Reconciler(kube::Client& writer, const Clock& clock, log::Logger& logger,
             DecisionListener& decisions, DisruptionBudget& budget, Options options);

  ReconcileResult Reconcile(const JobKey& key, const Inputs& inputs, const Term& term);
  // Another leader may act: what was remembered may no longer be true.
  void Forget(const JobKey& key);
  // Of jobs that `exists` denies nothing is remembered.
  void Keep(const std::function<bool(const JobKey&)>& exists);

  Counts counts() const;

 private:
  struct Run;
  enum class Done : uint8_t {
    kYes,
    kMoot,  // it need not be done: the watch will tell why
    kNo,    // to be tried again
  };

  bool enforced(const schemas::Rescheduling& settings) const;
  std::string WhyNot(Run& run);
  std::string TakeBudget(Run& run);
  static std::string BudgetIsUsedUp(const Run& run);
  std::optional<Time> RestartedByOther(Run& run);
  bool CarryOut(Run& run);
  bool AskToExit(Run& run, bool exits);
  Done Act(Run& run, size_t task);
  Done Judge(const Run& run, const Task& task, const kube::Answer<void>& answer);
  void Tell(Run& run, bool done, const std::string& reason);
  void TellOnce(Run& run, bool done, const std::string& reason);

  kube::Client& writer_;
  const Clock& clock_;
  log::Logger& logger_;
  DecisionListener& decisions_;
  DisruptionBudget& budget_;
  const Options options_;
  StateStore store_;

  mutable Mutex mutex_;
  std::map<JobKey, std::string> said_ GUARDED_BY(mutex_);  // what was told the last time
  Counts counts_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher::rescheduling
