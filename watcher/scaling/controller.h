#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "kube/client.h"
#include "schemas/config.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/informers.h"
#include "watcher/scaling/reconciler.h"
#include "watcher/scaling/service_feed.h"

namespace mindgate::watcher::scaling {

// Elastic scaling: follows services and reconciles each that something happened to. Every replica
// of the watcher knows all services; only the one that leads decides, and it acts only in the mode
// enforce.
class ScalingController final : public Controller {
 public:
  // Series of the metrics: services beyond it are only counted.
  static constexpr size_t kMaxServices = 2000;
  static constexpr size_t kMaxGroups = 10'000;  // of all services together

  struct Options {
    std::string ns{};  // empty: all namespaces
    // ConfigMaps of these are not scaling rules and change all the time.
    std::vector<std::string> without_rules{};
    std::function<schemas::ElasticScaling()> settings;  // read for each decision
    std::function<std::optional<Term>()> term;
    std::function<void(std::chrono::nanoseconds)> observe_latency{};  // from a change to its grants
    int workers = 4;
    uint64_t seed = 1;
  };

  // `client` reads and watches; `pods` must not run yet. All must outlive it.
  ScalingController(kube::Client& client, Writer writer, kube::Sleeper& sleeper, const Clock& clock,
                    log::Logger& logger, PodInformer& pods, DecisionLog& decisions,
                    DisruptionGate& gate, Options options);

  std::string_view name() const override { return controllers::kScaling; }
  bool enabled() const override {
    return options_.settings().mode != schemas::EnforcementMode::kOff;
  }
  void Run(const std::stop_token& stop) override;
  void EnqueueAll() override;
  std::string unready() const override;
  void AddMetrics(std::vector<prometheus::MetricFamily>& families) const override;

  bool synced() const { return feed_.synced(); }
  Reconciler::Counts counts() const { return reconciler_.counts(); }
  const ServiceStatuses& statuses() const { return reconciler_.statuses(); }

 private:
  ServiceFeed::Options FeedOptions();
  NodeInformer::Options NodeOptions();
  ReconcileLoop<ServiceKey>::Options LoopOptions();
  ReconcileResult Reconcile(const ServiceKey& key, const Term& term);

  kube::Sleeper& sleeper_;
  log::Logger& logger_;
  const Options options_;
  Reconciler reconciler_;
  ReconcileLoop<ServiceKey> loop_;
  ServiceFeed feed_;
  NodeInformer nodes_;
};

}  // namespace mindgate::watcher::scaling
