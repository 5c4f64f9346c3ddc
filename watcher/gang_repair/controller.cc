#include "watcher/gang_repair/controller.h"

#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/thread.h"
#include "json/decode.h"
#include "kube/informer.h"
#include "schemas/names.h"
#include "watcher/gang_repair/decision.h"
#include "watcher/gang_repair/state.h"

namespace mindgate::watcher::gang_repair {
namespace {

using json::Json;
namespace resources = kube::resources;

// The body of a merge patch: both annotations, null where they go. The uid makes the API server
// answer 409 when the PodGroup is another one by now.
Json PatchOf(const PodGroup& group, const Decision& decision) {
  const bool lower = decision.act == Act::kLower;
  Json annotations;
  annotations[std::string(schemas::kMinAvailable)] = lower ? Json(decision.k) : Json(nullptr);
  annotations[std::string(schemas::kGangRepair)] = lower ? Json(decision.marker) : Json(nullptr);
  return {{"metadata", {{"uid", group.uid}, {"annotations", std::move(annotations)}}}};
}

kube::EventRecord HappeningOf(const Deployment& deployment, const Gang& gang,
                              const Decision& decision) {
  const bool lower = decision.act == Act::kLower;
  const std::string k(schemas::kMinAvailable);
  const std::string of = " of PodGroup " + gang.group->name + " (ReplicaSet " + gang.set.name + ")";
  return {.regarding = {resources::kDeployments.api_version(), resources::kDeployments.kind,
                        deployment.ns, deployment.name, deployment.uid},
          .type = kube::EventRecord::Type::kNormal,
          .reason = lower ? "GangLowered" : "GangRestored",
          .action = lower ? "Lower" : "Restore",
          .note = (lower ? k + of + " set to " + decision.k
                         : k + of + " removed, so the value on the pods applies again") +
                  ": " + decision.reason};
}

}  // namespace

class Controller::Impl {
 public:
  Impl(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, log::Logger& logger,
       kube::Recorder& recorder, ControllerOptions options)
      : client_(client),
        clock_(clock),
        logger_(logger),
        recorder_(recorder),
        options_(std::move(options)),
        deployments_(client, sleeper, clock,
                     Following<Deployment>(resources::kDeployments, DeploymentFields(),
                                           [](const json::Value& object) {
                                             return std::optional(DeploymentOf(object));
                                           })),
        sets_(client, sleeper, clock,
              Following<ReplicaSet>(resources::kReplicaSets, ReplicaSetFields(), ReplicaSetOf)),
        groups_(client, sleeper, clock,
                Following<PodGroup>(resources::kPodGroups, PodGroupFields(), PodGroupOf)),
        pods_(client, sleeper, clock, FollowingPods()) {}

  void Run(const std::stop_token& stop) {
    if (options_.mode == schemas::EnforcementMode::kOff) return;
    // They end with this block: before Run returns, and before the informers do.
    const std::jthread threads[] = {
        StartThread("gang-deploy", [&] { deployments_.Run(stop); }),
        StartThread("gang-replicasets", [&] { sets_.Run(stop); }),
        StartThread("gang-podgroups", [&] { groups_.Run(stop); }),
        StartThread("gang-pods", [&] { pods_.Run(stop); }),
    };
    bool acted = false;
    while (!stop.stop_requested()) {
      const bool may_act = MayAct();
      if (may_act && !acted) EnqueueAll();
      acted = may_act;
      if (may_act) {
        for (const std::string& uid : TakeDue()) {
          acted = !stop.stop_requested() && MayAct();
          if (!acted) break;  // all are reconciled when it may act again
          Reconcile(uid, stop);
        }
      }
      MutexLock lock(mutex_);
      changed_.WaitFor(lock, stop, options_.look,
                       [&]() REQUIRES(mutex_) { return acted && !queue_.empty(); });
    }
  }

  bool synced() const {
    return deployments_.synced() && sets_.synced() && pods_.synced() &&
           (groups_.synced() || groups_absent_);
  }

