#include "watcher/rescheduling/reconciler.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/decode.h"
#include "schemas/names.h"
#include "watcher/frame/disruption_limits.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/plugin.h"

namespace mindgate::watcher::rescheduling {
namespace {

using json::Json;
using schemas::ReschedulingMode;
namespace resources = kube::resources;

// When a look at what keeps a job from being restarted comes again.
constexpr std::chrono::seconds kLookAgain{30};
// How many batches of a job's pods may go before all its pods are read again.
constexpr size_t kReadPods = 4;
// When what a watch is about to report should be there.
constexpr std::chrono::seconds kWatchIsLate{1};

const char* DoneName(Step step) {
  switch (step) {
    case Step::kDelete:
      return "deleted";
    case Step::kEvict:
      return "evicted";
    case Step::kAnnotate:
      return "annotated";
    default:
      return "left alone";
  }
}

}  // namespace

struct Reconciler::Run {
  Run(Reconciler& of, const JobKey& job_key, const Inputs& given, const Term& term)
      : key(job_key), inputs(given), client(of.writer_, term), not_ready(given.not_ready) {}

  const JobKey& key;
  const Inputs& inputs;
  LeaderClient client;
  std::set<std::string, std::less<>> not_ready;
  schemas::Rescheduling settings{};
  bool enforces = false;
  Time now{};
  Job job{};
  DecisionOptions options{};
  JobState before{};  // what is remembered of the job
  JobState seen{};    // the same, with what it looks like now
  Decision decision{};
  PodGroupState group{};        // as the fresh look found it
  SharedFailure failure;        // of calls about its pods
  std::string records_fault{};  // why it is not known whether Volcano acted
  ReconcileResult result{};

