#include "watcher/gang_repair/controller.h"

#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/metric_family.h"
#include "base/threads.h"
#include "json/decode.h"
#include "schemas/names.h"
#include "watcher/frame/leader_client.h"

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

}  // namespace

// A decision about one PodGroup, with what people must know of whose it is.
struct Controller::Repair {
  const kube::Resource* resource = nullptr;  // of the Deployment or RoleSet
  std::string ns;
  std::string name;
  std::string uid;
  std::string replica_set;  // of a Deployment
  int64_t pods = 0;
  int64_t k = 0;  // of the template
  PodGroup group;
  Decision decision;

  bool lowers() const { return decision.act == Act::kLower; }
  const char* owner_field() const {
    return resource == &resources::kDeployments ? "deployment" : "roleSet";
  }
};

Controller::Controller(kube::Client& client, Writer writer, kube::Sleeper& sleeper,
                       const Clock& clock, log::Logger& logger, PodInformer& pods,
                       DecisionLog& decisions, Options options)
    : writer_(writer),
      logger_(logger),
      decisions_(decisions),
      options_(std::move(options)),
      loop_(clock, LoopOptions()),
      pods_(pods),
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
              Following<PodGroup>(resources::kPodGroups, PodGroupFields(), PodGroupOf)) {
  SubscribeTo(pods);
}

template <typename T>
void Controller::Change(const T* before, const T* after) {
  State::Affected affected;
  {
    const MutexLock lock(mutex_);
    affected = state_.Change(before, after);
  }
  for (const OwnerKey& owner : affected) loop_.Enqueue(owner);
}

template <typename T>
typename kube::Informer<T>::Options Controller::Following(
    const kube::Resource& resource, Fields fields,
    std::function<std::optional<T>(const json::Value&)> project) {
  typename kube::Informer<T>::Options options;
  options.selection.resource = resource;
  options.selection.fields = std::move(fields);
  options.project = std::move(project);
  options.changed = [this](const std::string&, const T* before, const T* after) {
    Change(before, after);
  };
  options.failed = [this, &resource](const kube::Fault& fault, std::chrono::milliseconds pause) {
    OnFault(resource, fault, pause);
  };
  options.on_synced = [this] { EnqueueIfCurrent(); };
  options.seed = options_.seed + std::hash<std::string>()(resource.plural);
  return options;
}

void Controller::SubscribeTo(PodInformer& pods) {
  const auto project = [](const json::Value& object) {
    auto pod = PodOf(object);
    return pod ? std::make_shared<const Pod>(*std::move(pod)) : nullptr;
  };
  PodInformer::Subscription<Pod> subscription;
  subscription.enabled = options_.enabled;
  subscription.fields = PodFields();
  subscription.project = project;
  subscription.oversized = project;  // whose it is stands in its metadata
  subscription.changed = [this](const PodInformer::Ptr<Pod>& before,
                                const PodInformer::Ptr<Pod>& after) {
    Change(before.get(), after.get());
  };
  subscription.on_synced = [this] { EnqueueIfCurrent(); };
  pods.Subscribe<Pod>(std::move(subscription));
}

ReconcileLoop<OwnerKey>::Options Controller::LoopOptions() {
  return {.name = "gang-repair",
          // The scheduler changes PodGroups every second.
          .changes_wait = true,
          .seed = options_.seed,
          .term = options_.term,
          .reconcile = [this](const OwnerKey& owner,
                              const Term& term) { return Reconcile(owner, term); },
          .forget = [this](const OwnerKey& owner) { reported_.erase(owner); }};
}

void Controller::Run(const std::stop_token& stop) {
  // They end before Run returns, and before the informers do.
  const std::jthread threads[] = {
      StartThread("gang-deploy", [&] { deployments_.Run(stop); }),
      StartThread("gang-replicasets", [&] { sets_.Run(stop); }),
      StartThread("gang-rolesets", [&] { role_sets_.Run(stop); }),
      StartThread("gang-podgroups", [&] { groups_.Run(stop); }),
  };
  loop_.Run(stop);
}

void Controller::EnqueueAll() {
  std::vector<OwnerKey> owners;
  {
    const MutexLock lock(mutex_);
    owners = state_.Owners();
  }
  for (const OwnerKey& owner : owners) loop_.Enqueue(owner);
}

void Controller::EnqueueIfCurrent() {
  if (IsCurrent()) EnqueueAll();
}

bool Controller::synced() const {
  return deployments_.synced() && sets_.synced() && pods_.synced() &&
         (groups_.synced() || groups_absent_) && (role_sets_.synced() || role_sets_absent_);
}

bool Controller::IsCurrent() const {
  return deployments_.current() && sets_.current() && groups_.current() && pods_.current();
}

Controller::Counts Controller::counts() const {
  const MutexLock lock(mutex_);
  return {lowered_, restored_, conflicts_, failed_, looks_, state_.marked()};
}

size_t Controller::left_out() const {
  return deployments_.left_out() + sets_.left_out() + role_sets_.left_out() + groups_.left_out();
}

