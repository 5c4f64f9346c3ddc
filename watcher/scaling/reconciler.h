#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/log.h"
#include "base/threads.h"
#include "base/time.h"
#include "kube/client.h"
#include "schemas/config.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/disruption_limits.h"
#include "watcher/frame/leader_client.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/instances.h"
#include "watcher/scaling/pod.h"

namespace mindgate::watcher::scaling {

// How each service stands, as of the last decision about it. Safe from many threads.
class ServiceStatuses {
 public:
  struct ServiceStatus {
    ServiceKey service;
    std::optional<size_t> reached;  // Decision::reached
    std::vector<GroupCount> groups;
  };

  void Set(ServiceStatus status) {
    const MutexLock lock(mutex_);
    ServiceKey key = status.service;
    statuses_.insert_or_assign(std::move(key), std::move(status));
  }
  void Remove(const ServiceKey& service) {
    const MutexLock lock(mutex_);
    statuses_.erase(service);
  }
  std::vector<ServiceStatus> all() const {  // by service
    std::vector<ServiceStatus> all;
    const MutexLock lock(mutex_);
    for (const auto& [service, status] : statuses_) all.push_back(status);
    return all;
  }

 private:
  mutable Mutex mutex_;
  std::map<ServiceKey, ServiceStatus> statuses_ GUARDED_BY(mutex_);
};

using NodeNames = std::set<std::string, std::less<>>;

// Decides about one service and carries the decision out: opens gates, takes grants back that found
// no room, and gives instances up when rebalancing says so. `mindgate watch` and `mindgate
// simulate` run the same one.
//
// What was granted is read from the pods, so that nothing is granted twice by a leader that takes
// over. Gates are opened with the pods' UIDs as a condition; a pod that was replaced meanwhile
// waits for its own turn. What is destroyed is read again before. Safe from many threads, one at a
// time to a service.
class Reconciler {
 public:
  // What it is given at the moment of a decision.
  struct Inputs {
    ServiceIndex::View view;
    NodeNames unusable_nodes{};
  };

  struct Counts {
    uint64_t decisions = 0;
    uint64_t granted = 0;    // pods whose gate was opened
    uint64_t withdrawn = 0;  // instances
    uint64_t given_up = 0;   // instances
    uint64_t failed = 0;     // calls of the API server
  };

  // `settings` is read for each decision. All must outlive it.
  Reconciler(Writer writer, const Clock& clock, log::Logger& logger, DecisionListener& decisions,
             DisruptionGate& gate, std::function<schemas::ElasticScaling()> settings)
      : writer_(writer),
        clock_(clock),
        logger_(logger),
        decisions_(decisions),
        gate_(gate),
        settings_(std::move(settings)) {}

  ReconcileResult Reconcile(const ServiceKey& key, const Inputs& inputs, const Term& term);
  // Another leader may act: what was remembered may no longer be true.
  void Forget(const ServiceKey& key);

  Counts counts() const { return {decided_, granted_, withdrawn_, given_up_, failed_}; }
  const ServiceStatuses& statuses() const { return statuses_; }

 private:
  // Gates that were opened, which the watch does not show yet.
  struct Grant {
    Time when{};
    std::set<std::string> pods;  // UIDs: what comes in their place was not meant
    bool answered = false;       // the API server said yes to all, so that only the watch is late
    std::optional<Outcome> unfinished{};  // to be reported; until then not all gates may be open
    bool Has(const PodState& pod) const { return pods.contains(pod.uid); }
  };

  // An instance whose pods go, until the watch shows that all of them do.
  struct GivingUp {
    Outcome outcome;
    std::set<std::string> pods;     // UIDs
    std::set<std::string> deleted;  // of these, by a call that was answered
    bool reported = false;
  };

  // Instance, what and why.
  using ReportedOutcomes = std::set<std::tuple<std::string, std::string_view, std::string>>;

  // What is remembered of a service between two decisions.
  struct ServiceState {
    Time known_since{};     // since when this replica decides about it
    bool observed = false;  // UpdateObservations was called before
    SeenByUid seen{};       // of pods without our gate, and of PodGroups
    // By UID of PodGroups whose jobs have or had pods with the labels: since when these are gone.
    std::map<std::string, std::optional<Time>> with_pods{};
    std::optional<Time> recount_at{};             // when one of these PodGroups counts by its phase
    std::set<std::string> gated{};                // UIDs of the pods with it
    std::map<std::string, Time> leaving{};        // by UID: since when a pod is being deleted
    std::map<std::string, GivingUp> giving_up{};  // by instance; finished before anything else
    std::map<std::string, Grant> granted{};       // by instance
    std::optional<Time> given_up{};               // when that was done the last time
    std::shared_ptr<const Instance> futile{};     // Service::futile; most services have none
    ReportedOutcomes reported{};                  // what was reported last
  };