  Counts counts() const {
    Counts counts{.lowered = lowered_,
                  .restored = restored_,
                  .conflicts = conflicts_,
                  .failed = failed_,
                  .looks = looks_};
    counts.left_out =
        deployments_.left_out() + sets_.left_out() + groups_.left_out() + pods_.left_out();
    const MutexLock lock(mutex_);
    counts.marked = state_.marked();
    return counts;
  }

 private:
  struct Retry {
    explicit Retry(uint64_t seed) : backoff(seed) {}
    kube::Backoff backoff;
    Clock::Instant due{};
  };

  template <typename T>
  typename kube::Informer<T>::Options Following(
      const kube::Resource& resource, Fields fields,
      std::function<std::optional<T>(const json::Value&)> project) {
    typename kube::Informer<T>::Options options;
    options.selection.resource = resource;
    options.selection.fields = std::move(fields);
    options.project = std::move(project);
    options.changed = [this](const std::string&, const T* before, const T* after) {
      const MutexLock lock(mutex_);
      State::Affected uids = state_.Change(before, after);
      if (uids.empty()) return;
      queue_.merge(uids);
      changed_.NotifyAll();
    };
    options.failed = [this, &resource](const kube::Fault& fault, std::chrono::milliseconds pause) {
      OnFault(resource, fault, pause);
    };
    options.seed = options_.seed + std::hash<std::string>()(resource.plural);
    return options;
  }

  kube::Informer<Pod>::Options FollowingPods() {
    auto options = Following<Pod>(resources::kPods, PodFields(), PodOf);
    // Pods that ended are no part of a gang; a cluster may keep many of them.
    options.selection.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
    return options;
  }

  void EnqueueAll() {
    const MutexLock lock(mutex_);
    for (std::string& uid : state_.Deployments()) queue_.insert(std::move(uid));
  }

  bool MayAct() const {
    return (!options_.leading || options_.leading()) && deployments_.current() && sets_.current() &&
           groups_.current() && pods_.current();
  }

  // What changed, and what is to be tried again by now.
  State::Affected TakeDue() {
    State::Affected due;
    {
      const MutexLock lock(mutex_);
      due.swap(queue_);
    }
    const Clock::Instant now = clock_.Now();
    for (const auto& [uid, retry] : retries_) {
      if (retry.due <= now) due.insert(uid);
    }
    return due;
  }

  void Reconcile(const std::string& uid, const std::stop_token& stop) {
    // A change does not cut a pause short: the scheduler changes PodGroups every second.
    if (const auto retry = retries_.find(uid);
        retry != retries_.end() && clock_.Now() < retry->second.due) {
      return;
    }
    std::optional<State::Rollout> rollout;
    {
      const MutexLock lock(mutex_);
      rollout = state_.Of(uid);
    }
    if (!rollout) {
      retries_.erase(uid);
      said_.erase(uid);
      ++looks_;
      return;
    }
    bool failed = false;
    const std::string said = said_[uid];
    std::string sayings;
    for (const Gang& gang : rollout->gangs) {
      const Decision decision = Decide(rollout->deployment, gang);
      if (decision.act == Act::kNothing) continue;
      if (options_.mode == schemas::EnforcementMode::kEnforce) {
        failed |= !Write(rollout->deployment, gang, decision, stop);
      } else {
        const std::string saying = gang.group->uid + " " + decision.k + "\n";
        sayings += saying;
        if (said.find(saying) != std::string::npos) continue;
        Log(decision.act == Act::kLower ? "gang would be lowered" : "gang would be restored",
            rollout->deployment, gang, decision);
      }
    }
    if (sayings.empty()) {
      said_.erase(uid);
    } else {
      said_[uid] = std::move(sayings);
    }
    if (failed) {
      auto& retry = retries_.try_emplace(uid, options_.seed + retries_.size()).first->second;
      retry.due = clock_.Now() + retry.backoff.Next();
    } else {
      retries_.erase(uid);
    }
    ++looks_;
  }