ReconcileResult Controller::Reconcile(const OwnerKey& owner, const Term& term) {
  if (!enabled()) return {};
  if (!IsCurrent()) return {};  // all come again once it is
  const auto repairs = RepairsOf(owner);
  ++looks_;
  if (!repairs) {
    reported_.erase(owner);
    return {};
  }
  ReconcileResult result;
  const std::string last = reported_[owner];
  std::string reports;
  for (const Repair& repair : *repairs) {
    if (options_.mode == schemas::EnforcementMode::kEnforce) {
      Write(repair, term, result);
      continue;
    }
    const std::string report = repair.group.uid + " " + repair.decision.k + "\n";
    reports += report;
    if (last.find(report) == std::string::npos) Report(repair, false);
  }
  if (reports.empty()) {
    reported_.erase(owner);
  } else {
    reported_[owner] = std::move(reports);
  }
  return result;
}

// What is to be done for a Deployment or RoleSet; nothing when there is no such object, or no
// current state of it.
std::optional<std::vector<Controller::Repair>> Controller::RepairsOf(const OwnerKey& key) {
  std::optional<State::Rollout> rollout;
  std::optional<State::Roles> roles;
  {
    const MutexLock lock(mutex_);
    rollout = state_.Of(key);
    roles = state_.RolesOf(key);
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
  if (!roles || !role_sets_.current()) return std::nullopt;
  const RoleSet& owner = roles->set;
  Decision decision = Decide(owner, roles->group);
  if (decision.act != Act::kNothing) {
    repairs.push_back({&resources::kRoleSets, owner.ns, owner.name, owner.uid, "", owner.pods,
                       owner.k, *roles->group, std::move(decision)});
  }
  return repairs;
}

void Controller::Write(const Repair& repair, const Term& term, ReconcileResult& result) {
  const PodGroup& group = repair.group;
  LeaderClient client(writer_, term);
  const auto answer = client.MergePatch(resources::kPodGroups, group.ns, group.name,
                                        PatchOf(group, repair.decision));
  if (!answer) {
    const kube::Fault& fault = answer.error();
    result.Fail(fault);
    if (fault.reason == kube::Reason::kStopped) return;
    const bool changed =
        fault.reason == kube::Reason::kConflict || fault.reason == kube::Reason::kNotFound;
    ++(changed ? conflicts_ : failed_);
    logger_.Log(changed ? log::Level::kInfo : log::Level::kWarning,
                changed ? "the PodGroup has changed in the meantime: deciding again"
                        : "a PodGroup could not be repaired: will retry",
                {{"namespace", group.ns},
                 {"pod_group", group.name},
                 {"kind", repair.resource->kind},
                 {"name", repair.name},
                 {"reason", kube::ReasonName(fault.reason)},
                 {"fault", fault.message}});
    return;
  }
  if (const auto written = PodGroupOf(json::Document(*answer).root())) {
    const MutexLock lock(mutex_);
    state_.Wrote(*written);
  }
  Report(repair, true);
  ++(repair.lowers() ? lowered_ : restored_);
}

void Controller::Report(const Repair& repair, bool enforced) {
  const Decision& decision = repair.decision;
  const bool lowers = repair.lowers();
  const std::string k(schemas::kMinAvailable);
  const std::string of =
      " of PodGroup " + repair.group.name +
      (repair.replica_set.empty() ? "" : " (ReplicaSet " + repair.replica_set + ")");
  using Kind = DecisionKind;
  DecisionRecord record{
      .kind = lowers ? (enforced ? Kind::kGangLowered : Kind::kWouldLowerGang)
                     : (enforced ? Kind::kGangRestored : Kind::kWouldRestoreGang),
      .ns = repair.ns,
      .about = {{repair.owner_field(), repair.name}, {"podGroup", repair.group.name}},
      .reason = (lowers ? k + of + " set to " + decision.k
                        : k + of + " removed, so the value on the pods applies again") +
                ": " + decision.reason,
      .enforced = enforced};
  if (!repair.replica_set.empty()) record.about.emplace_back("replicaSet", repair.replica_set);
  record.about.emplace_back("pods", std::to_string(repair.pods));
  record.about.emplace_back("template", std::to_string(repair.k));
  record.about.emplace_back("value", decision.k);
  if (enforced) {
    record.regarding = {repair.resource->api_version(), repair.resource->kind, repair.ns,
                        repair.name, repair.uid};
  }
  decisions_.Report(std::move(record));
}

void Controller::OnFault(const kube::Resource& resource, const kube::Fault& fault,
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

void Controller::AddMetrics(std::vector<prometheus::MetricFamily>& families) const {
  const Counts total = counts();
  families.push_back(MakeCounter("mindgate_gang_repair_lowered_total",
                                 "Times that the gang size of a PodGroup was set to its pods.",
                                 total.lowered));
  families.push_back(MakeCounter("mindgate_gang_repair_restored_total",
                                 "PodGroups that got their gang size back.", total.restored));
  families.push_back(MakeCounter("mindgate_gang_repair_failed_calls_total",
                                 "Failed writes, which are retried.", total.failed));
  families.push_back(MakeGauge("mindgate_gang_repair_podgroups",
                               "PodGroups whose gang size is ours now.",
                               static_cast<double>(total.marked)));
}

}  // namespace mindgate::watcher::gang_repair
