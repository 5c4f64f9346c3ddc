#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/snapshot.h"
#include "base/threads.h"
#include "base/time.h"
#include "faults/feed.h"
#include "kube/client.h"
#include "kube/informer.h"
#include "schemas/config.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/informers.h"
#include "watcher/frame/leader_client.h"
#include "watcher/frame/leadership.h"
#include "watcher/rescheduling/decision.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/nodes.h"
#include "watcher/rescheduling/plugin.h"
#include "watcher/rescheduling/state.h"

namespace mindgate::watcher::rescheduling {

// Decides about one job and carries the decision out: deletes pods on faulty hardware and failed
// pods, or marks them for a platform that does. `mindgate watch` and `mindgate simulate` run the
// same one.
//
// Before each step it reads the PodGroup and its owners, its pods and their nodes again and decides
// about what it finds; writes down what it is about to do; and goes through the gate, which asks
// for brake, pause, opt-outs and, when a restart begins, the budget. Each call names the pod's uid,
// so that no other pod is met, and one that is repeated is harmless. Safe from many threads, one at
// a time to a job.
class Reconciler {
 public:
  struct Options {
    std::function<schemas::Rescheduling()> settings;
    std::function<std::chrono::seconds()> grace_over_time;
    bool dry_run = false;  // as mode observe, whatever the settings say
    // Where it keeps what the next leader must know; empty: nowhere.
    std::string ns{};
    std::string state = "mindgate-rescheduling";
    // What a leader before kept of jobs that this denies is forgotten; null: of none.
    std::function<bool(const JobKey&)> exists{};
    ReportsOf reports_of{};
    IsLost is_lost{};
    // How long each step of a recovery took; null: nobody asks.
    Recoveries::Observe observe_step{};
    // DecisionOptions::why_no_room, of a job; null: nobody asks.
    std::function<std::string(const Job& job, const std::vector<size_t>& going,
                              const faults::FaultsByNode& faults)>
        why_no_room{};
  };

  // What it is given at the moment of a decision.
  struct Inputs {
    std::optional<Job> job;  // nothing: there is no such PodGroup
    std::shared_ptr<const faults::FaultsByNode> faults;
    std::set<std::string, std::less<>> not_ready{};  // of the nodes of its pods; also what is gone
  };

  struct Counts {
    uint64_t looks = 0;
    // Pods, by fault type and by what was done: "deleted", "evicted", "annotated".
    std::map<std::pair<std::string, std::string>, uint64_t> pods{};
    uint64_t restarts = 0;        // of jobs, begun or widened
    uint64_t plugin_differs = 0;  // jobs of which the plugin called other pods faulty
    uint64_t failed = 0;          // calls of the API server
  };

  // All must outlive it.
  Reconciler(Writer writer, const Clock& clock, log::Logger& logger, DecisionListener& decisions,
             DisruptionGate& gate, Options options);

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
    kNoLongerNeeded,  // it need not be done: the watch will report why
    kNo,              // to be tried again
  };

  void ForgetReported(const JobKey& key);
  bool enforced(const schemas::Rescheduling& settings) const;
  bool LoadState(Run& run);
  void MakeDecision(Run& run);
  void Stay(Run& run);
  ReconcileResult DoNothing(Run& run);
  ReconcileResult Wait(Run& run, const Refusal& refusal);
  std::optional<ReconcileResult> DecideAfresh(Run& run);
  ReconcileResult Restart(Run& run);
  DisruptionGate::Request RequestOf(const Run& run) const;
  Refusal MayLook(Run& run);
  void InheritBudget(Run& run);
  std::optional<Time> RestartedByOther(Run& run);
  Refusal CarryOut(Run& run, std::vector<Done>& outcomes);
  bool Finish(Run& run, const std::vector<size_t>& tasks, const std::vector<Done>& outcomes);
  bool AskToExit(Run& run, bool exits);
  Done Act(Run& run, DestructiveClient& client, size_t task);
  Done Evaluate(Run& run, const Task& task, const kube::Answer<void>& answer);
  void Report(Run& run, bool done, const std::string& reason);
  void ReportOnce(Run& run, bool done, const std::string& reason);