  Hardware hardware() const { return {*inputs.faults, not_ready}; }
  void Decide() { decision = rescheduling::Decide(job, hardware(), before, options, now); }
  void RequeueAt(Time at) {
    const Clock::Instant::duration after = std::max(at - now, Time::duration(0));
    result.requeue_after = std::min(result.requeue_after.value_or(after), after);
  }
};

Reconciler::Reconciler(Writer writer, const Clock& clock, log::Logger& logger,
                       DecisionListener& decisions, DisruptionGate& gate, Options options)
    : writer_(writer),
      clock_(clock),
      logger_(logger),
      decisions_(decisions),
      gate_(gate),
      options_(std::move(options)),
      store_(options_.ns, options_.state) {}

bool Reconciler::enforced(const schemas::Rescheduling& settings) const {
  return !options_.dry_run && (settings.mode == ReschedulingMode::kTakeover ||
                               settings.mode == ReschedulingMode::kEnforce);
}

void Reconciler::Keep(const std::function<bool(const JobKey&)>& exists) {
  store_.Keep(exists);
  canary_.Keep(exists);
  recoveries_.Keep(exists);
  const MutexLock lock(mutex_);
  std::erase_if(reported_, [&](const auto& last) { return !exists(last.first); });
}

void Reconciler::Forget(const JobKey& key) {
  recoveries_.Forget(key);
  ForgetReported(key);
}

void Reconciler::ForgetReported(const JobKey& key) {
  const MutexLock lock(mutex_);
  reported_.erase(key);
}

ReconcileResult Reconciler::Reconcile(const JobKey& key, const Inputs& inputs, const Term& term) {
  Run run(*this, key, inputs, term);
  run.settings = options_.settings();
  if (run.settings.mode == ReschedulingMode::kOff) return {};
  {
    const MutexLock lock(mutex_);
    ++counts_.looks;
  }
  if (!inputs.job) {
    store_.Set(key, {});
    canary_.Forget(key);
    Forget(key);
    return {};
  }
  run.job = *inputs.job;
  run.now = term_clock_.Now(term);
  run.enforces = enforced(run.settings);
  if (run.enforces && !LoadState(run)) return {.failed = true};
  MakeDecision(run);
  if (run.decision.tasks.empty()) return DoNothing(run);
  if (!run.enforces) {
    ReportOnce(run, false, run.decision.why);
    Stay(run);
    return run.result;
  }
  // Also of a step that only goes on with what was begun: minutes may lie between two of them.
  if (const Refusal refusal = MayLook(run); refusal.refused()) return Wait(run, refusal);
  if (auto ended = DecideAfresh(run)) return *ended;
  return Restart(run);
}

// --- the decision --------------------------------------------------------------------------------

// False when what was restarted before is not known.
bool Reconciler::LoadState(Run& run) {
  // Of jobs that went while nobody led nothing is kept.
  if (const auto loaded = store_.Load(run.client, run.now, options_.exists); !loaded) {
    logger_.Warning("what was restarted before cannot be read: nothing is restarted until it is",
                    {{"fault", loaded.error().message}});
    return false;
  }
  InheritBudget(run);
  return true;
}

// Of what the watches have reported.
void Reconciler::MakeDecision(Run& run) {
  run.options = {.takeover_after = run.settings.mode == ReschedulingMode::kTakeover
                                       ? run.settings.takeover_after
                                       : std::chrono::seconds(0),
                 .escalate_after = run.settings.escalate_after,
                 .grace_over_time = options_.grace_over_time()};
  run.options.only_where_room = run.settings.only_where_room;
  if (options_.why_no_room) {
    run.options.why_no_room = [this, &run](const std::vector<size_t>& going) {
      return options_.why_no_room(run.job, going, *run.inputs.faults);
    };
  }
  run.before = store_.Get(run.key);
  run.Decide();
  if (run.enforces && run.decision.counts_against_budget &&
      run.options.takeover_after > std::chrono::seconds(0)) {
    run.job.restarted_by_other = RestartedByOther(run);
    if (run.job.restarted_by_other) run.Decide();
  }
  recoveries_.See(run.key, run.job, run.decision.types, run.decision.next.restart.has_value(),
                  run.now);
  run.seen = run.before;
  run.seen.uid = run.job.uid;
  run.seen.seen = run.decision.next.seen;
  if (run.decision.requeue_at) run.RequeueAt(*run.decision.requeue_at);
  if (run.settings.mode != ReschedulingMode::kEnforce) {
    const auto again = canary_.Observe(run.client, run.key, run.job, run.decision.types, run.now);
    if (again) run.RequeueAt(*again);
  }
}

// Nothing is remembered but what the job looked like.
void Reconciler::Stay(Run& run) { store_.Set(run.key, std::move(run.seen)); }

ReconcileResult Reconciler::DoNothing(Run& run) {
  const bool healthy = run.decision.reason == FaultType::kHealthy;
  // What is on its way, or done, was reported when it began.
  const bool reported = run.decision.next.restart || run.decision.step == Step::kAnnotate;
  if (run.decision.lacks_room || (!healthy && !reported)) {
    ReportOnce(run, false, run.decision.why);
  }
  if (healthy && !run.decision.next.restart) ForgetReported(run.key);
  if (!run.enforces) {
    Stay(run);
  } else if (run.decision.stops_asking && !AskToExit(run, false)) {
    run.result.failed = true;
  } else if (!store_.Save(run.client, run.key, run.decision.next)) {
    run.result.failed = true;
  }
  return run.result;
}

ReconcileResult Reconciler::Wait(Run& run, const Refusal& refusal) {
  ReconcileResult& result = run.result;
  Stay(run);
  result.failed = refusal.unreadable || refusal.is_over;
  if (refusal.is_over) return result;
  if (!refusal.brief) {
    ReportOnce(run, false, run.decision.why + "; it waits, because " + refusal.why);
  }
  run.RequeueAt(run.now + (refusal.brief ? kWatchIsLate : kLookAgain));
  if (refusal.again) {
    const auto pause = std::max(*refusal.again - clock_.Now(), Clock::Instant::duration(0));
    result.requeue_after = refusal.brief ? pause : std::min(*result.requeue_after, pause);
  }
  return result;
}

// Reads all that the decision rests on, and decides again. Nothing: it is to be carried out.
std::optional<ReconcileResult> Reconciler::DecideAfresh(Run& run) {
  Revalidation look = Revalidate(run.client, gate_.calls(), run.key, run.job, run.decision,
                                 run.hardware(), options_.reports_of);
  if (!look.disabled_by_owner.empty()) {
    return Wait(run, {.why = look.disabled_by_owner, .unreadable = look.failed});
  }
  if (look.changed.empty()) {
    run.job = std::move(look.job);
    run.not_ready = std::move(look.not_ready);
    run.group = std::move(look.group);
    run.Decide();
    if (!run.decision.tasks.empty()) return std::nullopt;
    look.changed = "there is nothing to be done by now";
  }
  logger_.Info(
      "a job is not restarted: it has changed meanwhile",
      {{"namespace", run.key.ns}, {"pod_group", run.key.pod_group}, {"what", look.changed}});
  Stay(run);
  // Otherwise in case that no watch reports it.
  run.RequeueAt(run.now + (look.watch_lags ? kWatchIsLate : kLookAgain));
  run.result.failed = look.failed;
  return run.result;
}

// --- before anything is done ---------------------------------------------------------------------

// A restart that begins, or takes more pods than before, is what budgets count.
DisruptionGate::Request Reconciler::RequestOf(const Run& run) const {
  DisruptionGate::Request request{.ns = run.key.ns};
  if (run.decision.counts_against_budget) {
    request.share = {.setting = "restartsPerMinute",
                     .per_minute = run.settings.restarts_per_minute,
                     .inherited = true};
  }
  return request;
}

// Why nothing may be done now, before anything else is read; of a thousand jobs that wait, each one
// reads when it may act. What stops it later, the gate asks again.
Refusal Reconciler::MayLook(Run& run) {
  if (!run.records_fault.empty()) return {.why = run.records_fault, .unreadable = true};
  if (Refusal refusal = gate_.Ask(run.client.term(), RequestOf(run)); refusal.refused()) {
    return refusal;
  }
  OptOut excluded = NamespaceOptOut(run.client, run.key.ns);
  return {.why = std::move(excluded.why), .unreadable = excluded.unreadable};
}

// What the leader before, or this replica in an earlier term, restarted within the last minute.
void Reconciler::InheritBudget(Run& run) {
  const Time term = run.client.term().since();
  const MutexLock lock(mutex_);  // nobody takes from it before
  if (inherited_ == term) return;
  inherited_ = term;
  const Clock::Instant now = clock_.Now();
  const SpentBudget spent = store_.spent();
  for (const auto& [ns, times] : spent.times()) {
    std::vector<Clock::Instant> taken;
    for (const Time at : times) {
      const Clock::Instant instant = now - (run.now - at);
      if (instant + std::chrono::minutes(1) > now) taken.push_back(instant);
    }
    gate_.budget().Inherit(ns, taken);
  }
}

std::optional<Time> Reconciler::RestartedByOther(Run& run) {
  const auto records = ReadRecords(run.client);
  if (!records) {
    // There are none before the plugin restarts the first job.
    if (records.error().reason == kube::Reason::kNotFound) return std::nullopt;
    run.records_fault =
        "ConfigMap " + std::string(kRecordsNamespace) + "/" + std::string(kRecordsName) +
        ", which records what Volcano restarted, cannot be read: " + records.error().message;
    return std::nullopt;
  }
  return LastRestart(records->root(), run.key);
}

// --- what is done --------------------------------------------------------------------------------

// Writes down what is to be done, and does it.
ReconcileResult Reconciler::Restart(Run& run) {
  const bool spends = run.decision.counts_against_budget;
  if (const auto saved = store_.Save(run.client, run.key, run.decision.next,
                                     spends ? std::optional(run.now) : std::nullopt);
      !saved) {
    // Nothing was done: as if it had not been decided.
    store_.TakeBack(run.key, run.before, spends);
    if (saved.error().reason != kube::Reason::kStopped) {
      logger_.Warning("a job is not restarted: what is to be done cannot be written down",
                      {{"namespace", run.key.ns},
                       {"pod_group", run.key.pod_group},
                       {"fault", saved.error().message}});
    }
    return {.failed = true};
  }
  const std::vector<size_t> tasks = run.decision.tasks;
  std::vector<Done> outcomes(tasks.size(), Done::kNo);
  const Refusal refusal = CarryOut(run, outcomes);
  const bool any_sent =
      std::any_of(outcomes.begin(), outcomes.end(), [](Done done) { return done != Done::kNo; });
  if (refusal.refused() && !any_sent) {
    // Nothing was done, and the next leader is not to think so either. If this cannot be written,
    // it finds pods that are not faulty any more, or chooses them again.
    store_.TakeBack(run.key, run.before, spends);
    static_cast<void>(store_.Save(run.client, run.key, run.before));
    return Wait(run, refusal);
  }
  canary_.Forget(run.key);
  run.result.failed = !Finish(run, tasks, outcomes);
  run.result.retry_after = run.failure.retry_after();
  return run.result;
}

// Says what became of each of the decision's tasks. Faulty pods go last: as long as one is there,
// what is left is found again.
Refusal Reconciler::CarryOut(Run& run, std::vector<Done>& outcomes) {
  const std::vector<size_t>& tasks = run.decision.tasks;
  const auto first_faulty = static_cast<size_t>(
      std::find_if(tasks.begin(), tasks.end(),
                   [&](size_t i) { return run.decision.types[i] != FaultType::kHealthy; }) -
      tasks.begin());
  DisruptionGate::Request request = RequestOf(run);
  // Pods before the first call and after each kReadPods: of a large job that is a long list.
  size_t asked = 0;
  request.still_so = [&](LeaderClient& client) -> Refusal {
    const bool pods = asked++ % kReadPods == 0;
    Refusal changed = IsStillSo(client, gate_.calls(), run.key, run.group, run.job, pods);
    if (!changed.refused() && !enforced(options_.settings())) {
      return {.why = "the configuration no longer asks for it", .brief = true};
    }
    return changed;
  };
  request.still_reported = [&]() -> Refusal {
    if (IsStillReported(run.job, run.decision, run.hardware(), options_.reports_of,
                        options_.is_lost)) {
      return {};
    }
    return {.why = "something else is reported of its nodes by now", .brief = true};
  };
  // As the plugin does: a job that cannot be asked loses its pods all the same.
  if (run.decision.step == Step::kEvict && run.decision.requests_graceful_exit) {
    request.before_first = [&] { AskToExit(run, true); };
  }
  const auto send = [&](size_t from, size_t to) {
    if (from == to) return Refusal();
    asked = 0;
    Refusal refusal =
        gate_.Send(run.client.term(), request, to - from, [&](DestructiveClient& client, size_t i) {
          outcomes[from + i] = Act(run, client, tasks[from + i]);
        });
    // The rest goes on with it.
    request.share.reset();
    request.still_reported = nullptr;
    request.before_first = nullptr;
    return refusal;
  };
  if (Refusal refusal = send(0, first_faulty); refusal.refused()) return refusal;
  const auto end = outcomes.begin() + static_cast<std::ptrdiff_t>(first_faulty);
  if (std::find(outcomes.begin(), end, Done::kNo) != end) return {};
  return send(first_faulty, tasks.size());
}

// Reports what was done. False when some of it is to be tried again.
bool Reconciler::Finish(Run& run, const std::vector<size_t>& tasks,
                        const std::vector<Done>& outcomes) {
  run.decision.tasks.clear();
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (outcomes[i] == Done::kYes) run.decision.tasks.push_back(tasks[i]);
  }
  if (!run.decision.tasks.empty()) Report(run, true, run.decision.why);
  // Somebody else was faster with all of them.
  if (std::all_of(outcomes.begin(), outcomes.end(),
                  [](Done done) { return done == Done::kNoLongerNeeded; })) {
    gate_.GiveBack(RequestOf(run));
  }
  if (run.decision.counts_against_budget) {
    const MutexLock lock(mutex_);
    ++counts_.restarts;
  }
  return std::find(outcomes.begin(), outcomes.end(), Done::kNo) == outcomes.end();
}

