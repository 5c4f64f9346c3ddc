#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "json/decode.h"
#include "json/value.h"
#include "kube/client.h"
#include "kube/informer.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/decision_log.h"

namespace mindgate::watcher::ended_servers {

// Servers that ended with exit code 0. The example start script of MindCluster's deploy tool does
// that when a rank crashed (mindcluster-deploy: example/scripts/start_server.sh,
// wait_for_children). Kubernetes takes such a pod for done, and so do MindCluster and rescheduling:
// nothing restarts it, but for the pods of AIBrix instances that have a single one.

// A pod of a server that is Succeeded and not being deleted.
struct EndedServer {
  std::string ns{};
  std::string pod{};
  std::string uid{};  // of the pod
  std::string owner_kind{};
  std::string owner{};
  std::string restart_policy{};  // of the pod; empty: not known

  bool operator==(const EndedServer&) const = default;
};

// What Read reads.
std::vector<json::Projection::Path> PodFields();

// Nothing for any other pod. What made it decides: a Job, a vcjob and an AscendJob of training are
// done when their pods succeed. An AscendJob is a server where its pods carry a label app of MindIE
// Motor.
std::optional<EndedServer> Read(const json::Value& pod);

// What happened and what to do about it, for people.
std::string Explain(const EndedServer& server);

// A pod, as the key of a work queue.
struct PodKey {
  std::string ns{};
  std::string pod{};
  friend auto operator<=>(const PodKey&, const PodKey&) = default;
  friend const std::string& NamespaceOf(const PodKey& key) { return key.ns; }
};

// Follows pods that have succeeded, without those of Jobs, and reports each once that is of a
// server: an Event ServerSucceeded on the pod, a line of the log and a gauge. It does nothing else.
// Only the leader reports; a new leader reports again what is still there. The informer is its own:
// that of all controllers leaves out what has succeeded, and should, for no other one asks for it.
//
// It needs list and watch of pods, and what the decision log needs.
class Controller final : public watcher::Controller {
 public:
  struct Options {
    std::function<bool()> enabled;
    std::string ns{};  // empty: all namespaces
    std::function<std::optional<Term>()> term;
    uint64_t seed = 1;  // spreads pauses; another one for each replica
  };

  // All must outlive it.
  Controller(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, log::Logger& logger,
             DecisionListener& decisions, Options options);

  std::string_view name() const override { return controllers::kEndedServers; }
  bool enabled() const override { return options_.enabled(); }
  void Run(const std::stop_token& stop) override;
  void EnqueueAll() override;
  std::string unready() const override { return ""; }
  void AddMetrics(std::vector<prometheus::MetricFamily>& families) const override;
  size_t left_out() const override { return pods_.left_out(); }

 private:
  using Pods = kube::Informer<EndedServer>;

  Pods::Options PodOptions();
  ReconcileLoop<PodKey>::Options LoopOptions();
  ReconcileResult Reconcile(const PodKey& key);
  void Report(const EndedServer& server);

  log::Logger& logger_;
  DecisionListener& decisions_;
  const Options options_;
  // The uid of each pod that was reported; in the thread of the loop.
  std::map<PodKey, std::string> reported_;
  ReconcileLoop<PodKey> loop_;
  Pods pods_;
};

}  // namespace mindgate::watcher::ended_servers