  // False when it must be tried again.
  bool Write(const Deployment& deployment, const Gang& gang, const Decision& decision,
             const std::stop_token& stop) {
    const PodGroup& group = *gang.group;
    const auto answer = client_.MergePatch(resources::kPodGroups, group.ns, group.name,
                                           PatchOf(group, decision), {}, {}, stop);
    if (!answer) {
      const kube::Fault& fault = answer.error();
      if (fault.reason == kube::Reason::kStopped) return false;
      const bool changed =
          fault.reason == kube::Reason::kConflict || fault.reason == kube::Reason::kNotFound;
      ++(changed ? conflicts_ : failed_);
      logger_.Log(changed ? log::Level::kInfo : log::Level::kWarning,
                  changed ? "the PodGroup has changed in the meantime: deciding again"
                          : "a PodGroup could not be repaired: will retry",
                  {{"namespace", group.ns},
                   {"pod_group", group.name},
                   {"deployment", deployment.name},
                   {"reason", kube::ReasonName(fault.reason)},
                   {"fault", fault.message}});
      return false;
    }
    if (const auto written = PodGroupOf(json::Document(*answer).root())) {
      const MutexLock lock(mutex_);
      state_.Wrote(*written);
    }
    const bool lower = decision.act == Act::kLower;
    Log(lower ? "gang lowered" : "gang restored", deployment, gang, decision);
    recorder_.Record(HappeningOf(deployment, gang, decision));
    ++(lower ? lowered_ : restored_);
    return true;
  }

  void Log(std::string_view what, const Deployment& deployment, const Gang& gang,
           const Decision& decision) {
    logger_.Info(what, {{"namespace", deployment.ns},
                        {"deployment", deployment.name},
                        {"replica_set", gang.set.name},
                        {"pod_group", gang.group->name},
                        {"pods", gang.pods},
                        {"template", gang.set.k},
                        {"value", decision.k},
                        {"reason", decision.reason}});
  }

  void OnFault(const kube::Resource& resource, const kube::Fault& fault,
               std::chrono::milliseconds pause) {
    const bool absent =
        resource == resources::kPodGroups && fault.reason == kube::Reason::kNotFound;
    if (absent) groups_absent_ = true;
    {
      const MutexLock lock(mutex_);
      std::string& last = faults_[resource.kind];
      if (last == fault.message) return;  // one line a fault, however long it lasts
      last = fault.message;
    }
    logger_.Log(absent ? log::Level::kInfo : log::Level::kWarning,
                absent ? "no PodGroups in this cluster yet: there are no gangs to repair"
                       : "gangs are not repaired now: the cluster cannot be watched",
                {{"kind", resource.kind},
                 {"reason", kube::ReasonName(fault.reason)},
                 {"fault", fault.message},
                 {"retry_ms", static_cast<int64_t>(pause.count())}});
  }

  kube::Client& client_;
  const Clock& clock_;
  log::Logger& logger_;
  kube::Recorder& recorder_;
  const ControllerOptions options_;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  State state_ GUARDED_BY(mutex_);
  State::Affected queue_ GUARDED_BY(mutex_);                      // Deployments to reconcile
  std::map<std::string, std::string> faults_ GUARDED_BY(mutex_);  // newest by kind
  std::atomic<bool> groups_absent_ = false;
  std::atomic<uint64_t> lowered_ = 0;
  std::atomic<uint64_t> restored_ = 0;
  std::atomic<uint64_t> conflicts_ = 0;
  std::atomic<uint64_t> failed_ = 0;
  std::atomic<uint64_t> looks_ = 0;

  // These belong to the thread of Run, by the Deployment's uid.
  std::map<std::string, Retry> retries_;
  std::map<std::string, std::string>
      said_;  // in Mode::kObserve: what it would do, as of the last decision

  kube::Informer<Deployment> deployments_;
  kube::Informer<ReplicaSet> sets_;
  kube::Informer<PodGroup> groups_;
  kube::Informer<Pod> pods_;
};

Controller::Controller(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                       log::Logger& logger, kube::Recorder& recorder, ControllerOptions options)
    : impl_(std::make_unique<Impl>(client, sleeper, clock, logger, recorder, std::move(options))) {}
Controller::~Controller() = default;

void Controller::Run(const std::stop_token& stop) { impl_->Run(stop); }
bool Controller::synced() const { return impl_->synced(); }
Controller::Counts Controller::counts() const { return impl_->counts(); }

}  // namespace mindgate::watcher::gang_repair
