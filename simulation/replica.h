#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "faults/fault_store.h"
#include "kube/client.h"
#include "simulation/api_server.h"
#include "simulation/scenario.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/disruption_limits.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/nodes.h"
#include "watcher/rescheduling/reconciler.h"
#include "watcher/scaling/instances.h"
#include "watcher/scaling/reconciler.h"

namespace mindgate::simulation {

// What watches report to a replica, each after a delay and no sooner than what the same watch
// reported before.
class WatchQueue {
 public:
  explicit WatchQueue(const ManualClock& clock) : clock_(clock) {}

  // `watch` is one of several, by any number.
  void Push(std::chrono::seconds delay, std::function<void()> report, int watch = 0) {
    Time& last = last_[watch];
    last = std::max(clock_.WallNow() + delay, last);
    reports_.emplace(last, std::move(report));
  }

  // Delivers what is due and returns whether there was anything.
  bool Deliver() {
    bool any = false;
    while (!reports_.empty() && reports_.begin()->first <= clock_.WallNow()) {
      const auto next = reports_.extract(reports_.begin());
      next.mapped()();
      any = true;
    }
    return any;
  }

  std::optional<Time> next_due() const {
    return reports_.empty() ? std::nullopt : std::optional(reports_.begin()->first);
  }

 private:
  const ManualClock& clock_;
  std::map<int, Time> last_;
  std::multimap<Time, std::function<void()>> reports_;  // in order of coming, where the time is one
};

// A ConfigMap as `mindgate watch` keeps it.
struct ReportMap {
  faults::Writer writer{};
  std::string name;                                // with its namespace
  std::optional<faults::ReportSummary> summary{};  // nothing: there is none any more
};

// A replica of the watcher: the reconcilers of `mindgate watch` for elastic scaling, rescheduling
// and isolation with their loops, behind one gate with one budget, and watches that report what
// happens, perhaps late. Rescheduling makes calls from several threads; otherwise nothing happens
// but in Deliver and Reconcile.
class Replica final : public watcher::DecisionListener {
 public:
  static constexpr const char* kNamespace = "mindgate-system";
  static constexpr const char* kLease = "mindgate-watcher";
  static constexpr const char* kState = "mindgate-rescheduling";

  // A Node.
  struct NodeView {
    bool exists = true;
    bool ready = true;
    bool usable = true;  // for new pods
    int64_t npus = 0;
  };

  // All must outlive it; `options` is read for each decision.
  Replica(const ManualClock& clock, ApiServer& server, const ScenarioOptions& options);

  // --- what its watches report, each in order and as late as ScenarioOptions say ---

  // A pod as it is now, as scaling reads it too (null: it is none of an instance); null: it is
  // gone. `delay` comes on top.
  void PodChanged(const ApiServer::PodName& name, watcher::scaling::PodPtr of_instance,
                  const json::Value* pod, std::chrono::seconds delay);
  // Null: it is gone.
  void PodGroupChanged(const std::string& path, const json::Json* object);
  void NodeChanged(const std::string& node, const NodeView& view);
  // Of the list that each watch begins with, without which nothing is decided.
  void NodeListed(const std::string& node) { nodes_[node] = NodeView(); }
  // Null: the ConfigMap is gone.
  void RuleChanged(const RuleKey& rule, std::shared_ptr<const watcher::scaling::RuleState> state);
  void ReportChanged(ReportMap report);
  // Whatever else is reported until then.
  void ReportAfter(ReportMap report, std::chrono::seconds delay);

  // All is decided about again: the options are others.
  void EnqueueAll();
  // No replica leads until then, and what leads then remembers nothing but what was written.
  void LoseLeader(Time until);
  void FailCalls(const FailCalls& calls, Time until) { calls_.Fail(calls, until); }

  // Each does what is due and returns whether there was anything.
  bool Deliver();
  bool Reconcile();
  // When one of them has something to do, in whole seconds.
  std::optional<Time> next_due() const;

  // What it decided and did since the last call.
  std::vector<watcher::DecisionRecord> TakeRecords() { return std::exchange(records_, {}); }
  std::vector<PodAction> TakeActions() { return calls_.TakeActions(); }

 private:
  // Nobody waits in a simulation.
  struct NoSleeper final : kube::Sleeper {
    bool Sleep(std::chrono::milliseconds, std::stop_token) override { return true; }
  };
  struct Pod {
    watcher::scaling::PodPtr of_instance;
    watcher::rescheduling::PodPtr of_job;
  };
  // What a leader has and the next one begins without.
  struct Leading {
    explicit Leading(Replica& replica);
    watcher::DisruptionBudget budget;
    watcher::DisruptionGate gate;
    watcher::scaling::Reconciler scaling;
    watcher::rescheduling::Reconciler rescheduling;
    watcher::rescheduling::Isolation isolation;
  };

  void Report(watcher::DecisionRecord record) override { records_.push_back(std::move(record)); }
  // Whose delays differ. What comes after a time of its own keeps nothing else waiting.
  enum class Watch : uint8_t { kPods, kPodGroups, kNodes, kRules, kFaultReports, kOwnTime };
  void DeliverAfter(Watch watch, std::function<void()> report,
                    std::chrono::seconds delay = std::chrono::seconds(0));
  void Read(const ReportMap& report);
  void FaultsChanged(const faults::KnownFaults::Nodes& nodes, const std::string& report);
  // Whether others' reports count now.
  bool RecountFaults();
  std::optional<Time> NextRecount() const;
  void Enqueue(const std::vector<watcher::scaling::ServiceKey>& services);
  void Enqueue(const std::vector<watcher::rescheduling::JobKey>& jobs);
  bool leads() const { return clock_.WallNow() >= leads_from_; }
  std::optional<watcher::Term> term() const;
  watcher::rescheduling::FaultyNodes::Seen See(const std::string& node) const;
  std::string WhyNoRoom(const watcher::rescheduling::Job& job, const std::vector<size_t>& going,
                        const faults::FaultsByNode& faults) const;
  watcher::rescheduling::Reconciler::Inputs InputsOf(
      const watcher::rescheduling::JobKey& key) const;

  const ManualClock& clock_;
  const ScenarioOptions& options_;
  Calls calls_;
  NoSleeper sleeper_;
  kube::Client client_;
  log::Logger logger_;
  watcher::rescheduling::PodReader reader_;
  watcher::scaling::ServiceIndex services_;
  watcher::rescheduling::JobIndex jobs_;
  watcher::rescheduling::FaultyNodes faulty_nodes_;
  std::unique_ptr<Leading> leading_;
  watcher::ReconcileLoop<watcher::scaling::ServiceKey> scaling_;
  watcher::ReconcileLoop<watcher::rescheduling::JobKey> rescheduling_;
  watcher::ReconcileLoop<watcher::rescheduling::NodeKey> isolating_;
  WatchQueue reports_;
  std::map<ApiServer::PodName, Pod> pods_;
  std::map<std::string, watcher::rescheduling::PodGroupPtr> groups_;
  std::map<std::string, NodeView, std::less<>> nodes_;  // that exist
  watcher::scaling::NodeNames unusable_;
  faults::KnownFaults faults_;
  Time leads_from_{};
  bool led_ = true;
  std::vector<watcher::DecisionRecord> records_;
};

}  // namespace mindgate::simulation
