#pragma once

#include <prometheus/metric_family.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "audit/audit.h"
#include "audit/reports.h"
#include "base/log.h"
#include "base/snapshot.h"
#include "base/threads.h"
#include "base/time.h"
#include "kube/client.h"
#include "kube/informer.h"
#include "schemas/config.h"
#include "schemas/kinds.h"
#include "schemas/site_kinds.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/informers.h"
#include "watcher/frame/leader_client.h"

namespace mindgate::audit {

// Which namespaces have something new to audit.

// Follows the metadata of namespaces and of all kinds that make pods, and which pods have no
// controller that mindgate knows. Of each object a hash of what users write in its metadata is
// kept, so that a status that changes is no change. ConfigMaps, Services, PodGroups and autoscalers
// are not followed: controllers write many of them every few seconds.
class Changes {
 public:
  struct Options {
    std::string ns{};  // empty: all namespaces
    std::function<bool()> enabled;
    // A namespace, or what is in none (empty), has changed; from any thread.
    std::function<void(const std::string& ns)> changed;
    uint64_t seed = 1;
  };

  // `pods` must not run yet. All must outlive it.
  Changes(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, log::Logger& logger,
          watcher::PodInformer& pods, Options options);

  // Until `stop`, in the caller's thread and one for each kind. Called once.
  void Run(const std::stop_token& stop);
  // From now on these kinds of the site are followed like the others, and those of the last call
  // are not. Their pods are taken for those of an unknown controller. From any thread, also before
  // Run.
  void Follow(const schemas::SiteKinds& kinds);

  bool Exists(const std::string& ns) const;
  void ForEachNamespace(const std::function<void(const std::string& ns)>& visit) const;
  // Whether all namespaces are known.
  bool synced() const { return namespaces_.synced(); }

 private:
  using Informer = kube::Informer<uint64_t>;  // a hash

  // Without what is kept of an object, and the seed.
  Informer::Options Following(const kube::Resource& resource) const;
  Informer::Options NamespaceOptions() const;
  Informer::Options KindOptions(const schemas::KindInfo& info,
                                const schemas::SiteKinds& kinds) const;
  void SubscribeTo(watcher::PodInformer& pods) const;
  // Until the site has other kinds, or `stop`.
  void RunSiteKinds(const std::stop_token& stop);

  kube::Client& client_;
  kube::Sleeper& sleeper_;
  const Clock& clock_;
  log::Logger& logger_;
  const Options options_;
  Informer namespaces_;
  std::list<Informer> kinds_;  // built in
  Mutex mutex_;
  ConditionVariable site_changed_;
  schemas::SiteKinds site_ GUARDED_BY(mutex_);
};

// What the newest audit of each namespace found, as metrics.

class AuditMetrics {
 public:
  // Replaces what was known of the namespace.
  void Set(const std::string& ns, const std::vector<Workload>& workloads, bool complete);
  void Remove(const std::string& ns) { namespaces_.erase(ns); }
  void Add(const ReportStore::Counts& reports);

  // Workloads by framework and outcome, findings by rule, framework and level, the namespaces
  // that were audited, wholly or in part, and the reports that were written and deleted.
  void AddMetrics(std::vector<prometheus::MetricFamily>& families) const;

 private:
  struct FindingKey {
    std::string rule;
    std::string framework;
    std::string level;
    friend auto operator<=>(const FindingKey&, const FindingKey&) = default;
  };
  struct WorkloadKey {
    std::string framework;
    std::string outcome;
    friend auto operator<=>(const WorkloadKey&, const WorkloadKey&) = default;
  };
  struct Counts {
    std::map<FindingKey, size_t> findings{};
    std::map<WorkloadKey, size_t> workloads{};
    bool complete = true;
  };

  std::map<std::string, Counts> namespaces_;
  ReportStore::Counts reports_;
};

struct NamespaceKey {
  std::string ns;  // empty: what is in none
  friend auto operator<=>(const NamespaceKey&, const NamespaceKey&) = default;
  friend std::string NamespaceOf(const NamespaceKey& key) { return key.ns; }
};

// The audit in the watcher (audit.mode on): each namespace when something in it has changed, at
// most once a minute, and within every `audit.interval` although nothing has; these are spread
// over it. An audit reads the namespace as `mindgate audit -n NAMESPACE` does, and keeps nothing
// of it but counts. After each there is a pause of 49 times as long as it took, so that the audit
// takes at most a fiftieth of a core.
//
// It needs list of what an audit reads, watch of namespaces, pods and of all kinds that make pods,
// and list, create, patch and delete of reports where there are any. What it may not read is logged
// and counted; the rest is audited.
class Controller final : public watcher::Controller {
 public:
  struct Options {
    std::string ns{};  // empty: all namespaces
    std::function<std::optional<watcher::Term>()> term;
    uint64_t seed = 1;  // another one for each replica
  };

  // `client` reads and watches; `pods` must not run yet. All must outlive it.
  Controller(kube::Client& client, watcher::Writer writer, kube::Sleeper& sleeper,
             const Clock& clock, log::Logger& logger, watcher::PodInformer& pods,
             const Snapshot<schemas::Config>& config, Options options);

  std::string_view name() const override { return "audit"; }
  bool enabled() const override;
  void Run(const std::stop_token& stop) override;
  void EnqueueAll() override;
  std::string unready() const override { return ""; }
  void AddMetrics(std::vector<prometheus::MetricFamily>& families) const override;

 private:
  void FollowSiteKinds();
  watcher::ReconcileLoop<NamespaceKey>::Options LoopOptions();
  watcher::ReconcileResult Reconcile(const NamespaceKey& key, const watcher::Term& term);
  watcher::ReconcileResult AuditNamespace(const std::string& ns, const schemas::Config& config,
                                          const watcher::Term& term);
  void Forget(const std::string& ns);
  void WarnOfUnread(const std::vector<std::string>& unread);

  kube::Client& client_;
  const watcher::Writer writer_;
  kube::Sleeper& sleeper_;
  const Clock& clock_;
  log::Logger& logger_;
  const Snapshot<schemas::Config>& config_;
  const Options options_;
  // In the thread of the loop.
  std::map<std::string, Clock::Instant> audited_;  // since when each namespace is
  std::set<std::string> unread_;                   // what was warned of
  ReportStore reports_;
  mutable Mutex mutex_;
  AuditMetrics metrics_ GUARDED_BY(mutex_);
  watcher::ReconcileLoop<NamespaceKey> loop_;
  Changes changes_;
};

}  // namespace mindgate::audit
