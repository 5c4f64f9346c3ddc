#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/client.h"
#include "kube/events.h"
#include "schemas/config.h"
#include "watcher/disruption_budget.h"
#include "watcher/scaling/journal.h"
#include "watcher/scaling/service_feed.h"
#include "watcher/work_queue.h"

namespace mindgate::watcher::scaling {

struct Wording;  // how an outcome is told

// Opens the gates of pods under a scaling rule when their instance may start, and gives instances
// up when rebalancing says so. Every replica of the watcher knows all services; only the one that
// leads decides, and it acts only in the mode enforce.
//
// What was granted is read from the pods, so that nothing is granted twice by a leader that takes
// over. An instance's gates are opened with its pods' UIDs as a condition; a pod that was replaced
// meanwhile waits for its own turn.
class ScalingController {
 public:
  struct Options {
    std::string ns{};  // empty: all namespaces
    // ConfigMaps of these are not scaling rules and change all the time.
    std::vector<std::string> without_rules{};
    std::function<schemas::ElasticScaling()> settings;  // read for each decision
    // Since when this replica leads; nothing while it does not.
    std::function<std::optional<Time>()> leading_since;
    std::function<void(std::chrono::nanoseconds)> observe_latency{};  // from a change to its grants
    int workers = 4;
    uint64_t seed = 1;
  };

  struct Counts {
    uint64_t decisions = 0;
    uint64_t granted = 0;   // pods whose gate was opened
    uint64_t given_up = 0;  // instances
    uint64_t failed = 0;    // calls of the API server
    uint64_t left_out = 0;  // pods that are too large to be read, at the moment
  };

  // `client` reads and watches. `writer` opens gates and deletes pods: it must not retry, and its
  // timeout must be below what another replica waits after this one stopped leading
  // (kube::Elector), so that nothing is written after another one leads. The rest must outlive it.
  ScalingController(kube::Client& client, kube::Client& writer, kube::Sleeper& sleeper,
                    const Clock& clock, log::Logger& logger, kube::Recorder& recorder,
                    Options options);

  // Until `stop`.
  void Run(const std::stop_token& stop);

  // It leads now, or the settings are new: every service is reconciled. From any thread.
  void EnqueueAll();

  bool synced() const { return feed_.synced(); }
  Counts counts() const { return {decisions_, granted_, given_up_, failed_, feed_.left_out()}; }
  const Journal& journal() const { return journal_; }

 private:
  using Queue = WorkQueue<ServiceKey>;
  // Instance, what and why.
  using ReportedOutcomes = std::set<std::tuple<std::string, std::string_view, std::string>>;

  // Gates that were opened, which the watch does not show yet.
  struct Grant {
    Time when{};
    std::set<std::string> pods;  // UIDs: what comes in their place was not meant
    bool answered = false;       // the API server said yes to all, so that only the watch is late
  };

  // An instance whose pods go, until the watch shows that all of them do.
  struct GivingUp {
    Outcome outcome;
    std::set<std::string> pods;     // UIDs
    std::set<std::string> deleted;  // of these, by a call that was answered
  };

  // What is remembered of a service between two decisions.
  struct ServiceState {
    explicit ServiceState(uint64_t seed) : backoff(seed) {}
    std::map<std::string, Time> ungated;   // by UID: when a pod was first seen without our gate
    std::optional<GivingUp> giving_up;     // finished before anything else is decided
    kube::Backoff backoff;                 // after writes that failed
    std::map<std::string, Grant> granted;  // by instance
    std::set<std::string> unfinished;      // of these, whose gates may not all be open
    std::optional<Time> given_up;          // when that was done the last time
    ReportedOutcomes said;                 // what was told the last time
  };

  enum class Opening : uint8_t {
    kDone,    // all gates are open now
    kGone,    // some could not be opened, and need not: the watch will tell why
    kFailed,  // to be tried again
  };

  ServiceFeed::Options FeedOptions();
  void Work(const std::stop_token& stop);
  void Reconcile(const Queue::Work& work, const std::stop_token& stop);
  static void NoteUngated(const std::vector<PodPtr>& pods, Time now, ServiceState& state);
  static Service ServiceOf(const ServiceIndex::View& view,
                           const std::vector<ObservedInstance>& observed, Time now,
                           ServiceState& state);
  // Takes back what the whole cluster may not lose now.
  void Brake(Decision& decision, int64_t give_ups_per_minute, Time now);
  // All but `undone`, which is told when it is done.
  void Tell(const ServiceKey& key, const Decision& decision,
            const std::vector<ObservedInstance>& observed, bool unusable_rule, bool enforced,
            const std::set<std::string>& undone, ServiceState& state);
  void Tell(const ServiceKey& key, const Outcome& outcome, const Wording& wording, bool enforced,
            const ObservedInstance* instance);
  // Returns the instances of which not all could be done.
  std::set<std::string> CarryOut(const Decision& decision,
                                 const std::vector<ObservedInstance>& observed, Time now,
                                 ServiceState& state, const std::stop_token& stop);
  Opening OpenGates(const ObservedInstance& instance, const std::stop_token& stop);
  // Whether the pods are what they were taken for. What is destroyed is read again before: a watch
  // may be a while behind.
  bool IsStillSo(const ObservedInstance* instance, const std::stop_token& stop);
  // Deletes what is left of one that is given up. False as long as the watch shows a pod of it: a
  // decision would take the instance for one that starts.
  bool FinishGivingUp(const ServiceKey& key, const std::vector<PodPtr>& pods,
                      const std::vector<ObservedInstance>& observed, ServiceState& state,
                      const std::stop_token& stop);
  bool GiveUp(const ObservedInstance& instance, const Outcome& outcome, ServiceState& state,
              const std::stop_token& stop);
  bool Delete(const PodState& pod, const std::stop_token& stop);
  void Retry(const ServiceKey& key, ServiceState& state);
  bool Done(const kube::Answer<void>& answer, const PodState& pod, const char* what);
  bool Leads() const { return options_.leading_since().has_value(); }
  ServiceState& StateOf(const ServiceKey& key);
  void Forget(const ServiceKey& key);

  kube::Client& client_;
  kube::Client& writer_;
  const Clock& clock_;
  log::Logger& logger_;
  kube::Recorder& recorder_;
  const Options options_;
  Queue queue_;
  Journal journal_;
  DisruptionBudget budget_;
  ServiceFeed feed_;
  Mutex mutex_;
  std::map<ServiceKey, ServiceState> services_ GUARDED_BY(mutex_);  // each entry by the queue
  std::atomic<uint64_t> decisions_ = 0;
  std::atomic<uint64_t> granted_ = 0;
  std::atomic<uint64_t> given_up_ = 0;
  std::atomic<uint64_t> failed_ = 0;
};

}  // namespace mindgate::watcher::scaling
