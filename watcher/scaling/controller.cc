#include "watcher/scaling/controller.h"

#include <algorithm>
#include <thread>
#include <tuple>
#include <utility>

#include "base/mutex.h"
#include "base/thread.h"
#include "json/decode.h"
#include "watcher/scaling/gates.h"

namespace mindgate::watcher::scaling {

// How a verdict is told: as a word in the journal, and as the reason and action of an Event.
struct Wording {
  const char* what;
  const char* reason;
  const char* action;
  kube::EventRecord::Type type = kube::EventRecord::Type::kNormal;
};

namespace {

// While what is known may be old.
constexpr std::chrono::seconds kAgain(1);

Options OptionsOf(const schemas::ElasticScaling& settings) {
  Options options;
  options.upstream_counts = settings.upstream_counts;
  options.reservation = std::chrono::seconds(settings.reservation);
  options.rebalance = settings.rebalance;
  options.rebalance_after = std::chrono::seconds(settings.rebalance_after);
  options.cool_down = std::chrono::seconds(settings.cool_down);
  return options;
}

const ObservedInstance* Find(const std::vector<ObservedInstance>& observed,
                             const std::string& name) {
  const auto found =
      std::lower_bound(observed.begin(), observed.end(), name,
                       [](const ObservedInstance& instance, const std::string& wanted) {
                         return instance.instance.name < wanted;
                       });
  return found != observed.end() && found->instance.name == name ? &*found : nullptr;
}

std::set<std::string> UidsOf(const ObservedInstance& instance) {
  std::set<std::string> uids;
  for (const PodState* pod : instance.pods) uids.insert(pod->uid);
  return uids;
}

bool HasGates(const ObservedInstance& instance) {
  return std::any_of(instance.pods.begin(), instance.pods.end(),
                     [](const PodState* pod) { return pod->gate && !pod->ended; });
}

// What a decision about the pod depends on.
bool IsSame(const PodState& a, const PodState& b) {
  const auto of = [](const PodState& pod) {
    return std::tuple(pod.uid, pod.instance, pod.group, pod.terminating, pod.placed, pod.running,
                      pod.ended, pod.gate, pod.unschedulable.has_value());
  };
  return of(a) == of(b);
}

constexpr Wording kGranted{"granted", "InstanceGranted", "Grant"};
constexpr Wording kHeld{"held", "InstanceHeld", "Hold"};
constexpr Wording kWouldGrant{"would be granted", "InstanceWouldBeGranted", "Observe"};
constexpr Wording kWouldHold{"would be held", "InstanceWouldBeHeld", "Observe"};
constexpr Wording kUnusable{"held", "ScalingRuleUnusable", "Hold",
                            kube::EventRecord::Type::kWarning};
constexpr Wording kGivenUp{"given up", "InstanceGivenUp", "GiveUp",
                           kube::EventRecord::Type::kWarning};
constexpr Wording kWouldGiveUp{"would be given up", "InstanceWouldBeGivenUp", "Observe"};

}  // namespace

ScalingController::ScalingController(kube::Client& client, kube::Client& writer,
                                     kube::Sleeper& sleeper, const Clock& clock,
                                     log::Logger& logger, kube::Recorder& recorder, Options options)
    : client_(client),
      writer_(writer),
      clock_(clock),
      logger_(logger),
      recorder_(recorder),
      options_(std::move(options)),
      feed_(client, sleeper, clock, FeedOptions()) {}

ServiceFeed::Options ScalingController::FeedOptions() {
  ServiceFeed::Options feed;
  feed.ns = options_.ns;
  feed.without_rules = options_.without_rules;
  feed.changed = [this](const ServiceKey& service) { queue_.Add(service); };
  feed.failed = [this](const char* what, const kube::Fault& fault,
                       std::chrono::milliseconds pause) {
    logger_.Warning("cannot be watched now", {{"what", std::string_view(what)},
                                              {"reason", kube::ReasonName(fault.reason)},
                                              {"fault", fault.message},
                                              {"retry_ms", static_cast<int64_t>(pause.count())}});
  };
  feed.seed = options_.seed;
  return feed;
}

void ScalingController::Run(const std::stop_token& stop) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < options_.workers; ++i) {
    threads.push_back(StartThread("scaling-" + std::to_string(i), [&] { Work(stop); }));
  }
  feed_.Run(stop);
}