// False when it is to be tried again.
bool Reconciler::AskToExit(Run& run, bool exits) {
  const kube::ObjectReference& owner = run.job.regarding;
  if (!run.settings.graceful_exit || owner.kind == resources::kPodGroups.kind) return true;
  const auto answer = SetGracefulExit(run.client, run.key.ns, owner.name, exits);
  if (answer) return true;
  const kube::Reason reason = answer.error().reason;
  if (reason == kube::Reason::kStopped) return false;
  {
    const MutexLock lock(mutex_);
    ++counts_.failed;
  }
  logger_.Warning("GracefulExit of a job cannot be set", {{"namespace", run.key.ns},
                                                          {"job", owner.name},
                                                          {"value", exits ? "1" : "0"},
                                                          {"fault", answer.error().message}});
  return reason == kube::Reason::kForbidden || reason == kube::Reason::kInvalid;
}

Reconciler::Done Reconciler::Act(Run& run, DestructiveClient& client, size_t i) {
  const Task& task = run.job.tasks[i];
  kube::Answer<void> answer;
  if (run.decision.step == Step::kAnnotate) {
    const Json patch = {
        {"metadata",
         {{"uid", task.uid},
          {"annotations",
           {{std::string(schemas::kPodStatus), PodStatus(run.decision.types[i])}}}}}};
    answer = client.MarkPod(run.key.ns, task.pod, patch);
  } else {
    kube::DeleteOptions options;
    options.preconditions.uid = task.uid;
    if (run.decision.step == Step::kDelete) options.grace_seconds = 0;
    answer = client.DeletePod(run.key.ns, task.pod, options);
  }
  const Done done = Evaluate(run, task, answer);
  if (done == Done::kYes) {
    FaultType cause = run.decision.types[i];
    if (cause == FaultType::kHealthy) cause = run.decision.reason;
    const MutexLock lock(mutex_);
    ++counts_.pods[{std::string(FaultTypeName(cause)), DoneName(run.decision.step)}];
  }
  return done;
}

