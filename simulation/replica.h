#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/client.h"
#include "simulation/api_server.h"
#include "simulation/failing_calls.h"
#include "simulation/manual_clock.h"
#include "simulation/scenario.h"
#include "simulation/watch_queue.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/disruption_budget.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/leader_client.h"
#include "watcher/frame/reconcile_loop.h"
#include "watcher/scaling/reconciler.h"
#include "watcher/scaling/service_index.h"

namespace mindgate::simulation {

// A replica of the watcher, as far as elastic scaling goes: the reconciler of `mindgate watch` and
// its loop, with watches that tell what they are told, perhaps late. One thread; nothing happens
// but in Deliver and Reconcile.
class Replica final : public watcher::DecisionListener {
 public:
  // All must outlive it; `options` is read for each decision.
  Replica(const ManualClock& clock, ApiServer& server, const ScenarioOptions& options);

  // --- what its watches tell, after ScenarioOptions::watch_delay and no sooner than what they told
  // before ---

  // A pod as it is now; null: it is gone. `delay` comes on top.
  void PodChanged(const ApiServer::PodName& name, watcher::scaling::PodPtr after,
                  std::chrono::seconds delay = std::chrono::seconds(0));
  // Null: the ConfigMap is gone.
  void RuleChanged(const RuleKey& rule, std::shared_ptr<const watcher::scaling::RuleState> state);
  void NodesChanged(watcher::scaling::NodeNames unusable);

  // All services are decided about again: the options are others.
  void EnqueueAll();
  // No replica leads until then, and what leads then remembers nothing.
  void LoseLeader(Time until);
  void FailCalls(const FailCalls& calls, Time until);

  // Each does what is due and returns whether there was anything.
  bool Deliver();
  bool Reconcile();
  // When one of them has something to do, in whole seconds.
  std::optional<Time> next_due() const;

  // What it has told since the last call.
  std::vector<watcher::DecisionRecord> TakeRecords() { return std::exchange(records_, {}); }

 private:
  // Nobody waits in a simulation.
  struct NoSleeper final : kube::Sleeper {
    bool Sleep(std::chrono::milliseconds, std::stop_token) override { return true; }
  };

  void Tell(watcher::DecisionRecord record) override { records_.push_back(std::move(record)); }
  void Later(std::chrono::seconds delay, std::function<void()> tell);
  void Enqueue(const std::vector<watcher::scaling::ServiceKey>& services);
  bool leads() const { return clock_.WallNow() >= leads_from_; }
  watcher::ReconcileLoop<watcher::scaling::ServiceKey>::Options LoopOptions();

  const ManualClock& clock_;
  const ScenarioOptions& options_;
  FailingCalls failing_;
  NoSleeper sleeper_;
  kube::Client client_;
  log::Logger logger_;
  watcher::DisruptionBudget budget_;
  watcher::DisruptionGate gate_;
  watcher::scaling::ServiceIndex index_;
  watcher::scaling::Reconciler reconciler_;
  watcher::ReconcileLoop<watcher::scaling::ServiceKey> loop_;
  WatchQueue told_;
  std::map<ApiServer::PodName, watcher::scaling::PodPtr> seen_;
  watcher::scaling::NodeNames unusable_;
  Time leads_from_{};
  bool led_ = true;
  std::vector<watcher::DecisionRecord> records_;
};

}  // namespace mindgate::simulation
