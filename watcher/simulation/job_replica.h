#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/client.h"
#include "watcher/faults/known_faults.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/disruption_budget.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/reconcile_loop.h"
#include "watcher/rescheduling/faulty_nodes.h"
#include "watcher/rescheduling/isolation.h"
#include "watcher/rescheduling/job_index.h"
#include "watcher/rescheduling/reconciler.h"
#include "watcher/simulation/api_server.h"
#include "watcher/simulation/failing_calls.h"
#include "watcher/simulation/fault_text.h"
#include "watcher/simulation/manual_clock.h"
#include "watcher/simulation/scenario.h"
#include "watcher/simulation/watch_queue.h"

namespace mindgate::watcher::simulation {

// A replica of the watcher, as far as rescheduling goes: the reconcilers of `mindgate watch` and
// their loops, with watches that tell what they are told, perhaps late. The reconciler makes calls
// from several threads, one of which at a time reaches the API server; otherwise nothing happens
// but in Deliver and Reconcile.
class JobReplica final : public DecisionListener {
 public:
  static constexpr const char* kNamespace = "mindgate-system";
  static constexpr const char* kLease = "mindgate-watcher";
  static constexpr const char* kState = "mindgate-rescheduling";

  // What it did to a pod.
  enum class Deed : uint8_t { kDeleted, kEvicted, kMarked };
  struct Done {
    Deed deed = Deed::kDeleted;
    std::string pod;
  };

  // All must outlive it; `options` is read for each decision.
  JobReplica(const ManualClock& clock, ApiServer& server, const ScenarioOptions& options);
  ~JobReplica() override;
  JobReplica(const JobReplica&) = delete;
  JobReplica& operator=(const JobReplica&) = delete;

  // --- what its watches tell, each in order and as late as ScenarioOptions say ---

  // Null: it is gone.
  void PodChanged(const ApiServer::PodName& name, rescheduling::PodPtr after);
  void GroupChanged(const std::string& path, rescheduling::PodGroupPtr after);
  void NodeChanged(const std::string& node, bool there, bool ready);
  // Of the list that each watch begins with, without which nothing is decided.
  void NodeListed(const std::string& node) { nodes_[node] = true; }
  void ReportChanged(ReportMap report);
  // In a while, whatever else is told.
  void ReportLater(ReportMap report, std::chrono::seconds after);

  void EnqueueAll();
  // No replica leads until then, and what leads then remembers nothing but what was written.
  void LoseLeader(Time until);
  void FailCalls(const simulation::FailCalls& calls, Time until);

  // Each does what is due and returns whether there was anything.
  bool Deliver();
  bool Reconcile();
  std::optional<Time> next_due() const;

  std::vector<DecisionRecord> TakeRecords() { return std::exchange(records_, {}); }
  // By deed and pod.
  std::vector<Done> TakeDone();

 private:
  // Calls one at a time, and what became of them.
  class Calls;
  struct NoSleeper final : kube::Sleeper {
    bool Sleep(std::chrono::milliseconds, std::stop_token) override { return true; }
  };

  void Tell(DecisionRecord record) override { records_.push_back(std::move(record)); }
  // Whose delays are told apart. What comes in a while keeps nothing else waiting.
  enum class Watch : uint8_t { kPods, kPodGroups, kNodes, kFaultReports, kInAWhile };
  std::chrono::seconds DelayOf(Watch watch) const;
  void Later(Watch watch, std::function<void()> tell);
  void Take(const ReportMap& report);
  void FaultsChanged(const faults::KnownFaults::Nodes& nodes, const std::string& report);
  // Whether others' reports count now.
  bool RecountFaults();
  std::optional<Time> NextRecount() const;
  void EnqueueOn(const std::string& node);
  void Begin();
  bool leads() const { return clock_.WallNow() >= leads_from_; }
  std::optional<Term> term() const;
  bool Acts() const;
  rescheduling::FaultyNodes::Seen See(const std::string& node) const;
  ReconcileResult ReconcileJob(const rescheduling::JobKey& key, const Term& term);

  const ManualClock& clock_;
  const ScenarioOptions& options_;
  std::unique_ptr<Calls> calls_;
  NoSleeper sleeper_;
  kube::Client client_;
  log::Logger logger_;
  rescheduling::PodReader reader_;
  rescheduling::JobIndex index_;
  rescheduling::FaultyNodes faulty_nodes_;
  // Of the replica that leads.
  std::unique_ptr<DisruptionBudget> budget_;
  std::unique_ptr<DisruptionGate> gate_;
  std::unique_ptr<rescheduling::Reconciler> reconciler_;
  std::unique_ptr<rescheduling::Isolation> isolation_;
  ReconcileLoop<rescheduling::JobKey> loop_;
  ReconcileLoop<rescheduling::NodeKey> isolating_;
  WatchQueue told_;
  std::map<ApiServer::PodName, rescheduling::PodPtr> pods_;
  std::map<std::string, rescheduling::PodGroupPtr> groups_;
  std::map<std::string, bool, std::less<>> nodes_;  // that are there; whether each is ready
  faults::KnownFaults known_;
  Time leads_from_{};
  bool led_ = true;
  std::vector<DecisionRecord> records_;
};

}  // namespace mindgate::watcher::simulation
