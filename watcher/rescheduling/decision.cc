#include "watcher/rescheduling/decision.h"

#include <algorithm>
#include <utility>

namespace mindgate::watcher::rescheduling {
namespace {

using std::chrono::seconds;

// A job that ran for so long after its restart was not restarted in vain.
constexpr seconds kForget{600};

// When a scope has its turn, in halves of escalateAfter after the job lost its first pods.
int64_t HalvesUntil(Escalation scope) {
  switch (scope) {
    case Escalation::kFaultyPods:
      return 0;
    case Escalation::kRacks:
      return 1;
    case Escalation::kSuperPods:
      return 2;
    case Escalation::kWholeJob:
      return 4;
  }
  return 0;
}

const char* ScopeText(Escalation scope) {
  switch (scope) {
    case Escalation::kFaultyPods:
      return "the faulty pods";
    case Escalation::kRacks:
      return "all of the rack block";
    case Escalation::kSuperPods:
      return "all of the logical super pod";
    case Escalation::kWholeJob:
      return "the whole job";
  }
  return "";
}

bool Acts(Step step) { return step == Step::kDelete || step == Step::kEvict; }

// Room comes when pods end or nodes are repaired, of which the job gets no report.
constexpr seconds kLookForRoom{30};

Time Earlier(const std::optional<Time>& a, Time b) { return a ? std::min(*a, b) : b; }

// One decision, on its way.
class DecisionMaker {
 public:
  DecisionMaker(const Job& job, const Hardware& hardware, const JobState& state,
                const DecisionOptions& options, Time now)
      : job_(job), options_(options), now_(now), next_(decision_.next) {
    next_ = state.uid == job.uid ? state : JobState{.uid = job.uid};
    for (const Task& task : job.tasks) {
      decision_.types.push_back(Classify(task, job.policy, hardware));
    }
  }

  Decision Result() {
    UpdateObservations();
    if (next_.restart && next_.restart->inherited) Inherit();
    ForgetWhatIsGone();
    const Response response = Asked();
    decision_.reason = response.reason;
    decision_.why = response.why;
    decision_.step = response.step;
    // Until it is healthy again, it is the fault that keeps the job from running.
    if (next_.restart && response.reason != FaultType::kHealthy) next_.restart->finished.reset();
    if (response.step == Step::kAnnotate) {
      Annotate(response);
    } else if (Acts(response.step)) {
      decision_.requests_graceful_exit = response.requests_graceful_exit;
      if (HasNewFault()) Begin(response);
    } else if (next_.restart && response.reason == FaultType::kHealthy) {
      CheckCompletion();
    }
    if (next_.restart && MayRestart()) ContinueRestart();
    if (!next_.restart && next_.restarted && *next_.restarted + kForget < now_) {
      next_.restarted.reset();
      next_.youngest.reset();
      next_.futile_restarts = 0;
    }
    return std::move(decision_);
  }

 private:
  bool IsFaulty(size_t i) const { return decision_.types[i] != FaultType::kHealthy; }

  // Whether what was begun may go on: labels may have changed.
  bool MayRestart() const {
    const FaultScheduling asked = job_.policy.fault_scheduling;
    return job_.disabled.empty() && !job_.policy.decided_outside &&
           (asked == FaultScheduling::kForce || asked == FaultScheduling::kGrace);
  }

  // Only for jobs that somebody acts on: what is noted is written for the next leader.
  void UpdateObservations() {
    Seen seen;
    if (!MayRestart() && job_.policy.fault_scheduling != FaultScheduling::kExternal) {
      next_.seen = {};
      return;
    }
    const auto since = [&](const std::map<std::string, Time>& before, const std::string& uid) {
      const auto found = before.find(uid);
      return found == before.end() ? now_ : std::min(now_, found->second);
    };
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      if (!IsFaulty(i)) continue;
      const std::string uid = ShortUid(job_.tasks[i].uid);
      seen.faulty.emplace(uid, since(next_.seen.faulty, uid));
      if (job_.tasks[i].deletion_time) seen.going.emplace(uid, since(next_.seen.going, uid));
    }
    if (!seen.empty()) seen.other = RestartByOther();
    next_.seen = std::move(seen);
  }