void ScalingController::EnqueueAll() {
  for (const ServiceKey& service : feed_.index().services()) queue_.Add(service);
}

void ScalingController::Work(const std::stop_token& stop) {
  while (const auto work = queue_.Take(stop)) {
    Reconcile(*work, stop);
    queue_.Done(work->key);
  }
}

ScalingController::ServiceState& ScalingController::StateOf(const ServiceKey& key) {
  const MutexLock lock(mutex_);
  return services_.try_emplace(key, options_.seed + services_.size()).first->second;
}

void ScalingController::Retry(const ServiceKey& key, ServiceState& state) {
  queue_.AddAt(key, std::chrono::steady_clock::now() + state.backoff.Next());
}

void ScalingController::Forget(const ServiceKey& key) {
  journal_.Remove(key);
  const MutexLock lock(mutex_);
  services_.erase(key);
}

void ScalingController::Reconcile(const Queue::Work& work, const std::stop_token& stop) {
  const ServiceKey& key = work.key;
  const schemas::ElasticScaling settings = options_.settings();
  const auto leading_since = options_.leading_since();
  if (settings.mode == schemas::EnforcementMode::kOff || !leading_since) {
    Forget(key);  // another leader may act: what was remembered may no longer be true
    return;
  }
  if (!feed_.current()) {
    queue_.AddAt(key, std::chrono::steady_clock::now() + kAgain);
    return;
  }
  // Asked first: what is read in between is newer.
  const bool knows_rule = feed_.knows_rule_of(key);
  const ServiceIndex::View view = feed_.index().Look(key);
  if (view.pods.empty()) {
    Forget(key);
    return;
  }
  if (!knows_rule) return;  // it comes again once the rule was read
  ServiceState& state = StateOf(key);
  const Time now = clock_.WallNow();
  NoteUngated(view.pods, now, state);
  const auto observed = Observe(view.pods, state.ungated);
  const bool enforced = settings.mode == schemas::EnforcementMode::kEnforce;
  if (enforced && !FinishGivingUp(key, view.pods, observed, state, stop)) return Retry(key, state);
  const Service service = ServiceOf(view, observed, now, state);
  Decision decision = Decide(service, OptionsOf(settings), now,
                             std::max(*leading_since, state.given_up.value_or(*leading_since)));
  ++decisions_;
  journal_.Set({key, decision.reached, enforced ? decision.groups : CountsWithoutGrants(decision)});
  if (enforced) Brake(decision, settings.give_ups_per_minute, now);
  std::set<std::string> undone;
  if (enforced) undone = CarryOut(decision, observed, now, state, stop);
  if (options_.observe_latency) {
    options_.observe_latency(std::chrono::steady_clock::now() - work.due);
  }
  Tell(key, decision, observed, !service.rule, enforced, undone, state);
  if (undone.empty()) {
    state.backoff.Reset();
  } else {
    Retry(key, state);
  }
  if (decision.requeue_at) {
    queue_.AddAt(key, std::chrono::steady_clock::now() + (*decision.requeue_at - now));
  }
}

void ScalingController::NoteUngated(const std::vector<PodPtr>& pods, Time now,
                                    ServiceState& state) {
  std::map<std::string, Time> ungated;
  for (const PodPtr& pod : pods) {
    if (pod->gate) continue;
    const auto seen = state.ungated.find(pod->uid);
    ungated.emplace(pod->uid, seen == state.ungated.end() ? now : seen->second);
  }
  state.ungated = std::move(ungated);
}

Service ScalingController::ServiceOf(const ServiceIndex::View& view,
                                     const std::vector<ObservedInstance>& observed, Time now,
                                     ServiceState& state) {
  Service service{view.rule.rule, view.rule.why_not, {}};
  for (const ObservedInstance& one : observed) {
    Instance instance = one.instance;
    const auto found = state.granted.find(instance.name);
    if (found != state.granted.end() && instance.phase == Phase::kHeld) {
      const Grant& grant = found->second;
      const bool meant = std::any_of(one.pods.begin(), one.pods.end(), [&](const PodState* pod) {
        return grant.pods.contains(pod->uid);
      });
      // What was answered is so, however long it takes to be seen; other grants run out.
      if (meant) instance.granted = grant.answered ? now : grant.when;
    }
    service.instances.push_back(std::move(instance));
  }
  std::erase_if(state.unfinished,
                [&](const std::string& name) { return Find(observed, name) == nullptr; });
  std::erase_if(state.granted, [&](const auto& grant) {
    const ObservedInstance* found = Find(observed, grant.first);
    return found == nullptr || found->instance.phase != Phase::kHeld;
  });
  return service;
}

