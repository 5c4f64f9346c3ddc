#include "watcher/ended_servers/controller.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <thread>
#include <utility>

#include "base/metric_family.h"
#include "base/threads.h"
#include "json/value.h"
#include "schemas/kinds.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"
#include "watcher/frame/controller.h"

namespace mindgate::watcher::ended_servers {
namespace {

using json::Value;

// mindie-ms-server, mindie-ms-controller, mindie-ms-coordinator.
constexpr std::string_view kMindieApps = "mindie-ms-";

bool IsServer(const Value& owner, const Value* labels) {
  const schemas::KindInfo* kind =
      schemas::FindKind(schemas::GroupOf(json::FindString(owner, "apiVersion").value_or("")),
                        json::FindString(owner, "kind").value_or(""));
  if (kind == nullptr) return false;
  if (kind->kind == schemas::Kind::kAscendJob) {
    return json::FindString(labels, schemas::kApp).value_or("").starts_with(kMindieApps);
  }
  return kind->serves;
}

}  // namespace

std::vector<json::Projection::Path> PodFields() {
  return {{"metadata", "deletionTimestamp"},
          {"metadata", "labels", std::string(schemas::kApp)},
          {"metadata", "ownerReferences"},
          {"spec", "restartPolicy"},
          {"status", "phase"}};
}

std::optional<EndedServer> Read(const Value& pod) {
  if (json::TextAt(pod, {"status", "phase"}) != "Succeeded") return std::nullopt;
  const Value* metadata = json::Find(pod, "metadata");
  // A pod that is asked to end and does so in time succeeds as well.
  if (json::Find(metadata, "deletionTimestamp") != nullptr) return std::nullopt;
  const Value* owner = schemas::ControllerOf(metadata);
  if (owner == nullptr || !IsServer(*owner, json::Find(metadata, "labels"))) return std::nullopt;
  return EndedServer{.ns = json::TextAt(metadata, {"namespace"}),
                     .pod = json::TextAt(metadata, {"name"}),
                     .uid = json::TextAt(metadata, {"uid"}),
                     .owner_kind = json::TextAt(*owner, {"kind"}),
                     .owner = json::TextAt(*owner, {"name"}),
                     .restart_policy = json::TextAt(pod, {"spec", "restartPolicy"})};
}

std::string Explain(const EndedServer& server) {
  // AIBrix: instances of one pod are the RoleSet's own pods, which it deletes and makes again when
  // they have ended (pkg/controller/roleset/rolesyncer.go, StatefulRoleSyncer.Scale). Those of
  // several are a PodSet's, which passes over their index (podset_controller.go).
  if (server.owner_kind == "RoleSet") {
    return "pod " + server.pod + " of RoleSet " + server.owner +
           " ended with exit code 0 (Succeeded), although a server does not end by itself. AIBrix "
           "deletes it and makes it again, since podGroupSize is 1, and rescheduling sees no fault "
           "in it. Read its log while it is there; let its start script end with the exit code of "
           "the process that failed";
  }
  const bool known = !server.restart_policy.empty() && server.restart_policy != "Always";
  return "pod " + server.pod + " of " + server.owner_kind + " " + server.owner +
         " ended with exit code 0 (Succeeded), although a server does not end by itself. " +
         (known ? "With restartPolicy " + server.restart_policy + " nothing restarts it"
                : std::string("Nothing restarts it in place")) +
         ", and rescheduling sees no fault in it. Read its log, then delete the pod; let its start "
         "script end with the exit code of the process that failed";
}

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
          .forget = [this](const PodKey& key) { reported_.erase(key); }};
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
    reported_.erase(key);
    return {};
  }
  if (!enabled()) return {};
  if (std::exchange(reported_[key], server->uid) != server->uid) Report(*server);
  return {};
}

void Controller::Report(const EndedServer& server) {
  DecisionRecord record{.kind = DecisionKind::kServerSucceeded, .ns = server.ns};
  record.about = {{"pod", server.pod}, {"ownerKind", server.owner_kind}, {"owner", server.owner}};
  record.reason = Explain(server);
  record.regarding = {"v1", "Pod", server.ns, server.pod, server.uid};
  decisions_.Report(std::move(record));
}

void Controller::AddMetrics(std::vector<prometheus::MetricFamily>& families) const {
  const bool reports = enabled() && options_.term().has_value();
  families.push_back(MakeGauge("mindgate_servers_succeeded",
                               "Pods of servers that ended with exit code 0 and are still there.",
                               reports ? static_cast<double>(pods_.objects()->size()) : 0.0));
}

}  // namespace mindgate::watcher::ended_servers