  // All that one run of Reconcile is about.
  struct Run;

  enum class Done : uint8_t {
    kYes,
    kNoLongerNeeded,  // it need not be done: the watch will report why
    kNo,              // to be tried again
  };

  Time Now() const;
  static void UpdateObservations(const ServiceIndex::View& view, Time now, ServiceState& state);
  static void NotePodGroups(const ServiceIndex::View& view, Time now, ServiceState& state,
                            std::vector<SeenByUid::Entry>& seen);
  static Service ServiceOf(const Run& run);
  bool CountWhenDone(GivingUp& giving_up);
  bool FinishGivingUp(Run& run);
  static DisruptionGate::Request RequestOf(const Run& run, size_t give_ups);
  void ApplyBudget(Run& run);
  std::set<std::string> CarryOut(Run& run);
  bool GrantTo(Run& run, const Outcome& outcome, const ObservedInstance& instance);
  Done OpenGates(Run& run, const ObservedInstance& instance);
  bool Withdraw(Run& run, const ObservedInstance& instance);
  std::set<std::string> GiveUp(Run& run, const std::vector<const Outcome*>& outcomes);
  static std::optional<json::Document> ReadAgain(LeaderClient& client, const PodState& pod);
  static OptOut OptedOut(LeaderClient& client, const std::vector<const PodState*>& pods);
  static bool StillWaits(LeaderClient& client, const PodGroupState& pod_group);
  static bool IsQueued(const Run& run, const std::string& instance);
  static bool IsStillSo(LeaderClient& client, const ObservedInstance* instance);
  bool MayBeEvicted(Run& run, LeaderClient& client, const ObservedInstance& instance);
  Refusal MayGo(LeaderClient& client, const ObservedInstance& instance,
                std::map<const PodState*, std::string>& versions);
  Done Delete(Run& run, DestructiveClient& client, const PodState& pod,
              std::string resource_version);
  void ReportRefusal(const ServiceKey& key, const Refusal& refusal);
  void ReportAll(Run& run, const std::set<std::string>& undone);
  void Report(const ServiceKey& key, const Outcome& outcome, DecisionKind kind, bool enforced,
              const ObservedInstance* instance);
  Done Evaluate(Run& run, const kube::Answer<void>& answer, const PodState& pod, const char* what);
  Done Failed(Run& run, const kube::Fault& fault, const PodState& pod, const char* what);
  ServiceState& StateOf(const ServiceKey& key);

  const Writer writer_;
  const Clock& clock_;
  log::Logger& logger_;
  DecisionListener& decisions_;
  DisruptionGate& gate_;
  const std::function<schemas::ElasticScaling()> settings_;
  ServiceStatuses statuses_;
  Mutex mutex_;
  // Each entry is used by the one thread that reconciles its service.
  std::map<ServiceKey, ServiceState> services_ GUARDED_BY(mutex_);
  std::atomic<uint64_t> decided_ = 0;
  std::atomic<uint64_t> granted_ = 0;
  std::atomic<uint64_t> withdrawn_ = 0;
  std::atomic<uint64_t> given_up_ = 0;
  std::atomic<uint64_t> failed_ = 0;
};

// What one reconciliation of a service knows. For the Reconciler alone.
struct Reconciler::Run {
  const ServiceKey& key;
  const Inputs& inputs;
  ServiceState& state;
  LeaderClient client;
  const schemas::ElasticScaling settings;
  const Time now;
  std::vector<ObservedInstance> observed{};
  Decision decision{};
  ReconcileResult failure{};  // of calls about its pods

  bool enforced() const { return settings.mode == schemas::EnforcementMode::kEnforce; }
  const ObservedInstance* Find(const std::string& name) const {
    const auto found =
        std::lower_bound(observed.begin(), observed.end(), name,
                         [](const ObservedInstance& instance, const std::string& wanted) {
                           return instance.instance.name < wanted;
                         });
    return found != observed.end() && found->instance.name == name ? &*found : nullptr;
  }
};

}  // namespace mindgate::watcher::scaling
