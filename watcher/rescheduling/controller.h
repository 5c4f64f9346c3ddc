#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/snapshot.h"
#include "faults/feed.h"
#include "kube/client.h"
#include "kube/informer.h"
#include "schemas/config.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/nodes.h"
#include "watcher/frame/pods.h"
#include "watcher/frame/reconcile_loop.h"
#include "watcher/rescheduling/faulty_nodes.h"
#include "watcher/rescheduling/isolation.h"
#include "watcher/rescheduling/job_index.h"
#include "watcher/rescheduling/reconciler.h"

namespace mindgate::watcher::rescheduling {

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

  std::string_view name() const override { return "rescheduling"; }
  bool wanted() const override {
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
  std::string Stopped() const;
  ReconcileResult Reconcile(const JobKey& key, const Term& term);

  log::Logger& logger_;
  const Options options_;
  JobIndex index_;
  FaultyNodes faulty_nodes_;  // not Ready, gone with pods left, unhealthy, with an unhealthy chip
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
