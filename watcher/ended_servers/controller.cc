#include "watcher/ended_servers/controller.h"

#include <thread>
#include <utility>

#include "base/metric_family.h"
#include "base/thread.h"
#include "watcher/frame/watch_fault.h"

namespace mindgate::watcher::ended_servers {
namespace {

// The API server leaves out the pods of Jobs, of which a cluster may keep thousands.
constexpr const char* kNotOfJobs = "!batch.kubernetes.io/job-name";

}  // namespace

Controller::Controller(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                       log::Logger& logger, DecisionListener& decisions, Options options)
    : logger_(logger),
      decisions_(decisions),
      options_(std::move(options)),
      loop_(clock, LoopOptions()),
      pods_(client, sleeper, clock, PodOptions()) {}

Controller::Pods::Options Controller::PodOptions() {
  Pods::Options options;
  options.selection.resource = kube::resources::kPods;
  options.selection.ns = options_.ns;
  options.selection.label_selector = kNotOfJobs;
  options.selection.field_selector = "status.phase=Succeeded";
  options.selection.fields = PodFields();
  options.project = Read;
  options.left_out = Read;  // nothing is known to have ended there
  options.changed = [this](const std::string&, const EndedServer* before,
                           const EndedServer* after) {
    const EndedServer& server = after == nullptr ? *before : *after;
    loop_.Enqueue({server.ns, server.pod});
  };
  options.failed = WarnOfWatchFaults(logger_, "pods that have succeeded");
  options.seed = options_.seed;
  return options;
}

ReconcileLoop<PodKey>::Options Controller::LoopOptions() {
  return {.name = "ended-servers",
          .seed = options_.seed,
          .term = options_.term,
          .reconcile = [this](const PodKey& key, const Term&) { return Reconcile(key); },
          .forget = [this](const PodKey& key) { told_.erase(key); }};
}

void Controller::Run(const std::stop_token& stop) {
  const std::jthread following = StartThread("ended-pods", [&] { pods_.Run(stop); });
  loop_.Run(stop);
}

void Controller::EnqueueAll() {
  pods_.objects()->ForEach([this](const std::string&, const EndedServer& server) {
    loop_.Enqueue({server.ns, server.pod});
  });
}

ReconcileResult Controller::Reconcile(const PodKey& key) {
  const auto objects = pods_.objects();
  const EndedServer* server = objects->Find(kube::Collection<EndedServer>::KeyOf(key.ns, key.pod));
  if (server == nullptr) {
    told_.erase(key);
    return {};
  }
  if (!wanted()) return {};
  if (std::exchange(told_[key], server->uid) != server->uid) Tell(*server);
  return {};
}

void Controller::Tell(const EndedServer& server) {
  DecisionRecord record;
  record.controller = "ended-servers";
  record.ns = server.ns;
  record.about = {{"pod", server.pod}, {"ownerKind", server.owner_kind}, {"owner", server.owner}};
  record.what = "server succeeded";
  record.reason = Explain(server);
  record.regarding = {"v1", "Pod", server.ns, server.pod, server.uid};
  record.type = kube::EventRecord::Type::kWarning;
  record.event_reason = "ServerSucceeded";
  record.event_action = "Watch";
  decisions_.Tell(std::move(record));
}

void Controller::AddMetrics(std::vector<prometheus::MetricFamily>& families) const {
  const bool tells = wanted() && options_.term().has_value();
  families.push_back(MakeGauge("mindgate_servers_succeeded",
                               "Pods of servers that ended with exit code 0 and are still there.",
                               tells ? static_cast<double>(pods_.objects()->size()) : 0.0));
}

}  // namespace mindgate::watcher::ended_servers
