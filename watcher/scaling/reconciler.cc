#include "watcher/scaling/reconciler.h"

#include <algorithm>
#include <utility>

#include "watcher/scaling/pod.h"

namespace mindgate::watcher::scaling {
namespace {

// When a step that the gate refused without saying until when is tried again.
constexpr std::chrono::seconds kAskAgain{30};
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
  statuses_.Remove(key);
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
  UpdateObservations(inputs.view, run.now, run.state);
  const auto& rule = inputs.view.rule.rule;
  run.observed =
      Observe(inputs.view.pods, rule ? &*rule : nullptr, &run.state.seen, inputs.view.pod_groups);
  const auto failed = [&](bool any) {
    return ReconcileResult{.failed = any, .retry_after = run.failure.retry_after};
  };
  if (run.enforced() && !FinishGivingUp(run)) return failed(true);
  run.decision =
      Decide(ServiceOf(run), settings, run.now,
             std::max(run.state.known_since, run.state.given_up.value_or(run.state.known_since)));
  ++decided_;
  statuses_.Set({key, run.decision.reached,
                 run.enforced() ? run.decision.groups : CountsWithoutGrants(run.decision)});
  std::set<std::string> undone;
  if (run.enforced()) {
    ApplyBudget(run);
    undone = CarryOut(run);
  }
  ReportAll(run, undone);
  ReconcileResult result = failed(!undone.empty());
  if (const auto& again = run.state.recount_at) {
    run.decision.requeue_at = std::min(run.decision.requeue_at.value_or(*again), *again);
  }
  if (run.decision.requeue_at) result.requeue_after = *run.decision.requeue_at - run.now;
  return result;
}

void Reconciler::UpdateObservations(const ServiceIndex::View& view, Time now, ServiceState& state) {
  std::vector<SeenByUid::Entry> seen;
  seen.reserve(view.pods.size() + view.pod_groups.size());
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
    const Seen* before = state.seen.Find(pod->uid);
    Seen& of = seen.emplace_back(SeenByUid::Entry{UidOf(pod), {}}).seen;
    of.ungated = before == nullptr ? now : before->ungated;
    // Of what is there at the first look nobody knows who took the gate away.
    of.came_ungated = before == nullptr ? state.observed && !state.gated.contains(pod->uid)
                                        : before->came_ungated;
    if (!pod->unschedulable) continue;
    of.unschedulable = before == nullptr ? now : before->unschedulable.value_or(now);
  }
  NotePodGroups(view, now, state, seen);
  state.seen = SeenByUid(std::move(seen));
  state.gated = std::move(gated);
  state.observed = true;
  state.leaving = std::move(leaving);
}

