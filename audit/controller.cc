#include "audit/controller.h"

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "audit/audit.h"
#include "audit/object_source.h"
#include "base/thread.h"

namespace mindgate::audit {
namespace {

using watcher::ReconcileResult;
using watcher::Term;

// A namespace in which something changes all the time is audited so often.
constexpr std::chrono::minutes kLeastPause(1);
// The pause after an audit, as a multiple of the time that it took.
constexpr int kPausePerAudit = 49;
constexpr size_t kMostUnread = 1000;

// Of what is in no namespace, without all that is in one.
class ClusterScopedObjects final : public ObjectSource {
 public:
  explicit ClusterScopedObjects(LiveObjects& all) : all_(all) {}

  kube::Answer<void> ForEach(const kube::Resource& resource,
                             const kube::Listing& listing) override {
    if (resource.namespaced) return {};
    return all_.ForEach(resource, listing);
  }

 private:
  LiveObjects& all_;
};

// When a namespace is due for the second time: anywhere within the interval, so that all of them
// are spread over it.
std::chrono::seconds SpreadOver(std::chrono::seconds interval, const std::string& ns) {
  const std::chrono::seconds room = interval - kLeastPause;
  return kLeastPause + room * static_cast<int64_t>(std::hash<std::string>()(ns) % 1000) / 1000;
}

}  // namespace

Controller::Controller(kube::Client& client, watcher::Writer writer, kube::Sleeper& sleeper,
                       const Clock& clock, log::Logger& logger, watcher::PodInformer& pods,
                       const Snapshot<schemas::Config>& config, Options options)
    : client_(client),
      writer_(writer),
      sleeper_(sleeper),
      clock_(clock),
      logger_(logger),
      config_(config),
      options_(std::move(options)),
      reports_(client, logger),
      loop_(clock, LoopOptions()),
      changes_(client, sleeper, clock, logger, pods,
               {.ns = options_.ns,
                .wanted = [this] { return wanted(); },
                .changed = [this](const std::string& ns) { loop_.Enqueue({ns}); },
                .seed = options_.seed}) {}

watcher::ReconcileLoop<NamespaceKey>::Options Controller::LoopOptions() {
  return {.name = "audit",
          .seed = options_.seed,
          .term = options_.term,
          .reconcile = [this](const NamespaceKey& key,
                              const Term& term) { return Reconcile(key, term); },
          .forget = [this](const NamespaceKey& key) { Forget(key.ns); }};
}

bool Controller::wanted() const {
  const auto config = config_.Get();
  return config != nullptr && config->audit.on;
}

void Controller::Run(const std::stop_token& stop) {
  FollowSiteKinds();
  const std::jthread following = StartThread("audit-changes", [&] { changes_.Run(stop); });
  loop_.Enqueue({});
  loop_.Run(stop);
}

void Controller::FollowSiteKinds() {
  const auto config = config_.Get();
  changes_.Follow(config == nullptr ? schemas::SiteKinds() : config->kinds);
}

void Controller::EnqueueAll() {
  FollowSiteKinds();
  loop_.Enqueue({});
  changes_.ForEachNamespace([this](const std::string& ns) { loop_.Enqueue({ns}); });
}

ReconcileResult Controller::Reconcile(const NamespaceKey& key, const Term& term) {
  const auto config = config_.Get();
  const bool is_gone = !key.ns.empty() && changes_.synced() && !changes_.Exists(key.ns);
  if (config == nullptr || !config->audit.on || is_gone) {
    Forget(key.ns);
    return {};
  }
  const Clock::Instant began = clock_.Now();
  const auto last = audited_.find(key.ns);
  if (last != audited_.end() && began < last->second + kLeastPause) {
    return {.requeue_after = last->second + kLeastPause - began};
  }
  ReconcileResult result = AuditNamespace(key.ns, *config, term);
  const Clock::Instant ended = clock_.Now();
  if (!result.failed) {
    const std::chrono::seconds interval = config->audit.interval;
    result.requeue_after = last != audited_.end() ? interval : SpreadOver(interval, key.ns);
    audited_[key.ns] = began;
  }
  const auto took = std::chrono::ceil<std::chrono::milliseconds>(ended - began);
  sleeper_.Sleep(took * kPausePerAudit, term.ended());
  return result;
}

ReconcileResult Controller::AuditNamespace(const std::string& ns, const schemas::Config& config,
                                           const Term& term) {
  LiveObjects live(client_, ns, term.ended());
  ClusterScopedObjects in_none(live);
  ObjectSource* const source = ns.empty() ? static_cast<ObjectSource*>(&in_none) : &live;
  const AuditOptions options{.ns = ns, .now = clock_.WallNow()};
  Audit audit = audit::Run(*source, nullptr, config, options);
  ReconcileResult result;
  if (!term.holds()) return result;
  // With a namespace come the runtimes of the cluster, which are audited once, in none.
  std::erase_if(audit.workloads, [&ns](const Workload& workload) { return workload.ns != ns; });
  WarnOfUnread(audit.unread);
  watcher::LeaderClient client(writer_, term);
  const auto counts = reports_.Put(client, ns, audit.workloads, audit.unread.empty(), audit.taken);
  if (!counts) {
    result.Fail(counts.error());
    if (term.holds()) {
      logger_.Warning("cannot write reports of the audit now: will retry",
                      {{"namespace", ns}, {"fault", counts.error().message}});
    }
  }
  const MutexLock lock(mutex_);
  metrics_.Set(ns, audit.workloads, audit.unread.empty());
  if (counts) metrics_.Add(*counts);
  return result;
}

void Controller::Forget(const std::string& ns) {
  audited_.erase(ns);
  const MutexLock lock(mutex_);
  metrics_.Remove(ns);
}

void Controller::WarnOfUnread(const std::vector<std::string>& unread) {
  for (const std::string& what : unread) {
    if (unread_.size() < kMostUnread && unread_.insert(what).second) {
      logger_.Warning("not audited", {{"what", what}});
    }
  }
}

void Controller::AddMetrics(std::vector<prometheus::MetricFamily>& families) const {
  if (!wanted()) return;
  const MutexLock lock(mutex_);
  metrics_.AddMetrics(families);
}

}  // namespace mindgate::audit
