#include "watcher/scaling/reconciler.h"

#include <algorithm>
#include <utility>

#include "json/decode.h"
#include "json/text_at.h"
#include "watcher/frame/opt_outs.h"
#include "watcher/scaling/gates.h"

namespace mindgate::watcher::scaling {

// How a verdict is told: as a word in the decision log, and as the reason and action of an Event.
struct Wording {
  const char* what;
  const char* reason;
  const char* action;
  kube::EventRecord::Type type = kube::EventRecord::Type::kNormal;
};

struct Reconciler::Run {
  const ServiceKey& key;
  const Inputs& inputs;
  ServiceState& state;
  LeaderClient client;
  const schemas::ElasticScaling settings;
  const Time now;
  std::vector<ObservedInstance> observed{};
  Decision decision{};
  SharedFailure failure{};  // of calls about its pods

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

namespace {

std::set<std::string> UidsOf(const ObservedInstance& instance) {
  std::set<std::string> uids;
  for (const PodState* pod : instance.pods) uids.insert(pod->uid);
  return uids;
}

// What a decision about the pod depends on.
bool IsSame(const PodState& a, const PodState& b) {
  const auto of = [](const PodState& pod) {
    return std::tuple(pod.uid, pod.instance, pod.group(), pod.deleted, pod.on_node(), pod.running,
                      pod.gate, pod.unschedulable.has_value());
  };
  return of(a) == of(b);
}

// When a step that the gate refused without saying until when is tried again.
constexpr std::chrono::seconds kAskAgain{30};
// What was decided about is another one by now, which the watch will report.
Refusal Changed() { return {.why = "its pods have changed meanwhile", .brief = true}; }

constexpr Wording kGranted{"granted", "InstanceGranted", "Grant"};
constexpr Wording kHeld{"held", "InstanceHeld", "Hold"};
constexpr Wording kQueued{"not enqueued", "InstanceNotEnqueued", "Wait"};
constexpr Wording kWithdrawn{"withdrawn", "InstanceWithdrawn", "Withdraw"};
constexpr Wording kGivenUp{"given up", "InstanceGivenUp", "GiveUp",
                           kube::EventRecord::Type::kWarning};
constexpr Wording kUnusable{"held", "ScalingRuleUnusable", "Hold",
                            kube::EventRecord::Type::kWarning};
constexpr Wording kWouldGrant{"would be granted", "InstanceWouldBeGranted", "Observe"};
constexpr Wording kWouldHold{"would be held", "InstanceWouldBeHeld", "Observe"};
constexpr Wording kWouldWithdraw{"would be withdrawn", "InstanceWouldBeWithdrawn", "Observe"};
constexpr Wording kWouldGiveUp{"would be given up", "InstanceWouldBeGivenUp", "Observe"};

// A pod that is being deleted is gone after its grace period, which is 30 s where nothing else was
// said; one that takes longer than this may never go.
constexpr std::chrono::seconds kLeaving(60);
// A PodGroup shows the loss of its pods after the next session of Volcano, which takes seconds in a
// large cluster.
constexpr std::chrono::seconds kSettling(60);

}  // namespace

// By the clock that never jumps: reservations, pauses and deadlines outlive a clock that is set.
Time Reconciler::Now() const {
  return Time(std::chrono::floor<std::chrono::seconds>(clock_.Now().time_since_epoch()));
}

Reconciler::ServiceState& Reconciler::StateOf(const ServiceKey& key) {
  const MutexLock lock(mutex_);
  return services_.try_emplace(key, ServiceState{.known_since = Now()}).first->second;
}

void Reconciler::Forget(const ServiceKey& key) {
  standings_.Remove(key);
  const MutexLock lock(mutex_);
  services_.erase(key);
}

ReconcileResult Reconciler::Reconcile(const ServiceKey& key, const Inputs& inputs,
                                      const Term& term) {
  const schemas::ElasticScaling settings = settings_();
  if (settings.mode == schemas::EnforcementMode::kOff || inputs.view.empty()) {
    Forget(key);
    return {};
  }
  Run run{key, inputs, StateOf(key), LeaderClient(writer_, term), settings, Now()};
  NoteSeen(inputs.view, run.now, run.state);
  const auto& rule = inputs.view.rule.rule;
  run.observed =
      Observe(inputs.view.pods, rule ? &*rule : nullptr, &run.state.seen, inputs.view.pod_groups);
  const auto failed = [&](bool any) {
    return ReconcileResult{.failed = any, .retry_after = run.failure.retry_after()};
  };
  if (run.enforced() && !FinishGivingUp(run)) return failed(true);
  run.decision =
      Decide(ServiceOf(run), settings, run.now,
             std::max(run.state.known_since, run.state.given_up.value_or(run.state.known_since)));
  ++decided_;
  standings_.Set({key, run.decision.reached,
                  run.enforced() ? run.decision.groups : CountsWithoutGrants(run.decision)});
  std::set<std::string> undone;
  if (run.enforced()) {
    Brake(run);
    undone = CarryOut(run);
  }
  TellAll(run, undone);
  ReconcileResult result = failed(!undone.empty());
  if (const auto& again = run.state.recount_at) {
    run.decision.requeue_at = std::min(run.decision.requeue_at.value_or(*again), *again);
  }
  if (run.decision.requeue_at) result.requeue_after = *run.decision.requeue_at - run.now;
  return result;
}

void Reconciler::NoteSeen(const ServiceIndex::View& view, Time now, ServiceState& state) {
  SeenByUid seen;
  std::set<std::string> gated;
  std::map<std::string, Time> leaving;
  for (const PodPtr& pod : view.pods) {
    if (pod->deleted) {
      const auto before = state.leaving.find(pod->uid);
      leaving[pod->uid] = before == state.leaving.end() ? now : before->second;
    }
    if (pod->gate) {
      gated.insert(pod->uid);
      continue;
    }
    const auto before = state.seen.find(pod->uid);
    const bool is_new = before == state.seen.end();
    Seen& of = seen[pod->uid];
    of.ungated = is_new ? now : before->second.ungated;
    // Of what is there at the first look nobody knows who took the gate away.
    of.came_ungated =
        is_new ? state.looked && !state.gated.contains(pod->uid) : before->second.came_ungated;
    if (!pod->unschedulable) continue;
    of.unschedulable = is_new ? now : before->second.unschedulable.value_or(now);
  }
  NotePodGroups(view, now, state, seen);
  state.seen = std::move(seen);
  state.gated = std::move(gated);
  state.looked = true;
  state.leaving = std::move(leaving);
}

void Reconciler::NotePodGroups(const ServiceIndex::View& view, Time now, ServiceState& state,
                               SeenByUid& seen) {
  const auto known = std::exchange(state.with_pods, {});
  state.recount_at.reset();
  if (view.pod_groups.empty()) return;
  std::set<std::string_view> with_pods;
  for (const PodPtr& pod : view.pods) with_pods.insert(pod->instance);
  for (const PodGroupPtr& pod_group : view.pod_groups) {
    const std::string& uid = pod_group->uid;
    Seen& of = seen[uid];
    const auto before = state.seen.find(uid);
    const bool is_new = before == state.seen.end() ||
                        before->second.unschedulable.has_value() != pod_group->waits();
    of.ungated = is_new ? now : before->second.ungated;
    if (pod_group->waits()) of.unschedulable = of.ungated;
    const auto had = known.find(uid);
    if (with_pods.contains(pod_group->instance)) {
      state.with_pods[uid] = std::nullopt;
    } else if (had != known.end() && pod_group->has_room()) {
      const Time since = had->second.value_or(now);
      const Time until = since + kSettling;
      state.with_pods[uid] = since;
      of.had_pods = now < until;
      if (of.had_pods) state.recount_at = std::min(state.recount_at.value_or(until), until);
    }
  }
}

Service Reconciler::ServiceOf(const Run& run) {
  ServiceState& state = run.state;
  const RuleState& rule = run.inputs.view.rule;
  Service service{.rule = rule.rule,
                  .no_rule = rule.why_not,
                  .instances = {},
                  .unusable_nodes = run.inputs.unusable_nodes,
                  .in_vain = state.in_vain};
  for (const ObservedInstance& one : run.observed) {
    Instance instance = one.instance;
    const auto found = state.granted.find(instance.name);
    if (found != state.granted.end() && instance.phase == Phase::kHeld) {
      const Grant& grant = found->second;
      const bool meant = std::any_of(one.pods.begin(), one.pods.end(), [&](const PodState* pod) {
        return grant.pods.contains(pod->uid);
      });
      // What was answered is so, however long it takes to be seen; other grants run out.
      if (meant) instance.granted = grant.answered ? run.now : grant.when;
    }
    service.instances.push_back(std::move(instance));
  }
  for (const PodPtr& pod : run.inputs.view.pods) {
    if (!pod->deleted || pod->node == nullptr || run.inputs.unusable_nodes.contains(*pod->node)) {
      continue;
    }
    const Time until = state.leaving.at(pod->uid) + kLeaving;
    service.leaving_until = std::max(service.leaving_until.value_or(until), until);
  }
  std::erase_if(state.unfinished,
                [&](const auto& grant) { return run.Find(grant.first) == nullptr; });
  // Also while other pods of it show that it was granted: those may go before the watch shows more.
  std::erase_if(state.granted, [&](const auto& grant) {
    const ObservedInstance* found = run.Find(grant.first);
    return found == nullptr ||
           std::none_of(found->pods.begin(), found->pods.end(), [&](const PodState* pod) {
             return pod->gate && grant.second.pods.contains(pod->uid);
           });
  });
  return service;
}

DisruptionGate::Request Reconciler::RequestOf(const Run& run, size_t give_ups) {
  DisruptionGate::Request request{.ns = run.key.ns};
  if (give_ups > 0) {
    request.share = {.setting = "giveUpsPerMinute",
                     .per_minute = run.settings.give_ups_per_minute,
                     .count = static_cast<int64_t>(give_ups)};
  }
  return request;
}

void Reconciler::Brake(Run& run) {
  const auto give_ups =
      std::count_if(run.decision.outcomes.begin(), run.decision.outcomes.end(),
                    [](const Outcome& one) { return one.verdict == Verdict::kGiveUp; });
  if (give_ups == 0) return;
  const Refusal refusal =
      gate_.Ask(run.client.term(), RequestOf(run, static_cast<size_t>(give_ups)));
  if (!refusal.refused()) return;
  // All or none: less than all would help nobody.
  for (Outcome& outcome : run.decision.outcomes) {
    if (outcome.verdict != Verdict::kGiveUp) continue;
    outcome.verdict = Verdict::kKeep;
    outcome.reason += "; it waits, because " + refusal.why;
    run.decision.would.push_back(
        {outcome.instance, outcome.group, Verdict::kGiveUp, outcome.reason});
  }
  const Clock::Instant now = clock_.Now();
  const Time again = run.now + std::chrono::ceil<std::chrono::seconds>(
                                   refusal.again.value_or(now + kAskAgain) - now);
  run.decision.requeue_at = std::min(run.decision.requeue_at.value_or(again), again);
}

// --- what is done --------------------------------------------------------------------------------

// Returns the instances of which not all could be done.
std::set<std::string> Reconciler::CarryOut(Run& run) {
  std::set<std::string> undone;
  std::vector<const Outcome*> give_ups;
  for (const Outcome& outcome : run.decision.outcomes) {
    const ObservedInstance* instance = run.Find(outcome.instance);
    if (instance == nullptr || !run.client.term().holds()) continue;
    if (outcome.verdict == Verdict::kGiveUp) {
      give_ups.push_back(&outcome);
    } else if (outcome.verdict == Verdict::kWithdraw) {
      if (!Withdraw(run, *instance)) undone.insert(outcome.instance);
    } else if (!GrantTo(run, outcome, *instance)) {
      undone.insert(outcome.instance);
    }
  }
  if (!give_ups.empty()) undone.merge(GiveUp(run, give_ups));
  return undone;
}

// True also when there is nothing to do.
bool Reconciler::GrantTo(Run& run, const Outcome& outcome, const ObservedInstance& instance) {
  ServiceState& state = run.state;
  const bool goes_on =
      outcome.verdict == Verdict::kKeep && state.unfinished.contains(outcome.instance);
  if (outcome.verdict != Verdict::kGrant && !goes_on) return true;
  state.granted[outcome.instance] = {run.now, UidsOf(instance), false};
  const Done done = OpenGates(run, instance);
  state.granted[outcome.instance].answered = done == Done::kYes;
  if (done == Done::kNo) {
    state.unfinished.try_emplace(outcome.instance, outcome);
    return false;
  }
  const auto grant = state.unfinished.extract(outcome.instance);
  if (goes_on) Tell(run.key, grant.mapped(), kGranted, true, &instance);
  return true;
}

Reconciler::Done Reconciler::OpenGates(Run& run, const ObservedInstance& instance) {
  Done all = Done::kYes;
  for (const PodState* pod : instance.pods) {
    if (!pod->gate) continue;
    const Gate gate{ServiceKeyOf(*pod).ns, pod->name, pod->uid, *pod->gate};
    const auto answer =
        run.client.Patch(kube::resources::kPods, gate.ns, gate.pod, GateRemoval(gate));
    if (answer) {
      ++granted_;
      continue;
    }
    const Done done = Judge(run, tl::make_unexpected(answer.error()), *pod,
                            "the gate of a pod cannot be opened now");
    if (done == Done::kNo || all == Done::kYes) all = done;
  }
  return all;
}

// What is destroyed is read again before: a watch may be a while behind. Nothing when it is no
// longer what was decided about.
std::optional<json::Document> Reconciler::LookAgain(LeaderClient& client, const PodState& pod) {
  static const json::Projection fields = [] {
    auto paths = PodFields();
    const auto of_opt_outs = OptOutFields();
    paths.insert(paths.end(), of_opt_outs.begin(), of_opt_outs.end());
    return json::Projection(paths);
  }();
  auto answer = client.Read(kube::resources::kPods, ServiceKeyOf(pod).ns, pod.name, fields);
  if (!answer) return std::nullopt;
  const auto now = PodOf(answer->root());
  if (!now || !IsSame(pod, *now)) return std::nullopt;
  return *std::move(answer);
}

bool Reconciler::IsStillSo(LeaderClient& client, const ObservedInstance* instance) {
  if (instance == nullptr) return false;
  if (instance->pod_group != nullptr) return StillWaits(client, *instance->pod_group);
  return std::all_of(instance->pods.begin(), instance->pods.end(),
                     [&](const PodState* pod) { return LookAgain(client, *pod).has_value(); });
}

// The question right before pods of the instance go: whether all of them are as they were, and
// neither the configuration, nor they or what they belong to, say otherwise by now. `versions`: of
// the pods.
Refusal Reconciler::MayGo(LeaderClient& client, const ObservedInstance& instance,
                          std::map<const PodState*, std::string>& versions) {
  if (settings_().mode != schemas::EnforcementMode::kEnforce) {
    return {.why = "the configuration no longer asks for it", .brief = true};
  }
  if (instance.pod_group != nullptr && !StillWaits(client, *instance.pod_group)) return Changed();
  for (const PodState* pod : instance.pods) {
    const auto now = LookAgain(client, *pod);
    if (!now) return Changed();
    versions[pod] = json::TextAt(now->root(), {"metadata", "resourceVersion"});
    // All pods of an instance have the same namespace, PodGroup and owners.
    if (pod == instance.pods.front()) {
      OptOut of = DisabledFor(client, now->root(), ServiceKeyOf(*pod).ns);
      if (!of.why.empty()) return {.why = std::move(of.why), .unreadable = of.unreadable};
    } else if (SaysDisabled(now->root())) {
      return {.why = "mindgate.io/rescheduling is disabled on pod " + pod->name};
    }
  }
  return {};
}

bool Reconciler::StillWaits(LeaderClient& client, const PodGroupState& pod_group) {
  static const json::Projection fields(PodGroupFields());
  const auto answer =
      client.Read(kube::resources::kPodGroups, pod_group.service.ns, pod_group.name, fields);
  if (!answer) return false;
  const auto now = PodGroupOf(answer->root());
  return now && now->uid == pod_group.uid && now->service == pod_group.service &&
         now->group == pod_group.group && now->waits();
}

// Deletes its pods, which its owner recreates behind the gate. One that has found a node meanwhile
// stays, and with it the instance.
bool Reconciler::Withdraw(Run& run, const ObservedInstance& instance) {
  std::vector<const PodState*> pods;
  for (const PodState* pod : instance.pods) {
    if (!pod->gate) pods.push_back(pod);  // others are where they should be
  }
  std::map<const PodState*, std::string> versions;
  DisruptionGate::Request request = RequestOf(run, 0);
  request.still_so = [&](LeaderClient& client) { return MayGo(client, instance, versions); };
  std::vector<Done> outcomes(pods.size(), Done::kNo);
  const Refusal refusal =
      gate_.Send(run.client.term(), request, pods.size(), [&](DestructiveClient& client, size_t i) {
        outcomes[i] = Delete(run, client, *pods[i], versions.at(pods[i]));
      });
  if (refusal.refused()) {
    ReportRefusal(run.key, refusal);
    return false;
  }
  if (std::any_of(outcomes.begin(), outcomes.end(), [](Done done) { return done != Done::kYes; })) {
    return false;
  }
  ++withdrawn_;
  return true;
}

bool Reconciler::MayBeEvicted(Run& run, LeaderClient& client, const ObservedInstance& instance) {
  return std::all_of(instance.pods.begin(), instance.pods.end(), [&](const PodState* pod) {
    kube::DeleteOptions options;
    options.preconditions.uid = pod->uid;
    return Judge(run, client.MayEvict(ServiceKeyOf(*pod).ns, pod->name, options), *pod,
                 "a pod may not be evicted now") == Done::kYes;
  });
}

// All or none: less than all would help nobody.
std::set<std::string> Reconciler::GiveUp(Run& run, const std::vector<const Outcome*>& outcomes) {
  std::set<std::string> names;
  struct Going {
    const PodState* pod;
    GivingUp* of;
  };
  std::vector<Going> pods;
  for (const Outcome* outcome : outcomes) names.insert(outcome->instance);
  const ObservedInstance* stranded = run.Find(run.decision.stranded);
  DisruptionGate::Request request = RequestOf(run, outcomes.size());
  request.still_so = [&](LeaderClient& client) -> Refusal {
    if (!IsStillSo(client, stranded)) return Changed();
    std::map<const PodState*, std::string> versions;
    for (const std::string& name : names) {
      const ObservedInstance* instance = run.Find(name);
      if (instance == nullptr) return Changed();
      if (Refusal refusal = MayGo(client, *instance, versions); refusal.refused()) return refusal;
      if (!MayBeEvicted(run, client, *instance)) return Changed();
    }
    return {};
  };
  // Known before the first call, so that what is not answered is finished.
  request.before_first = [&] {
    run.state.given_up = run.now;
    run.state.in_vain = stranded->instance;
    for (const Going& going : pods) going.of->pods.insert(going.pod->uid);
  };
  std::map<std::string, GivingUp> giving_up;
  for (const Outcome* outcome : outcomes) {
    GivingUp& each = giving_up[outcome->instance];
    each.outcome = *outcome;
    const ObservedInstance* instance = run.Find(outcome->instance);
    if (instance == nullptr) continue;
    for (const PodState* pod : instance->pods) pods.push_back({pod, &each});
  }
  std::vector<Done> done(pods.size(), Done::kNo);
  const Refusal refusal =
      gate_.Send(run.client.term(), request, pods.size(), [&](DestructiveClient& client, size_t i) {
        done[i] = Delete(run, client, *pods[i].pod, "");
      });
  if (refusal.refused() && giving_up.begin()->second.pods.empty()) {
    ReportRefusal(run.key, refusal);
    return names;
  }
  for (size_t i = 0; i < pods.size(); ++i) {
    if (done[i] == Done::kYes) pods[i].of->deleted.insert(pods[i].pod->uid);
  }
  for (auto& [name, each] : giving_up) {
    GivingUp& kept = run.state.giving_up[name] = std::move(each);
    if (CountWhenDone(kept)) names.erase(name);
  }
  return names;
}

// True once: when the last of its pods was deleted.
bool Reconciler::CountWhenDone(GivingUp& giving_up) {
  if (giving_up.told || giving_up.deleted != giving_up.pods) return false;
  giving_up.told = true;
  ++given_up_;
  return true;
}

// Deletes what is left of those that are given up, which the watch tells and no refusal: a conflict
// may be of another kind than that of the UID. False as long as the watch shows a pod of them:
// a decision would take the instance for one that starts.
bool Reconciler::FinishGivingUp(Run& run) {
  bool finished = true;
  std::map<std::string, const PodState*> live;  // by UID
  for (const PodPtr& pod : run.inputs.view.pods) {
    if (!pod->deleted) live[pod->uid] = pod.get();
  }
  for (auto each = run.state.giving_up.begin(); each != run.state.giving_up.end();) {
    GivingUp& giving_up = each->second;
    std::vector<const PodState*> left;
    bool any_live = false;
    for (const std::string& uid : giving_up.pods) {
      const auto pod = live.find(uid);
      any_live = any_live || pod != live.end();
      if (pod == live.end()) {
        giving_up.deleted.insert(uid);  // what is not there any more need not be deleted
      } else if (!giving_up.deleted.contains(uid)) {
        left.push_back(pod->second);
      }
    }
    std::vector<Done> done(left.size(), Done::kNo);
    const Refusal refusal = gate_.Send(
        run.client.term(), RequestOf(run, 0), left.size(),
        [&](DestructiveClient& client, size_t i) { done[i] = Delete(run, client, *left[i], ""); });
    if (refusal.refused()) ReportRefusal(run.key, refusal);
    for (size_t i = 0; i < left.size(); ++i) {
      if (done[i] == Done::kYes) giving_up.deleted.insert(left[i]->uid);
    }
    if (CountWhenDone(giving_up)) {
      Tell(run.key, giving_up.outcome, kGivenUp, true, run.Find(each->first));
    }
    finished = finished && !any_live;
    each = any_live ? std::next(each) : run.state.giving_up.erase(each);
  }
  return finished;
}

void Reconciler::ReportRefusal(const ServiceKey& key, const Refusal& refusal) {
  if (refusal.is_over) return;
  logger_.Info(
      "a step of elastic scaling waits",
      {{"namespace", key.ns}, {"rule", key.rule}, {"jobID", key.job_id}, {"why", refusal.why}});
}

Reconciler::Done Reconciler::Delete(Run& run, DestructiveClient& client, const PodState& pod,
                                    std::string resource_version) {
  kube::DeleteOptions options;
  options.preconditions.uid = pod.uid;
  options.preconditions.resource_version = std::move(resource_version);
  return Judge(run, client.DeletePod(ServiceKeyOf(pod).ns, pod.name, options), pod,
               "a pod cannot be deleted now");
}

// A pod that is gone, another one of its name and a gate that is open already are not failures: the
// watch reports them, and the next decision sees them.
Reconciler::Done Reconciler::Judge(Run& run, const kube::Answer<void>& answer, const PodState& pod,
                                   const char* what) {
  if (answer) return Done::kYes;
  switch (answer.error().reason) {
    case kube::Reason::kNotFound:
    case kube::Reason::kConflict:
    case kube::Reason::kInvalid:
      return Done::kMoot;
    case kube::Reason::kStopped:
      return Done::kNo;
    default:
      break;
  }
  ++failed_;
  run.failure.Fail(answer.error());
  logger_.Warning(what, {{"namespace", std::string_view(ServiceKeyOf(pod).ns)},
                         {"pod", std::string_view(pod.name)},
                         {"reason", kube::ReasonName(answer.error().reason)},
                         {"fault", std::string_view(answer.error().message)}});
  return Done::kNo;
}

// --- what is told --------------------------------------------------------------------------------

void Reconciler::Tell(const ServiceKey& key, const Outcome& outcome, const Wording& wording,
                      bool enforced, const ObservedInstance* instance) {
  decisions_.Tell({.controller = "scaling",
                   .ns = key.ns,
                   .about = {{"rule", key.rule},
                             {"jobID", key.job_id},
                             {"instance", outcome.instance},
                             {"group", outcome.group}},
                   .what = wording.what,
                   .reason = outcome.reason,
                   .enforced = enforced,
                   .regarding = instance == nullptr ? kube::ObjectReference() : instance->regarding,
                   .type = wording.type,
                   .event_reason = wording.reason,
                   .event_action = wording.action});
}

bool Reconciler::IsQueued(const Run& run, const std::string& instance) {
  const ObservedInstance* found = run.Find(instance);
  return found != nullptr && found->pod_group != nullptr;
}

// All but `undone`, which is told when it is done, and nothing twice.
void Reconciler::TellAll(Run& run, const std::set<std::string>& undone) {
  const bool enforced = run.enforced();
  const bool unusable_rule = !run.inputs.view.rule.rule;
  ReportedOutcomes said;
  const auto tell = [&](const Outcome& outcome, const Wording& wording, bool done) {
    const auto [saying, fresh] = said.emplace(outcome.instance, wording.what, outcome.reason);
    if (!fresh || run.state.said.contains(*saying)) return;
    Tell(run.key, outcome, wording, done, run.Find(outcome.instance));
  };
  for (const Outcome& outcome : run.decision.outcomes) {
    if (undone.contains(outcome.instance)) continue;
    switch (outcome.verdict) {
      case Verdict::kGrant:
        tell(outcome, enforced ? kGranted : kWouldGrant, enforced);
        break;
      case Verdict::kHold:
        // Volcano's doing.
        if (IsQueued(run, outcome.instance)) {
          tell(outcome, kQueued, true);
          break;
        }
        tell(outcome, unusable_rule ? kUnusable : enforced ? kHeld : kWouldHold, enforced);
        break;
      case Verdict::kWithdraw:
        tell(outcome, enforced ? kWithdrawn : kWouldWithdraw, enforced);
        break;
      case Verdict::kGiveUp:
        tell(outcome, enforced ? kGivenUp : kWouldGiveUp, enforced);
        break;
      case Verdict::kKeep:
        if (unusable_rule) tell(outcome, kUnusable, enforced);
        break;
    }
  }
  for (const Outcome& outcome : run.decision.would) tell(outcome, kWouldGiveUp, false);
  run.state.said = std::move(said);
}

}  // namespace mindgate::watcher::scaling