void Reconciler::NotePodGroups(const ServiceIndex::View& view, Time now, ServiceState& state,
                               std::vector<SeenByUid::Entry>& seen) {
  const auto known = std::exchange(state.with_pods, {});
  state.recount_at.reset();
  if (view.pod_groups.empty()) return;
  std::set<std::string_view> with_pods;
  for (const PodPtr& pod : view.pods) with_pods.insert(pod->instance);
  for (const PodGroupPtr& pod_group : view.pod_groups) {
    const std::string& uid = pod_group->uid;
    Seen& of = seen.emplace_back(SeenByUid::Entry{UidOf(pod_group), {}}).seen;
    const Seen* before = state.seen.Find(uid);
    const bool is_new =
        before == nullptr || before->unschedulable.has_value() != pod_group->waits();
    of.ungated = is_new ? now : before->ungated;
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
                  .futile = state.futile == nullptr ? std::nullopt : std::optional(*state.futile)};
  for (const ObservedInstance& one : run.observed) {
    Instance instance = one.instance;
    const auto found = state.granted.find(instance.name);
    if (found != state.granted.end() && instance.phase == Phase::kHeld) {
      const Grant& grant = found->second;
      // What was answered is so, however long it takes to be seen; other grants run out.
      if (std::ranges::any_of(one.pods, [&](const PodState* pod) { return grant.Has(*pod); })) {
        instance.granted = grant.answered ? run.now : grant.when;
        instance.unanswered = grant.unfinished.has_value();
      }
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
  // Also while other pods of it show that it was granted: those may go before the watch shows more.
  // One that is not reported yet is kept until then, but not for pods that took the place of its
  // own.
  std::erase_if(state.granted, [&](const auto& entry) {
    const Grant& grant = entry.second;
    const ObservedInstance* found = run.Find(entry.first);
    return found == nullptr || std::ranges::none_of(found->pods, [&](const PodState* pod) {
             return grant.Has(*pod) && (pod->gate || grant.unfinished);
           });
  });
  return service;
}

DisruptionGate::Request Reconciler::RequestOf(const Run& run, size_t give_ups) {
  // An instance has few pods, and after one that stays the others need not go.
  DisruptionGate::Request request{.ns = run.key.ns, .at_once = 1};
  if (give_ups > 0) {
    request.share = {.setting = "giveUpsPerMinute",
                     .per_minute = run.settings.give_ups_per_minute,
                     .count = static_cast<int64_t>(give_ups)};
  }
  return request;
}

void Reconciler::ApplyBudget(Run& run) {
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
    run.decision.proposed.push_back(
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
  auto& granted = run.state.granted;
  const auto before = granted.find(outcome.instance);
  std::optional<Outcome> unfinished;
  if (before != granted.end()) unfinished = before->second.unfinished;
  const bool goes_on = outcome.verdict == Verdict::kKeep && unfinished;
  if (outcome.verdict != Verdict::kGrant && !goes_on) return true;
  Grant& grant = granted[outcome.instance] = {.when = run.now, .pods = instance.uids()};
  const Done done = OpenGates(run, instance);
  grant.answered = done == Done::kYes;
  if (done == Done::kNo) {
    grant.unfinished = unfinished.value_or(outcome);
    return false;
  }
  if (goes_on) Report(run.key, *unfinished, DecisionKind::kGranted, true, &instance);
  return true;
}

Reconciler::Done Reconciler::OpenGates(Run& run, const ObservedInstance& instance) {
  Done all = Done::kYes;
  for (const PodState* pod : instance.pods) {
    if (!pod->gate) continue;
    const std::string ns = ServiceKeyOf(*pod).ns;
    const GateCalls calls{
        .patch = [&](const json::Json& operations) -> kube::Answer<void> {
          const auto answer = run.client.Patch(kube::resources::kPods, ns, pod->name, operations);
          if (!answer) return tl::make_unexpected(answer.error());
          return {};
        },
        .read =
            [&](const json::Projection& fields) {
              return run.client.Read(kube::resources::kPods, ns, pod->name, fields);
            }};
    const auto opened = OpenGate({ns, pod->name, pod->uid, static_cast<size_t>(*pod->gate)}, calls);
    if (!opened) {
      all = Failed(run, opened.error(), *pod, "the gate of a pod cannot be opened now");
    } else if (*opened) {
      ++granted_;
    } else if (all == Done::kYes) {
      // The watch reports it, and the next decision sees it.
      all = Done::kNoLongerNeeded;
    }
  }
  return all;
}

void Reconciler::ReportRefusal(const ServiceKey& key, const Refusal& refusal) {
  if (refusal.is_over) return;
  logger_.Info(
      "a step of elastic scaling waits",
      {{"namespace", key.ns}, {"rule", key.rule}, {"jobID", key.job_id}, {"why", refusal.why}});
}

// A pod that is gone and another one of its name are not failures: the watch reports them, and the
// next decision sees them.
Reconciler::Done Reconciler::Evaluate(Run& run, const kube::Answer<void>& answer,
                                      const PodState& pod, const char* what) {
  if (answer) return Done::kYes;
  const kube::Reason reason = answer.error().reason;
  if (reason == kube::Reason::kNotFound || reason == kube::Reason::kConflict) {
    return Done::kNoLongerNeeded;
  }
  return Failed(run, answer.error(), pod, what);
}

Reconciler::Done Reconciler::Failed(Run& run, const kube::Fault& fault, const PodState& pod,
                                    const char* what) {
  if (fault.reason == kube::Reason::kStopped) return Done::kNo;
  ++failed_;
  run.failure.Fail(fault);
  logger_.Warning(what, {{"namespace", std::string_view(ServiceKeyOf(pod).ns)},
                         {"pod", std::string_view(pod.name)},
                         {"reason", kube::ReasonName(fault.reason)},
                         {"fault", std::string_view(fault.message)}});
  return Done::kNo;
}

// --- reports -------------------------------------------------------------------------------------

void Reconciler::Report(const ServiceKey& key, const Outcome& outcome, DecisionKind kind,
                        bool enforced, const ObservedInstance* instance) {
  decisions_.Report(
      {.kind = kind,
       .ns = key.ns,
       .about = {{"rule", key.rule},
                 {"jobID", key.job_id},
                 {"instance", outcome.instance},
                 {"group", outcome.group}},
       .reason = outcome.reason,
       .enforced = enforced,
       .regarding = instance == nullptr ? kube::ObjectReference() : instance->regarding});
}

bool Reconciler::IsQueued(const Run& run, const std::string& instance) {
  const ObservedInstance* found = run.Find(instance);
  return found != nullptr && found->pod_group != nullptr;
}

// All but `undone`, which is reported when it is done, and nothing twice.
void Reconciler::ReportAll(Run& run, const std::set<std::string>& undone) {
  const bool enforced = run.enforced();
  using Kind = DecisionKind;
  const bool unusable_rule = !run.inputs.view.rule.rule;
  ReportedOutcomes reported;
  const auto report = [&](const Outcome& outcome, DecisionKind kind, bool done) {
    const auto [entry, fresh] =
        reported.emplace(outcome.instance, WordsOf(kind).word, outcome.reason);
    if (!fresh || run.state.reported.contains(*entry)) return;
    Report(run.key, outcome, kind, done, run.Find(outcome.instance));
  };
  for (const Outcome& outcome : run.decision.outcomes) {
    if (undone.contains(outcome.instance)) continue;
    switch (outcome.verdict) {
      case Verdict::kGrant:
        report(outcome, enforced ? Kind::kGranted : Kind::kWouldGrant, enforced);
        break;
      case Verdict::kHold:
        // Volcano's doing.
        if (IsQueued(run, outcome.instance)) {
          report(outcome, Kind::kNotEnqueued, true);
          break;
        }
        report(outcome,
               unusable_rule ? Kind::kRuleUnusable
               : enforced    ? Kind::kHeld
                             : Kind::kWouldHold,
               enforced);
        break;
      case Verdict::kWithdraw:
        report(outcome, enforced ? Kind::kWithdrawn : Kind::kWouldWithdraw, enforced);
        break;
      case Verdict::kGiveUp:
        report(outcome, enforced ? Kind::kGivenUp : Kind::kWouldGiveUp, enforced);
        break;
      case Verdict::kKeep:
        if (unusable_rule) report(outcome, Kind::kRuleUnusable, enforced);
        break;
    }
  }
  for (const Outcome& outcome : run.decision.proposed) report(outcome, Kind::kWouldGiveUp, false);
  run.state.reported = std::move(reported);
}

}  // namespace mindgate::watcher::scaling
