#include "audit/controller.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "admission/admit.h"
#include "audit/audit.h"
#include "audit/collections.h"
#include "base/metric_family.h"
#include "base/threads.h"
#include "json/value.h"
#include "offline/report.h"
#include "watcher/frame/controller.h"

namespace mindgate::audit {
namespace {

using json::Value;
using schemas::Kind;

// What of the metadata stands for a change that a user made.
std::vector<json::Projection::Path> MetadataFields() {
  return {{"metadata", "generation"},
          {"metadata", "labels"},
          {"metadata", "annotations"},
          {"metadata", "ownerReferences"}};
}

uint64_t HashOf(const Value& object) {
  std::string text = json::TextAt(object, {"metadata", "uid"});
  for (const std::string_view member : {"generation", "labels", "annotations"}) {
    text += '\n';
    const Value* const found = json::FindPath(object, {"metadata", member});
    if (found != nullptr) json::AppendDump(*found, text);
  }
  return std::hash<std::string>()(text);
}

}  // namespace

Changes::Changes(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                 log::Logger& logger, watcher::PodInformer& pods, Options options)
    : client_(client),
      sleeper_(sleeper),
      clock_(clock),
      logger_(logger),
      options_(std::move(options)),
      namespaces_(client, sleeper, clock, NamespaceOptions()) {
  for (const schemas::KindInfo& info : schemas::kKinds) {
    if (schemas::kPodMakers.Has(info.kind)) {
      kinds_.emplace_back(client, sleeper, clock, KindOptions(info, {}));
    }
  }
  SubscribeTo(pods);
}

Changes::Informer::Options Changes::NamespaceOptions() const {
  Informer::Options options = Following(kube::resources::kNamespaces);
  if (!options_.ns.empty()) options.selection.field_selector = "metadata.name=" + options_.ns;
  options.project = [](const Value& object) { return std::optional(HashOf(object)); };
  options.seed = options_.seed;
  return options;
}

Changes::Informer::Options Changes::KindOptions(const schemas::KindInfo& info,
                                                const schemas::SiteKinds& kinds) const {
  Informer::Options options = Following(ResourceOf(info));
  options.project = [kinds, &info](const Value& object) {
    return IsMade(info, object, kinds) ? std::nullopt : std::optional(HashOf(object));
  };
  options.seed = options_.seed + static_cast<uint64_t>(info.kind);
  return options;
}

Changes::Informer::Options Changes::Following(const kube::Resource& resource) const {
  Informer::Options options;
  options.selection = {.resource = resource,
                       .ns = resource.namespaced ? options_.ns : std::string(),
                       .fields = MetadataFields(),
                       .metadata_only = true};
  const bool of_namespaces = resource == kube::resources::kNamespaces;
  options.changed = [this, of_namespaces](const std::string& key, const uint64_t* before,
                                          const uint64_t* after) {
    if (before != nullptr && after != nullptr && *before == *after) return;
    const size_t slash = key.find('/');
    options_.changed(of_namespaces ? key.substr(slash + 1) : key.substr(0, slash));
  };
  options.failed = [warn = watcher::WarnOfWatchFaults(logger_, resource.plural)](
                       const kube::Fault& fault, std::chrono::milliseconds pause) {
    // Few clusters have all kinds.
    if (fault.reason != kube::Reason::kNotFound) warn(fault, pause);
  };
  return options;
}

void Changes::SubscribeTo(watcher::PodInformer& pods) const {
  using Namespace = std::string;
  const auto project = [](const Value& pod) {
    return IsMade(schemas::InfoOf(Kind::kPod), pod, {})
               ? nullptr
               : std::make_shared<const Namespace>(json::TextAt(pod, {"metadata", "namespace"}));
  };
  watcher::PodInformer::Subscription<Namespace> subscription;
  subscription.enabled = options_.enabled;
  subscription.fields = {{"metadata", "ownerReferences"}};
  subscription.project = project;
  subscription.oversized = project;  // whose it is stands in its metadata
  subscription.changed = [this](const watcher::PodInformer::Ptr<Namespace>& before,
                                const watcher::PodInformer::Ptr<Namespace>& after) {
    if ((before == nullptr) != (after == nullptr)) {
      options_.changed(before == nullptr ? *after : *before);
    }
  };
  subscription.on_synced = [] {};
  pods.Subscribe<Namespace>(std::move(subscription));
}

void Changes::Run(const std::stop_token& stop) {
  std::vector<std::jthread> threads;
  for (Informer& kind : kinds_) {
    threads.push_back(StartThread("audit-kind", [&kind, stop] { kind.Run(stop); }));
  }
  threads.push_back(StartThread("audit-namespaces", [this, stop] { namespaces_.Run(stop); }));
  while (!stop.stop_requested()) RunSiteKinds(stop);
}

void Changes::Follow(const schemas::SiteKinds& kinds) {
  const MutexLock lock(mutex_);
  site_ = kinds;
  site_changed_.NotifyAll();
}

void Changes::RunSiteKinds(const std::stop_token& stop) {
  std::stop_source enough;
  const std::stop_callback forward(stop, [&enough] { enough.request_stop(); });
  std::list<Informer> informers;
  std::vector<std::jthread> threads;
  MutexLock lock(mutex_);
  const schemas::SiteKinds kinds = site_;
  for (size_t i = 0; i < kinds.size(); ++i) {
    Informer& kind =
        informers.emplace_back(client_, sleeper_, clock_, KindOptions(kinds.info(i), kinds));
    threads.push_back(
        StartThread("audit-kind", [&kind, until = enough.get_token()] { kind.Run(until); }));
  }
  site_changed_.Wait(lock, stop, [&]() REQUIRES(mutex_) { return site_ != kinds; });
  enough.request_stop();
}

bool Changes::Exists(const std::string& ns) const {
  return namespaces_.objects()->Find("/" + ns) != nullptr;
}

void Changes::ForEachNamespace(const std::function<void(const std::string& ns)>& visit) const {
  namespaces_.objects()->ForEach(
      [&visit](const std::string& key, uint64_t) { visit(key.substr(1)); });
}

using prometheus::MetricFamily;
using prometheus::MetricType;

void AuditMetrics::Set(const std::string& ns, const std::vector<Workload>& workloads,
                       bool complete) {
  Counts counts{.complete = complete};
  for (const Workload& workload : workloads) {
    // A ConfigMap with a scaling rule, for example, is of no framework.
    const std::string framework = workload.framework.empty() ? "none" : workload.framework;
    ++counts
          .workloads[{framework, std::string(admission::OutcomeName(workload.evaluated.outcome))}];
    for (const offline::ReportedFinding& finding : workload.evaluated.findings) {
      ++counts.findings[{finding.id, framework,
                         std::string(offline::FindingLevelName(finding.level))}];
    }
  }
  namespaces_[ns] = std::move(counts);
}

void AuditMetrics::Add(const ReportStore::Counts& reports) {
  reports_.written += reports.written;
  reports_.deleted += reports.deleted;
}

void AuditMetrics::AddMetrics(std::vector<MetricFamily>& families) const {
  Counts all;
  size_t complete = 0;
  for (const auto& [ns, counts] : namespaces_) {
    for (const auto& [key, count] : counts.findings) all.findings[key] += count;
    for (const auto& [key, count] : counts.workloads) all.workloads[key] += count;
    if (counts.complete) ++complete;
  }
  MetricFamily findings = MakeMetricFamily(
      "mindgate_audit_findings", "Findings about what the cluster runs.", MetricType::Gauge);
  for (const auto& [key, count] : all.findings) {
    AddSeries(findings, {{"rule", key.rule}, {"framework", key.framework}, {"level", key.level}},
              static_cast<double>(count));
  }
  MetricFamily workloads = MakeMetricFamily(
      "mindgate_audit_workloads",
      "Workloads with NPUs or findings, by what admission would answer today.", MetricType::Gauge);
  for (const auto& [key, count] : all.workloads) {
    AddSeries(workloads, {{"framework", key.framework}, {"outcome", key.outcome}},
              static_cast<double>(count));
  }
  MetricFamily audited = MakeMetricFamily(
      "mindgate_audit_namespaces",
      "Namespaces that were audited, and what is in none as one more, by whether all of them could "
      "be read.",
      MetricType::Gauge);
  AddSeries(audited, {{"read", "all"}}, static_cast<double>(complete));
  AddSeries(audited, {{"read", "in-part"}}, static_cast<double>(namespaces_.size() - complete));
  MetricFamily reports =
      MakeMetricFamily("mindgate_audit_reports_total", "Reports that were written and deleted.",
                       MetricType::Counter);
  AddSeries(reports, {{"call", "write"}}, static_cast<double>(reports_.written));
  AddSeries(reports, {{"call", "delete"}}, static_cast<double>(reports_.deleted));
  families.push_back(std::move(findings));
  families.push_back(std::move(workloads));
  families.push_back(std::move(audited));
  families.push_back(std::move(reports));
}

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
                .enabled = [this] { return enabled(); },
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

bool Controller::enabled() const {
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
  if (!enabled()) return;
  const MutexLock lock(mutex_);
  metrics_.AddMetrics(families);
}

}  // namespace mindgate::audit
