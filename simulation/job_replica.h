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

#include "faults/known_faults.h"
#include "kube/client.h"
#include "simulation/api_server.h"
#include "simulation/failing_calls.h"
#include "simulation/fault_text.h"
#include "simulation/manual_clock.h"
#include "simulation/scenario.h"
#include "simulation/watch_queue.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/disruption_budget.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/reconcile_loop.h"
#include "watcher/rescheduling/faulty_nodes.h"
#include "watcher/rescheduling/isolation.h"
#include "watcher/rescheduling/job_index.h"
#include "watcher/rescheduling/reconciler.h"

namespace mindgate::simulation {

// A replica of the watcher, as far as rescheduling goes: the reconcilers of `mindgate watch` and
// their loops, with watches that tell what they are told, perhaps late. The reconciler makes calls
// from several threads, one of which at a time reaches the API server; otherwise nothing happens
// but in Deliver and Reconcile.
class JobReplica final : public watcher::DecisionListener {
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
  void PodChanged(const ApiServer::PodName& name, watcher::rescheduling::PodPtr after);
  void GroupChanged(const std::string& path, watcher::rescheduling::PodGroupPtr after);
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

  std::vector<watcher::DecisionRecord> TakeRecords() { return std::exchange(records_, {}); }
  // By deed and pod.
  std::vector<Done> TakeDone();

 private:
  // Calls one at a time, and what became of them.
  class Calls;
  struct NoSleeper final : kube::Sleeper {
    bool Sleep(std::chrono::milliseconds, std::stop_token) override { return true; }
  };

  void Tell(watcher::DecisionRecord record) override { records_.push_back(std::move(record)); }
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
  std::optional<watcher::Term> term() const;
  bool Acts() const;
  watcher::rescheduling::FaultyNodes::Seen See(const std::string& node) const;
  watcher::ReconcileResult ReconcileJob(const watcher::rescheduling::JobKey& key,
                                        const watcher::Term& term);

  const ManualClock& clock_;
  const ScenarioOptions& options_;
  std::unique_ptr<Calls> calls_;
  NoSleeper sleeper_;
  kube::Client client_;
  log::Logger logger_;
  watcher::rescheduling::PodReader reader_;
  watcher::rescheduling::JobIndex index_;
  watcher::rescheduling::FaultyNodes faulty_nodes_;
  // Of the replica that leads.
  std::unique_ptr<watcher::DisruptionBudget> budget_;
  std::unique_ptr<watcher::DisruptionGate> gate_;
  std::unique_ptr<watcher::rescheduling::Reconciler> reconciler_;
  std::unique_ptr<watcher::rescheduling::Isolation> isolation_;
  watcher::ReconcileLoop<watcher::rescheduling::JobKey> loop_;
  watcher::ReconcileLoop<watcher::rescheduling::NodeKey> isolating_;
  WatchQueue told_;
  std::map<ApiServer::PodName, watcher::rescheduling::PodPtr> pods_;
  std::map<std::string, watcher::rescheduling::PodGroupPtr> groups_;
  std::map<std::string, bool, std::less<>> nodes_;  // that are there; whether each is ready
  faults::KnownFaults known_;
  Time leads_from_{};
  bool led_ = true;
  std::vector<watcher::DecisionRecord> records_;
};

}  // namespace mindgate::simulation