void ScalingController::Brake(Decision& decision, int64_t give_ups_per_minute, Time now) {
  for (Outcome& outcome : decision.outcomes) {
    if (outcome.verdict != Verdict::kGiveUp) continue;
    const auto free_at = budget_.Take(give_ups_per_minute, now);
    if (!free_at) continue;
    outcome.verdict = Verdict::kKeep;
    outcome.reason += "; it waits, because giveUpsPerMinute (" +
                      std::to_string(give_ups_per_minute) + ") is reached";
    decision.would_give_up = outcome;
    decision.requeue_at = std::min(decision.requeue_at.value_or(*free_at), *free_at);
  }
}

void ScalingController::Tell(const ServiceKey& key, const Outcome& outcome, const Wording& wording,
                             bool enforced, const ObservedInstance* instance) {
  journal_.Add({clock_.WallNow(), key, outcome.instance, outcome.group, wording.what,
                outcome.reason, enforced});
  logger_.Info(wording.what, {{"namespace", key.ns},
                              {"job_id", key.job_id},
                              {"rule", key.rule},
                              {"instance", outcome.instance},
                              {"group", outcome.group},
                              {"why", outcome.reason},
                              {"enforced", enforced}});
  if (instance == nullptr) return;
  recorder_.Record({.regarding = instance->regarding,
                    .type = wording.type,
                    .reason = wording.reason,
                    .action = wording.action,
                    .note = outcome.reason});
}

void ScalingController::Tell(const ServiceKey& key, const Decision& decision,
                             const std::vector<ObservedInstance>& observed, bool unusable_rule,
                             bool enforced, const std::set<std::string>& undone,
                             ServiceState& state) {
  ReportedOutcomes said;
  const auto tell = [&](const Outcome& outcome, const Wording& wording) {
    const auto [saying, fresh] = said.emplace(outcome.instance, wording.what, outcome.reason);
    if (!fresh || state.said.contains(*saying)) return;
    Tell(key, outcome, wording, enforced, Find(observed, outcome.instance));
  };
  for (const Outcome& outcome : decision.outcomes) {
    if (undone.contains(outcome.instance)) continue;
    switch (outcome.verdict) {
      case Verdict::kGrant:
        tell(outcome, enforced ? kGranted : kWouldGrant);
        break;
      case Verdict::kHold:
        tell(outcome, unusable_rule ? kUnusable : enforced ? kHeld : kWouldHold);
        break;
      case Verdict::kGiveUp:
        tell(outcome, enforced ? kGivenUp : kWouldGiveUp);
        break;
      case Verdict::kKeep:
        if (unusable_rule) tell(outcome, kUnusable);
        break;
    }
  }
  if (decision.would_give_up) tell(*decision.would_give_up, kWouldGiveUp);
  state.said = std::move(said);
}

std::set<std::string> ScalingController::CarryOut(const Decision& decision,
                                                  const std::vector<ObservedInstance>& observed,
                                                  Time now, ServiceState& state,
                                                  const std::stop_token& stop) {
  std::set<std::string> undone;
  for (const Outcome& outcome : decision.outcomes) {
    const ObservedInstance* instance = Find(observed, outcome.instance);
    if (instance == nullptr || !Leads() || stop.stop_requested()) continue;
    const bool held = instance->instance.phase == Phase::kHeld;
    // Of one that was granted already, by us before or by another leader, the other pods follow.
    const bool goes_on = outcome.verdict == Verdict::kKeep && HasGates(*instance) &&
                         (!held || state.unfinished.contains(outcome.instance));
    if (outcome.verdict == Verdict::kGrant || goes_on) {
      if (held) state.granted[outcome.instance] = {now, UidsOf(*instance), false};
      const Opening opening = OpenGates(*instance, stop);
      if (held) state.granted[outcome.instance].answered = opening == Opening::kDone;
      if (opening == Opening::kFailed) {
        state.unfinished.insert(outcome.instance);
        undone.insert(outcome.instance);
      } else {
        state.unfinished.erase(outcome.instance);
      }
    } else if (outcome.verdict == Verdict::kGiveUp) {
      if (!IsStillSo(instance, stop) || !IsStillSo(Find(observed, decision.stranded), stop)) {
        undone.insert(outcome.instance);
        continue;
      }
      state.given_up = now;
      if (!GiveUp(*instance, outcome, state, stop)) undone.insert(outcome.instance);
    }
  }
  return undone;
}