// A pod that is gone, or another one of its name, is what was wanted: somebody else was faster.
Reconciler::Done Reconciler::Evaluate(Run& run, const Task& task,
                                      const kube::Answer<void>& answer) {
  if (answer) return Done::kYes;
  switch (answer.error().reason) {
    case kube::Reason::kNotFound:
    case kube::Reason::kConflict:
      return Done::kNoLongerNeeded;
    case kube::Reason::kStopped:
      return Done::kNo;
    default:
      break;
  }
  {
    const MutexLock lock(mutex_);
    ++counts_.failed;
  }
  run.failure.Fail(answer.error());
  logger_.Warning("a pod cannot be restarted now",
                  {{"namespace", run.key.ns},
                   {"pod", task.pod},
                   {"reason", kube::ReasonName(answer.error().reason)},
                   {"fault", answer.error().message}});
  return Done::kNo;
}

// --- reports -------------------------------------------------------------------------------------

namespace {

std::string PodsText(const Job& job, const std::vector<size_t>& tasks) {
  constexpr size_t kMost = 8;
  return JoinFirst(tasks, kMost, ", ",
                   [&](size_t i) -> const std::string& { return job.tasks[i].pod; });
}

}  // namespace

void Reconciler::Report(Run& run, bool done, const std::string& reason) {
  using Kind = DecisionKind;
  const Decision& decision = run.decision;
  const bool acts = !decision.tasks.empty();
  const bool marks = decision.step == Step::kAnnotate;
  const std::string fault(FaultTypeName(decision.reason));
  DecisionRecord record{.kind = Kind::kNotRestarted,
                        .ns = run.key.ns,
                        .about = {{"podGroup", run.key.pod_group}, {"fault", fault}},
                        .reason = reason,
                        .enforced = done,
                        .regarding = run.job.regarding};
  const std::string pods = PodsText(run.job, decision.tasks);
  if (acts) record.about.emplace_back("pods", pods);
  if (done) {
    record.kind = marks ? Kind::kPodsMarked : Kind::kRestarted;
    record.reason = fault + ": " + pods + " " + DoneName(decision.step) + ", as " + reason;
  } else if (acts && !enforced(run.settings)) {
    record.kind = marks ? Kind::kWouldMarkPods : Kind::kWouldRestart;
    record.reason = fault + ": " + pods + " would be " + DoneName(decision.step) + ", as " + reason;
  } else if (decision.is_pending || acts) {
    record.kind = Kind::kRestartWaits;
  }
  decisions_.Report(std::move(record));
}

// Not what was reported the last time.
void Reconciler::ReportOnce(Run& run, bool done, const std::string& reason) {
  std::string report = std::string(FaultTypeName(run.decision.reason)) + " " + reason;
  for (const size_t i : run.decision.tasks) report += " " + run.job.tasks[i].uid;
  {
    const MutexLock lock(mutex_);
    std::string& last = reported_[run.key];
    if (last == report) return;
    last = std::move(report);
  }
  Report(run, done, reason);
}

Reconciler::Counts Reconciler::counts() const {
  const MutexLock lock(mutex_);
  Counts counts = counts_;
  counts.plugin_differs = canary_.reported();
  return counts;
}

}  // namespace mindgate::watcher::rescheduling
