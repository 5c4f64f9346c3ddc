#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/threads.h"
#include "base/time.h"
#include "kube/client.h"
#include "kube/informer.h"
#include "schemas/config.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/informers.h"
#include "watcher/frame/leader_client.h"
#include "watcher/gang_repair/state.h"

namespace mindgate::watcher::gang_repair {

// Follows Deployments, ReplicaSets, RoleSets, PodGroups and Pods of all namespaces, and while a
// rolling update cannot bring up as many pods as the gang of its new ReplicaSet needs, keeps K on
// the PodGroup at the number of pods that exist; while the roles of a RoleSet ask for fewer pods
// than their gang, at the number that they ask for (decision.h). A change leads to a new decision
// about the one Deployment or RoleSet that it concerns.
//
// It acts only while it leads and every collection is current. What it writes names the PodGroup's
// uid, so that no other object is met, and no resourceVersion: the scheduler writes PodGroups all
// the time. Without Volcano's CRD there is nothing to do, and it waits for it; without AIBrix's, or
// without permission to read RoleSets, it repairs Deployments. What was lowered stays so when it
// stops: the next leader goes on with it.
//
// It needs list and watch of the five, patch of PodGroups, and what the decision log needs.
class Controller final : public watcher::Controller {
 public:
  struct Options {
    std::function<bool()> enabled;
    std::function<std::optional<Term>()> term;
    // observe writes nothing.
    schemas::EnforcementMode mode = schemas::EnforcementMode::kEnforce;
    uint64_t seed = 1;  // spreads pauses; another one for each replica
  };

  // `client` reads and watches; `pods` must not run yet. All must outlive it.
  Controller(kube::Client& client, Writer writer, kube::Sleeper& sleeper, const Clock& clock,
             log::Logger& logger, PodInformer& pods, DecisionLog& decisions, Options options);

  std::string_view name() const override { return controllers::kGangRepair; }
  bool enabled() const override { return options_.enabled(); }
  void Run(const std::stop_token& stop) override;
  void EnqueueAll() override;
  std::string unready() const override { return ""; }
  void AddMetrics(std::vector<prometheus::MetricFamily>& families) const override;
  size_t left_out() const override;

  // Whether all that there is has been seen once; PodGroups need not exist in this cluster.
  bool synced() const;

  struct Counts {
    uint64_t lowered = 0;    // values written to PodGroups
    uint64_t restored = 0;   // PodGroups given back
    uint64_t conflicts = 0;  // a PodGroup was replaced or gone when it was written
    uint64_t failed = 0;     // writes that failed otherwise; each is tried again
    uint64_t looks = 0;      // decisions about a Deployment or RoleSet
    uint64_t marked = 0;     // PodGroups that hold a value of ours at the moment
  };
  Counts counts() const;

 private:
  struct Repair;

  template <typename T>
  typename kube::Informer<T>::Options Following(
      const kube::Resource& resource, Fields fields,
      std::function<std::optional<T>(const json::Value&)> project);
  void SubscribeTo(PodInformer& pods);
  ReconcileLoop<OwnerKey>::Options LoopOptions();
  template <typename T>
  void Change(const T* before, const T* after);
  bool IsCurrent() const;
  void EnqueueIfCurrent();
  ReconcileResult Reconcile(const OwnerKey& owner, const Term& term);
  std::optional<std::vector<Repair>> RepairsOf(const OwnerKey& owner);
  void Write(const Repair& repair, const Term& term, ReconcileResult& result);
  void Report(const Repair& repair, bool enforced);
  void OnFault(const kube::Resource& resource, const kube::Fault& fault,
               std::chrono::milliseconds pause);

  const Writer writer_;
  log::Logger& logger_;
  DecisionLog& decisions_;
  const Options options_;

  mutable Mutex mutex_;
  State state_ GUARDED_BY(mutex_);
  std::map<std::string, std::string> faults_ GUARDED_BY(mutex_);  // newest by kind
  std::atomic<bool> groups_absent_ = false;
  std::atomic<bool> role_sets_absent_ = false;
  std::atomic<uint64_t> lowered_ = 0;
  std::atomic<uint64_t> restored_ = 0;
  std::atomic<uint64_t> conflicts_ = 0;
  std::atomic<uint64_t> failed_ = 0;
  std::atomic<uint64_t> looks_ = 0;
  // What it would do, as of the last decision; in the thread of the loop.
  std::map<OwnerKey, std::string> reported_;

  ReconcileLoop<OwnerKey> loop_;
  PodInformer& pods_;
  kube::Informer<Deployment> deployments_;
  kube::Informer<ReplicaSet> sets_;
  kube::Informer<RoleSet> role_sets_;
  kube::Informer<PodGroup> groups_;
};

}  // namespace mindgate::watcher::gang_repair