ScalingController::Opening ScalingController::OpenGates(const ObservedInstance& instance,
                                                        const std::stop_token& stop) {
  Opening opening = Opening::kDone;
  for (const PodState* pod : instance.pods) {
    if (!pod->gate || pod->ended) continue;
    if (!Leads()) return Opening::kFailed;
    const Gate gate{pod->service.ns, pod->name, pod->uid, *pod->gate};
    const auto answer = OpenGate(writer_, gate, false, stop);
    if (answer) {
      ++granted_;
    } else if (!Done(answer, *pod, "the gate of a pod cannot be opened now")) {
      opening = Opening::kFailed;
    } else if (opening == Opening::kDone) {
      opening = Opening::kGone;
    }
  }
  return opening;
}

bool ScalingController::IsStillSo(const ObservedInstance* instance, const std::stop_token& stop) {
  if (instance == nullptr) return false;
  return std::all_of(instance->pods.begin(), instance->pods.end(), [&](const PodState* pod) {
    const auto answer = client_.Get(kube::resources::kPods, pod->service.ns, pod->name, stop);
    if (!answer) return false;
    const auto now = PodOf(json::Document(*answer).root());
    return now && IsSame(*pod, *now);
  });
}

bool ScalingController::GiveUp(const ObservedInstance& instance, const Outcome& outcome,
                               ServiceState& state, const std::stop_token& stop) {
  state.giving_up = {outcome, UidsOf(instance), {}};
  for (const PodState* pod : instance.pods) {
    if (Leads() && Delete(*pod, stop)) state.giving_up->deleted.insert(pod->uid);
  }
  if (state.giving_up->deleted != state.giving_up->pods) return false;
  ++given_up_;
  return true;
}

bool ScalingController::FinishGivingUp(const ServiceKey& key, const std::vector<PodPtr>& pods,
                                       const std::vector<ObservedInstance>& observed,
                                       ServiceState& state, const std::stop_token& stop) {
  if (!state.giving_up) return true;
  GivingUp& giving_up = *state.giving_up;
  const bool was_done = giving_up.deleted == giving_up.pods;
  std::set<std::string> live;
  for (const PodPtr& pod : pods) {
    if (!giving_up.pods.contains(pod->uid) || pod->terminating) continue;
    live.insert(pod->uid);
    if (giving_up.deleted.contains(pod->uid) || !Leads()) continue;
    if (Delete(*pod, stop)) giving_up.deleted.insert(pod->uid);
  }
  // What is not there any more need not be deleted.
  for (const std::string& uid : giving_up.pods) {
    if (!live.contains(uid)) giving_up.deleted.insert(uid);
  }
  if (!was_done && giving_up.deleted == giving_up.pods) {
    ++given_up_;
    Tell(key, giving_up.outcome, kGivenUp, true, Find(observed, giving_up.outcome.instance));
  }
  if (!live.empty()) return false;
  state.giving_up.reset();
  return true;
}

bool ScalingController::Delete(const PodState& pod, const std::stop_token& stop) {
  kube::DeleteOptions options;
  options.preconditions.uid = pod.uid;
  return Done(writer_.Delete(kube::resources::kPods, pod.service.ns, pod.name, options, stop), pod,
              "a pod cannot be deleted now");
}

// A pod that is gone, another one of its name and a gate that is open already are not failures: the
// watch reports them, and the next decision sees them.
bool ScalingController::Done(const kube::Answer<void>& answer, const PodState& pod,
                             const char* what) {
  if (answer) return true;
  switch (answer.error().reason) {
    case kube::Reason::kNotFound:
    case kube::Reason::kConflict:
    case kube::Reason::kInvalid:
    case kube::Reason::kStopped:
      return true;
    default:
      break;
  }
  ++failed_;
  logger_.Warning(what, {{"namespace", pod.service.ns},
                         {"pod", pod.name},
                         {"reason", kube::ReasonName(answer.error().reason)},
                         {"fault", answer.error().message}});
  return false;
}

}  // namespace mindgate::watcher::scaling
