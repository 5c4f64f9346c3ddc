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

// A decision about one PodGroup, with what people must know of whose it is.
struct Repair {
  const kube::Resource* resource = nullptr;  // of the Deployment or RoleSet
  std::string ns;
  std::string name;
  std::string uid;
  std::string replica_set;  // of a Deployment
  int64_t pods = 0;
  int64_t k = 0;  // of the template
  PodGroup group;
  Decision decision;
};

kube::EventRecord HappeningOf(const Repair& repair) {
  const Decision& decision = repair.decision;
  const bool lower = decision.act == Act::kLower;
  const std::string k(schemas::kMinAvailable);
  const std::string of =
      " of PodGroup " + repair.group.name +
      (repair.replica_set.empty() ? "" : " (ReplicaSet " + repair.replica_set + ")");
  return {.regarding = {repair.resource->api_version(), repair.resource->kind, repair.ns,
                        repair.name, repair.uid},
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
        role_sets_(client, sleeper, clock,
                   Following<RoleSet>(resources::kRoleSets, RoleSetFields(), RoleSetOf)),
        groups_(client, sleeper, clock,
                Following<PodGroup>(resources::kPodGroups, PodGroupFields(), PodGroupOf)),
        pods_(client, sleeper, clock, FollowingPods()) {}

  void Run(const std::stop_token& stop) {
    if (options_.mode == schemas::EnforcementMode::kOff) return;
    // They end with this block: before Run returns, and before the informers do.
    const std::jthread threads[] = {
        StartThread("gang-deploy", [&] { deployments_.Run(stop); }),
        StartThread("gang-replicasets", [&] { sets_.Run(stop); }),
        StartThread("gang-rolesets", [&] { role_sets_.Run(stop); }),
        StartThread("gang-podgroups", [&] { groups_.Run(stop); }),
        StartThread("gang-pods", [&] { pods_.Run(stop); }),
    };
    bool acted = false;
    bool knew_role_sets = false;
    while (!stop.stop_requested()) {
      const bool may_act = MayAct();
      const bool knows_role_sets = role_sets_.current();
      if (may_act && (!acted || (knows_role_sets && !knew_role_sets))) EnqueueAll();
      knew_role_sets = knows_role_sets;
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
           (groups_.synced() || groups_absent_) && (role_sets_.synced() || role_sets_absent_);
  }

  Counts counts() const {
    Counts counts{.lowered = lowered_,
                  .restored = restored_,
                  .conflicts = conflicts_,
                  .failed = failed_,
                  .looks = looks_};
    counts.left_out = deployments_.left_out() + sets_.left_out() + role_sets_.left_out() +
                      groups_.left_out() + pods_.left_out();
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
    for (std::string& uid : state_.Owners()) queue_.insert(std::move(uid));
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
    const auto repairs = RepairsOf(uid);
    if (!repairs) {
      retries_.erase(uid);
      said_.erase(uid);
      ++looks_;
      return;
    }
    bool failed = false;
    const std::string said = said_[uid];
    std::string sayings;
    for (const Repair& repair : *repairs) {
      const bool lower = repair.decision.act == Act::kLower;
      if (options_.mode == schemas::EnforcementMode::kEnforce) {
        failed |= !Write(repair, stop);
      } else {
        const std::string saying = repair.group.uid + " " + repair.decision.k + "\n";
        sayings += saying;
        if (said.find(saying) != std::string::npos) continue;
        Log(lower ? "gang would be lowered" : "gang would be restored", repair);
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

  // What is to be done for a Deployment or RoleSet; nothing when there is no such object. RoleSets
  // are not reconciled while they are not current: without AIBrix they never are.
  std::optional<std::vector<Repair>> RepairsOf(const std::string& uid) {
    std::optional<State::Rollout> rollout;
    std::optional<State::Roles> roles;
    {
      const MutexLock lock(mutex_);
      rollout = state_.Of(uid);
      roles = state_.RolesOf(uid);
    }
    std::vector<Repair> repairs;
    if (rollout) {
      const Deployment& owner = rollout->deployment;
      for (const Gang& gang : rollout->gangs) {
        Decision decision = Decide(owner, gang);
        if (decision.act == Act::kNothing) continue;
        repairs.push_back({&resources::kDeployments, owner.ns, owner.name, owner.uid, gang.set.name,
                           gang.pods, gang.set.k, *gang.group, std::move(decision)});
      }
      return repairs;
    }
    if (!roles) return std::nullopt;
    if (!role_sets_.current()) return repairs;
    const RoleSet& owner = roles->set;
    Decision decision = Decide(owner, roles->group);
    if (decision.act != Act::kNothing) {
      repairs.push_back({&resources::kRoleSets, owner.ns, owner.name, owner.uid, "", owner.pods,
                         owner.k, *roles->group, std::move(decision)});
    }
    return repairs;
  }

  // False when it must be tried again.
  bool Write(const Repair& repair, const std::stop_token& stop) {
    const PodGroup& group = repair.group;
    const auto answer = client_.MergePatch(resources::kPodGroups, group.ns, group.name,
                                           PatchOf(group, repair.decision), {}, {}, stop);
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
                   {NameFieldOf(repair), repair.name},
                   {"reason", kube::ReasonName(fault.reason)},
                   {"fault", fault.message}});
      return false;
    }
    if (const auto written = PodGroupOf(json::Document(*answer).root())) {
      const MutexLock lock(mutex_);
      state_.Wrote(*written);
    }
    const bool lower = repair.decision.act == Act::kLower;
    Log(lower ? "gang lowered" : "gang restored", repair);
    recorder_.Record(HappeningOf(repair));
    ++(lower ? lowered_ : restored_);
    return true;
  }

  static const char* NameFieldOf(const Repair& repair) {
    return repair.resource == &resources::kDeployments ? "deployment" : "role_set";
  }

  void Log(std::string_view what, const Repair& repair) {
    logger_.Info(what, {{"namespace", repair.ns},
                        {NameFieldOf(repair), repair.name},
                        {"replica_set", repair.replica_set},
                        {"pod_group", repair.group.name},
                        {"pods", repair.pods},
                        {"template", repair.k},
                        {"value", repair.decision.k},
                        {"reason", repair.decision.reason}});
  }

  void OnFault(const kube::Resource& resource, const kube::Fault& fault,
               std::chrono::milliseconds pause) {
    const bool no_groups =
        resource == resources::kPodGroups && fault.reason == kube::Reason::kNotFound;
    const bool no_role_sets =
        resource == resources::kRoleSets && fault.reason == kube::Reason::kNotFound;
    if (no_groups) groups_absent_ = true;
    if (resource == resources::kRoleSets) role_sets_absent_ = true;  // nothing waits for them
    {
      const MutexLock lock(mutex_);
      std::string& last = faults_[resource.kind];
      if (last == fault.message) return;  // one line a fault, however long it lasts
      last = fault.message;
    }
    logger_.Log(no_groups || no_role_sets ? log::Level::kInfo : log::Level::kWarning,
                no_groups      ? "no PodGroups in this cluster yet: there are no gangs to repair"
                : no_role_sets ? "no RoleSets in this cluster yet: there are none to repair"
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
  State::Affected queue_ GUARDED_BY(mutex_);  // uids of Deployments and RoleSets to reconcile
  std::map<std::string, std::string> faults_ GUARDED_BY(mutex_);  // newest by kind
  std::atomic<bool> groups_absent_ = false;
  std::atomic<bool> role_sets_absent_ = false;
  std::atomic<uint64_t> lowered_ = 0;
  std::atomic<uint64_t> restored_ = 0;
  std::atomic<uint64_t> conflicts_ = 0;
  std::atomic<uint64_t> failed_ = 0;
  std::atomic<uint64_t> looks_ = 0;

  // These belong to the thread of Run, by the uid of Deployment or RoleSet.
  std::map<std::string, Retry> retries_;
  std::map<std::string, std::string>
      said_;  // in Mode::kObserve: what it would do, as of the last decision

  kube::Informer<Deployment> deployments_;
  kube::Informer<ReplicaSet> sets_;
  kube::Informer<RoleSet> role_sets_;
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