  // The last one that is known of. A record of which the time is yet to come was written now.
  std::optional<OtherRestart> RestartByOther() const {
    const std::optional<OtherRestart>& before = next_.seen.other;
    const std::optional<Time>& recorded = job_.restarted_by_other;
    if (!recorded || (before && before->recorded == *recorded)) return before;
    return OtherRestart{*recorded, std::min(*recorded, now_)};
  }

  // Takes over what the leader before began: the pods that it deleted and that hang. Those that it
  // did not come to either are faulty and chosen again, or need not go any more.
  void Inherit() {
    Restart& restart = *next_.restart;
    restart.inherited = false;
    for (const Task& task : job_.tasks) {
      if (!task.deletion_time || !IsOlder(task)) continue;
      const bool in_scope = restart.chosen.all && IsIn(*restart.chosen.all, task);
      if (!in_scope && !restart.chosen.pods.contains(ShortUid(task.uid))) continue;
      restart.targets.emplace(task.uid, Target{restart.since, restart.by_force});
    }
  }

  void ForgetWhatIsGone() {
    if (!next_.restart) return;
    std::set<std::string_view> there;
    for (const Task& task : job_.tasks) there.insert(task.uid);
    std::erase_if(next_.restart->targets,
                  [&](const auto& target) { return !there.contains(target.first); });
  }

  // Whether the pod was there when the last pods were chosen.
  bool IsOlder(const Task& task) const {
    return task.created && next_.youngest && *task.created <= *next_.youngest;
  }

  // Of the pods that are there now.
  std::optional<Time> Youngest() const {
    std::optional<Time> youngest;
    for (const Task& task : job_.tasks) {
      if (task.created) youngest = std::max(youngest.value_or(*task.created), *task.created);
    }
    return youngest;
  }

  // Whether the pod is in one of the blocks of the restart's faulty pods.
  bool IsIn(Escalation scope, const Task& task) const {
    const Restart& restart = *next_.restart;
    switch (scope) {
      case Escalation::kFaultyPods:
        return false;
      case Escalation::kRacks: {
        const auto rack = RackOf(task, job_.policy);
        return rack && restart.racks.contains(*rack);
      }
      case Escalation::kSuperPods: {
        const auto super_pod = SuperPodOf(task, job_.policy);
        return super_pod && restart.super_pods.contains(*super_pod);
      }
      case Escalation::kWholeJob:
        return true;
    }
    return false;
  }

  void Choose(const Task& task, bool by_force) {
    const auto going = next_.seen.going.find(ShortUid(task.uid));
    const Time since = going == next_.seen.going.end() ? now_ : going->second;
    const auto [target, is_new] =
        next_.restart->targets.try_emplace(task.uid, Target{since, by_force});
    if (by_force) target->second.by_force = true;
  }

  // Writes down for the next leader who was chosen.
  void NoteChosen() {
    Restart& restart = *next_.restart;
    restart.since = now_;
    next_.youngest = Youngest();
    restart.by_force = std::all_of(restart.targets.begin(), restart.targets.end(),
                                   [](const auto& target) { return target.second.by_force; });
    restart.chosen = {};
    for (const auto scope : {Escalation::kWholeJob, Escalation::kSuperPods, Escalation::kRacks}) {
      bool any = false;
      const bool names_too_many =
          std::any_of(job_.tasks.begin(), job_.tasks.end(), [&](const Task& task) {
            if (!IsOlder(task) || !IsIn(scope, task)) return false;
            any = true;
            return !IsTarget(task);
          });
      if (names_too_many || !any) continue;
      restart.chosen.all = scope;
      break;
    }
    for (const Task& task : job_.tasks) {
      const bool is_named = restart.chosen.all && IsIn(*restart.chosen.all, task);
      if (IsTarget(task) && !is_named) restart.chosen.pods.insert(ShortUid(task.uid));
    }
  }

  // A failed pod that no retry was for yet. Empty: each has had its own.
  std::string NewlyFailed() const {
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      const Task& task = job_.tasks[i];
      if (decision_.types[i] != FaultType::kPodFailed || IsTarget(task)) continue;
      const std::string uid = ShortUid(task.uid);
      const bool chosen = next_.restart && next_.restart->chosen.pods.contains(uid);
      if (uid != next_.retried_for && !chosen) return uid;
    }
    return "";
  }

