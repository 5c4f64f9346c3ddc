#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "audit/changes.h"
#include "audit/metrics.h"
#include "audit/report_store.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/snapshot.h"
#include "kube/client.h"
#include "schemas/config.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/leader_client.h"
#include "watcher/frame/pods.h"
#include "watcher/frame/reconcile_loop.h"

namespace mindgate::audit {

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
  bool wanted() const override;
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