  const Writer writer_;
  const Clock& clock_;
  TermClock term_clock_{clock_};
  log::Logger& logger_;
  DecisionListener& decisions_;
  DisruptionGate& gate_;
  const Options options_;
  StateStore store_;
  PluginCanary canary_{logger_, decisions_};
  Recoveries recoveries_{options_.observe_step};

  mutable Mutex mutex_;
  std::map<JobKey, std::string> reported_ GUARDED_BY(mutex_);  // what was reported last
  std::optional<Time> inherited_ GUARDED_BY(mutex_);           // the budget, for the term of then
  Counts counts_ GUARDED_BY(mutex_);
};

// Follows faults of nodes, chips and switches, the pods and PodGroups of all namespaces and the
// nodes, and reconciles each job that something happened to. It acts only while it leads, in mode
// takeover or enforce, and while all of them are current: what is not known is not faulty.
class ReschedulingController final : public Controller {
 public:
  struct Options {
    std::function<schemas::Rescheduling()> settings;  // read for each decision
    std::function<std::chrono::seconds()> grace_over_time;
    std::function<std::optional<Term>()> term;
    bool dry_run = false;
    std::string ns{};  // of what it keeps; empty: it keeps nothing
    std::function<void(std::chrono::nanoseconds)> observe_latency{};  // from a change to its calls
    Recoveries::Observe observe_step{};  // how long each step of a recovery took
    int workers = 4;
    uint64_t seed = 1;
  };

  // `client` reads and watches. `pods` must not run yet. It sets the brake of the gate. All must
  // outlive it.
  ReschedulingController(kube::Client& client, Writer writer, kube::Sleeper& sleeper,
                         const Clock& clock, log::Logger& logger, PodInformer& pods,
                         DecisionLog& decisions, DisruptionGate& gate, Options options);

  std::string_view name() const override { return controllers::kRescheduling; }
  bool enabled() const override {
    return options_.settings().mode != schemas::ReschedulingMode::kOff;
  }
  void Run(const std::stop_token& stop) override;
  void EnqueueAll() override;
  std::string unready() const override;
  void AddMetrics(std::vector<prometheus::MetricFamily>& families) const override;
  size_t left_out() const override { return feed_.left_out() + groups_.left_out(); }

  bool current() const;
  Reconciler::Counts counts() const { return reconciler_.counts(); }

 private:
  using Groups = kube::Informer<PodGroupPtr>;

  Reconciler::Options ReconcilerOptions() const;
  ReconcileLoop<JobKey>::Options LoopOptions();
  Isolation::Options IsolationOptions();
  ReconcileLoop<NodeKey>::Options IsolationLoopOptions();
  bool Acts() const;
  void EnqueueNodes();
  faults::Feed::Options FeedOptions();
  NodeInformer::Options NodeOptions();
  Groups::Options GroupOptions();
  void SubscribeTo(PodInformer& pods);
  void BecameCurrent();
  void EnqueueJobsOn(const std::string& node);
  FaultyNodes::Seen See(const std::string& node) const;
  bool IsLost(const Task& task) const;
  std::string Stopped() const;
  ReconcileResult Reconcile(const JobKey& key, const Term& term);

  log::Logger& logger_;
  const Options options_;
  JobIndex index_;
  FaultyNodes faulty_nodes_;  // not Ready, gone with pods left, unhealthy, with an unhealthy chip
  Mutex counting_;            // while reported nodes are counted
  // What is reported, as far as its nodes were counted: nothing is decided about the rest.
  Snapshot<faults::FaultsByNode> counted_{std::make_shared<const faults::FaultsByNode>()};
  PodReader reader_;
  Reconciler reconciler_;
  ReconcileLoop<JobKey> loop_;
  Isolation isolation_;
  ReconcileLoop<NodeKey> isolating_;
  PodInformer& pods_;
  Groups groups_;
  NodeInformer nodes_;
  faults::Feed feed_;
};

}  // namespace mindgate::watcher::rescheduling