  // What the labels ask for, whoever does it.
  Response Asked() const {
    if (!job_.disabled.empty() && ReasonOf(decision_.types) != FaultType::kHealthy) {
      return {Step::kNothing, ReasonOf(decision_.types), {}, job_.disabled};
    }
    int64_t left = job_.policy.retries - next_.retries_used;
    if (NewlyFailed().empty()) ++left;  // theirs was counted when the restart began
    Response response =
        Respond(job_.tasks, decision_.types, job_.policy, left,
                next_.restart ? next_.restart->escalation : Escalation::kFaultyPods);
    if (response.reason == FaultType::kPodFailed && !job_.started && !next_.restart) {
      return {Step::kNothing, response.reason, {}, "its PodGroup has not run yet"};
    }
    return response;
  }

  bool IsTarget(const Task& task) const {
    return next_.restart && next_.restart->targets.contains(task.uid);
  }

  bool HasNewFault() const {
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      if (IsFaulty(i) && !IsTarget(job_.tasks[i])) return true;
    }
    return false;
  }

  // When others have had their time with one of the new faults. A pod that somebody deletes already
  // has its grace period as well, and a restart that somebody recorded begins the time again; but
  // neither the one nor the other keeps us from acting for more than graceOverTime, or where pods
  // go by force takeoverAfter: both times are by clocks of other hosts.
  std::optional<Time> WaitsForOthers(Step step) const {
    const seconds after = options_.takeover_after;
    if (after <= seconds(0)) return std::nullopt;
    const Seen& seen = next_.seen;
    const seconds at_most = step == Step::kEvict ? options_.grace_over_time : after;
    std::optional<Time> due;
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      const Task& task = job_.tasks[i];
      if (!IsFaulty(i) || IsTarget(task)) continue;
      const std::string uid = ShortUid(task.uid);
      const Time since = seen.faulty.at(uid);
      Time until = since + after;
      if (task.deletion_time) {
        until =
            std::max(until, std::min(*task.deletion_time + after, seen.going.at(uid) + at_most));
      }
      if (seen.other) {
        const Time latest = since + options_.grace_over_time;
        until = std::max(until, std::min(seen.other->since, latest) + after);
      }
      due = Earlier(due, until);
    }
    return due && *due > now_ ? due : std::nullopt;
  }

  // Whether what the last restart led to is faulty as well.
  bool LastRestartFailed() const {
    if (!next_.restarted || !next_.youngest) return false;
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      const Task& task = job_.tasks[i];
      if (IsFaulty(i) && !IsTarget(task) && task.created && !IsOlder(task)) return true;
    }
    return false;
  }

  void Wait(Time until, const std::string& why) {
    decision_.step = Step::kNothing;
    decision_.is_pending = true;
    decision_.why = why;
    decision_.requeue_at = Earlier(decision_.requeue_at, until);
  }

  void Begin(const Response& response) {
    if (const auto due = WaitsForOthers(response.step)) {
      Wait(*due, "Volcano has time to act until " + FormatTime(*due));
      return;
    }
    const bool futile_restarts = LastRestartFailed();
    if (futile_restarts) {
      seconds pause = kFirstPause;
      for (int64_t i = 0; i < next_.futile_restarts && pause < kLongestPause; ++i) pause *= 2;
      const Time due = *next_.restarted + std::min(pause, kLongestPause);
      if (due > now_) {
        Wait(due,
             "what replaced its faulty pods is faulty as well: it is restarted again after a "
             "pause, at " +
                 FormatTime(due));
        return;
      }
    }
    decision_.counts_against_budget = true;
    next_.futile_restarts = futile_restarts ? next_.futile_restarts + 1 : 0;
    next_.restarted = now_;
    if (const std::string failed = NewlyFailed();
        response.reason == FaultType::kPodFailed && !failed.empty()) {
      ++next_.retries_used;
      next_.retried_for = failed;
    }
    if (!next_.restart) {
      next_.restart = Restart{.since = now_, .reason = response.reason};
    }
    Restart& restart = *next_.restart;
    for (const size_t i : TasksWithRoom(response.tasks)) {
      Choose(job_.tasks[i], response.step == Step::kDelete);
    }
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      if (!IsFaulty(i)) continue;
      const Task& task = job_.tasks[i];
      if (const auto block = SuperPodOf(task, job_.policy)) restart.super_pods.insert(*block);
      if (const auto rack = RackOf(task, job_.policy)) restart.racks.insert(*rack);
    }
    NoteChosen();
  }

  // Why pods that are not faulty stay where they are; empty: they may go. With observe they go, and
  // `would_stay_` has the reason.
  std::string WhyHealthyPodsStay(const std::vector<size_t>& going) {
    if (options_.only_where_room == schemas::EnforcementMode::kOff || !options_.why_no_room) {
      return "";
    }
    if (std::all_of(going.begin(), going.end(), [&](size_t i) { return IsFaulty(i); })) return "";
    std::string why = options_.why_no_room(going);
    if (why.empty() || options_.only_where_room == schemas::EnforcementMode::kEnforce) return why;
    would_stay_ = "; with onlyWhereRoom its other pods would keep running, as " + why;
    return "";
  }

  // Of the tasks of a restart that begins, the faulty ones alone where not all find a place again
  // and the others are all that the job needs.
  std::vector<size_t> TasksWithRoom(const std::vector<size_t>& tasks) {
    std::vector<size_t> faulty;
    int64_t others = 0;
    bool master = false;
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      if (IsFaulty(i)) {
        master = master || IsMaster(job_.tasks[i], job_.policy);
        faulty.push_back(i);
      } else {
        others += job_.tasks[i].node.empty() ? 0 : 1;
      }
    }
    if (master || !HasAllPods(job_, others + job_.succeeded)) return tasks;
    const std::string why = WhyHealthyPodsStay(tasks);
    decision_.why += would_stay_;
    if (why.empty()) return tasks;
    decision_.lacks_room = true;
    decision_.why += "; its other pods keep running, as " + why;
    return faulty;
  }

  // No pod is faulty any more, and a restart was begun.
  void CheckCompletion() {
    Restart& restart = *next_.restart;
    if (!restart.targets.empty()) return;
    const auto placed = std::count_if(job_.tasks.begin(), job_.tasks.end(),
                                      [](const Task& task) { return !task.node.empty(); });
    if (HasAllPods(job_, placed + job_.succeeded)) {
      decision_.stops_asking =
          restart.reason == FaultType::kSubHealthFault && job_.policy.requests_graceful_exit();
      next_.restart.reset();
      decision_.why = "it has all the pods that it needs";
      return;
    }
    if (!restart.finished) restart.finished = now_;
    if (const auto wider = NextScope()) Escalate(*wider);
  }

  // Nothing: the scope is as wide as it gets, or it is not the scope that keeps the job from
  // running.
  std::optional<Escalation> NextScope() const {
    const FaultPolicy& policy = job_.policy;
    if (!MayRestart() || !policy.begins_with_faulty_pods() ||
        std::any_of(job_.tasks.begin(), job_.tasks.end(),
                    [](const Task& task) { return task.gated; })) {
      return std::nullopt;
    }
    const Restart& restart = *next_.restart;
    const auto is_next = [&](Escalation scope) {
      return restart.escalation < scope && scope <= policy.widest();
    };
    if (is_next(Escalation::kRacks) && !restart.racks.empty()) return Escalation::kRacks;
    if (is_next(Escalation::kSuperPods) && !restart.super_pods.empty()) {
      return Escalation::kSuperPods;
    }
    if (is_next(Escalation::kWholeJob)) return Escalation::kWholeJob;
    return std::nullopt;
  }

  // Calls itself when there is no pod in a block, so once for each scope at most.
  void Escalate(Escalation wider) {
    Restart& restart = *next_.restart;
    const int64_t halves = HalvesUntil(wider) - HalvesUntil(restart.escalation);
    const Time due = *restart.finished + (options_.escalate_after * halves + seconds(1)) / 2;
    const std::string scope = ScopeText(wider);
    if (due > now_) {
      Wait(due, "it waits for its new pods; " + scope + " is restarted at " + FormatTime(due));
      return;
    }
    const bool all = std::any_of(job_.tasks.begin(), job_.tasks.end(), [&](const Task& task) {
      return IsIn(wider, task) && IsMaster(task, job_.policy);
    });
    std::vector<size_t> going;
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      const Task& task = job_.tasks[i];
      if (!task.node.empty() && (all || IsIn(wider, task))) going.push_back(i);
    }
    if (const std::string why = WhyHealthyPodsStay(going); !why.empty()) {
      decision_.reason = restart.reason;
      decision_.lacks_room = true;
      Wait(now_ + kLookForRoom, scope + " is not restarted, as " + why);
      return;
    }
    restart.escalation = wider;
    const bool by_force = restart.by_force;
    for (const Task& task : job_.tasks) {
      if (all || IsIn(wider, task)) Choose(task, by_force);
    }
    if (restart.targets.empty()) {
      restart.finished = now_;
      if (const auto next = NextScope()) Escalate(*next);
      return;
    }
    decision_.counts_against_budget = true;
    decision_.reason = restart.reason;
    decision_.why = "it did not run again without " + scope + would_stay_;
    restart.finished.reset();
    next_.restarted = now_;
    NoteChosen();
  }

  // What is left of the restart that is under way.
  void ContinueRestart() {
    Restart& restart = *next_.restart;
    if (restart.targets.empty()) return;
    std::vector<size_t> evicted;
    std::vector<size_t> forced;
    bool timed_out = false;
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      const Task& task = job_.tasks[i];
      const auto target = restart.targets.find(task.uid);
      if (target == restart.targets.end() || task.forced) continue;
      const Time deadline = target->second.since + options_.grace_over_time;
      if (target->second.by_force || now_ > deadline) {
        timed_out = timed_out || !target->second.by_force;
        forced.push_back(i);
        continue;
      }
      decision_.requeue_at = Earlier(decision_.requeue_at, deadline + seconds(1));
      if (!task.deletion_time) evicted.push_back(i);
    }
    if (evicted.empty() && forced.empty()) {
      decision_.counts_against_budget = false;
      if (decision_.step == Step::kFails) return;
      if (decision_.reason == FaultType::kHealthy) decision_.reason = restart.reason;
      decision_.step = Step::kNothing;
      if (!decision_.is_pending) decision_.why = "its pods are going";
      return;
    }
    if (decision_.reason == FaultType::kHealthy || decision_.step == Step::kFails) {
      decision_.reason = restart.reason;
    }
    // One step at a time: pods that end by themselves need that time.
    if (!evicted.empty() && !forced.empty()) {
      decision_.requeue_at = Earlier(decision_.requeue_at, now_ + seconds(1));
    }
    decision_.step = evicted.empty() ? Step::kDelete : Step::kEvict;
    decision_.tasks = evicted.empty() ? std::move(forced) : std::move(evicted);
    if (decision_.step == Step::kDelete && timed_out) {
      decision_.why = "its pods did not end within graceOverTime";
    }
    // The next leader begins again as long as there is a faulty pod, so these go last.
    std::stable_partition(decision_.tasks.begin(), decision_.tasks.end(),
                          [&](size_t i) { return !IsFaulty(i); });
  }

  void Annotate(const Response& response) {
    for (const size_t i : response.tasks) {
      const std::string status = PodStatus(decision_.types[i]);
      if (job_.tasks[i].pod_status != status) decision_.tasks.push_back(i);
    }
    if (decision_.tasks.empty()) {
      decision_.why = "its faulty pods are marked for the platform that restarts them";
      return;
    }
    if (const auto due = WaitsForOthers(response.step)) {
      decision_.tasks.clear();
      Wait(*due, "Volcano has time to act until " + FormatTime(*due));
      return;
    }
    decision_.counts_against_budget = true;
  }

  const Job& job_;
  const DecisionOptions& options_;
  const Time now_;
  Decision decision_;
  JobState& next_;
  std::string would_stay_{};  // what onlyWhereRoom would change, for people
};

}  // namespace

bool HasAllPods(const Job& job, int64_t on_nodes) {
  return on_nodes >= std::max<int64_t>(1, job.min_available);
}

std::string PodStatus(FaultType type) { return "Unhealthy-" + std::string(FaultTypeName(type)); }

Decision Decide(const Job& job, const Hardware& hardware, const JobState& state,
                const DecisionOptions& options, Time now) {
  return DecisionMaker(job, hardware, state, options, now).Result();
}

}  // namespace mindgate::watcher::rescheduling
