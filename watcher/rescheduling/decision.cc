#include "watcher/rescheduling/decision.h"

#include <algorithm>
#include <utility>

namespace mindgate::watcher::rescheduling {
namespace {

using std::chrono::seconds;

// A job that ran for so long after its restart was not restarted in vain.
constexpr seconds kForget{600};

bool Acts(Step step) { return step == Step::kDelete || step == Step::kEvict; }

Time Earlier(const std::optional<Time>& a, Time b) { return a ? std::min(*a, b) : b; }

// One decision, on its way.
class Deciding {
 public:
  Deciding(const Job& job, const Hardware& hardware, const JobState& state,
           const DecisionOptions& options, Time now)
      : job_(job), options_(options), now_(now), next_(decision_.next) {
    next_ = state.uid == job.uid ? state : JobState{.uid = job.uid};
    for (const Task& task : job.tasks) {
      decision_.types.push_back(Classify(task, job.policy, hardware));
    }
  }

  Decision Result() {
    NoteSeen();
    ForgetWhatIsGone();
    const Response response = Asked();
    decision_.reason = response.reason;
    decision_.why = response.why;
    decision_.step = response.step;
    if (response.step == Step::kAnnotate) {
      Annotate(response);
    } else if (Acts(response.step)) {
      if (HasNewFault()) Begin(response);
    } else if (next_.restart && response.reason == FaultType::kHealthy) {
      Follow();
    }
    if (next_.restart && MayRestart() && response.step != Step::kFails) GoOn();
    if (!next_.restart && next_.restarted && *next_.restarted + kForget < now_) {
      next_.restarted.reset();
      next_.in_vain = 0;
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

  void NoteSeen() {
    std::map<std::string, Time> seen;
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      if (!IsFaulty(i)) continue;
      const std::string& uid = job_.tasks[i].uid;
      const auto before = next_.seen.find(uid);
      seen.emplace(uid, before == next_.seen.end() ? now_ : before->second);
    }
    next_.seen = std::move(seen);
  }

  void ForgetWhatIsGone() {
    if (!next_.restart) return;
    std::erase_if(next_.restart->targets, [&](const std::string& uid) {
      return std::none_of(job_.tasks.begin(), job_.tasks.end(),
                          [&](const Task& task) { return task.uid == uid; });
    });
  }

  // The failed pod by whose name a retry is told from its repetition.
  std::string FirstFailed() const {
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      if (decision_.types[i] == FaultType::kPodFailed) return job_.tasks[i].uid;
    }
    return "";
  }

  // What the labels ask for, whoever does it.
  Response Asked() const {
    if (!job_.disabled.empty() && ReasonOf(decision_.types) != FaultType::kHealthy) {
      return {Step::kNothing, ReasonOf(decision_.types), {}, job_.disabled};
    }
    int64_t left = job_.policy.retries - next_.retries_used;
    if (const std::string failed = FirstFailed(); !failed.empty() && failed == next_.retried_for) {
      ++left;  // it was counted when the restart began
    }
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

  // When others have had their time with one of the new faults; what is being deleted has been seen
  // to by somebody.
  std::optional<Time> WaitsForOthers() const {
    if (options_.takeover_after <= seconds(0)) return std::nullopt;
    std::optional<Time> due;
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      const Task& task = job_.tasks[i];
      if (!IsFaulty(i) || IsTarget(task)) continue;
      Time since = next_.seen.at(task.uid);
      if (task.going) since = std::max(since, *task.going);
      if (job_.restarted_by_other) since = std::max(since, *job_.restarted_by_other);
      due = Earlier(due, since + options_.takeover_after);
    }
    return due && *due > now_ ? due : std::nullopt;
  }

  // Whether what the last restart led to is faulty as well.
  bool IsInVain() const {
    if (!next_.restarted) return false;
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      const Task& task = job_.tasks[i];
      if (IsFaulty(i) && !IsTarget(task) && task.created && *task.created >= *next_.restarted) {
        return true;
      }
    }
    return false;
  }

  void Wait(Time until, const std::string& why) {
    decision_.step = Step::kNothing;
    decision_.waits = true;
    decision_.why = why;
    decision_.requeue_at = Earlier(decision_.requeue_at, until);
  }

  void Begin(const Response& response) {
    if (const auto due = WaitsForOthers()) {
      Wait(*due, "Volcano has time to act until " + FormatTime(*due));
      return;
    }
    const bool in_vain = IsInVain();
    if (in_vain) {
      seconds pause = kFirstPause;
      for (int64_t i = 0; i < next_.in_vain && pause < kLongestPause; ++i) pause *= 2;
      const Time due = *next_.restarted + std::min(pause, kLongestPause);
      if (due > now_) {
        Wait(due,
             "what replaced its faulty pods is faulty as well: it is restarted again after a "
             "pause, at " +
                 FormatTime(due));
        return;
      }
    }
    decision_.begins = true;
    next_.in_vain = in_vain ? next_.in_vain + 1 : 0;
    next_.restarted = now_;
    if (const std::string failed = FirstFailed();
        response.reason == FaultType::kPodFailed && failed != next_.retried_for) {
      ++next_.retries_used;
      next_.retried_for = failed;
    }
    if (!next_.restart) {
      next_.restart = Restart{.since = now_, .reason = response.reason};
    }
    Restart& restart = *next_.restart;
    restart.by_force = response.step == Step::kDelete;
    restart.finished.reset();
    for (const size_t i : response.tasks) restart.targets.insert(job_.tasks[i].uid);
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      if (IsFaulty(i) && job_.tasks[i].super_pod) {
        restart.super_pods.insert(*job_.tasks[i].super_pod);
      }
    }
  }

  // No pod is faulty any more, and a restart was begun.
  void Follow() {
    Restart& restart = *next_.restart;
    if (!restart.targets.empty()) return;
    const auto placed = std::count_if(job_.tasks.begin(), job_.tasks.end(), [](const Task& task) {
      return !task.node.empty() && !task.going && !task.failed;
    });
    if (placed >= job_.min_available) {
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
    if (!MayRestart() || !policy.pod_rescheduling || policy.only_faulty_pods ||
        policy.process_recover ||
        std::any_of(job_.tasks.begin(), job_.tasks.end(),
                    [](const Task& task) { return task.gated; })) {
      return std::nullopt;
    }
    switch (next_.restart->escalation) {
      case Escalation::kFaultyPods:
        return next_.restart->super_pods.empty() ? Escalation::kWholeJob : Escalation::kSuperPods;
      case Escalation::kSuperPods:
        return Escalation::kWholeJob;
      case Escalation::kWholeJob:
        return std::nullopt;
    }
    return std::nullopt;
  }

  void Escalate(Escalation wider) {
    Restart& restart = *next_.restart;
    const bool skips =
        restart.escalation == Escalation::kFaultyPods && wider == Escalation::kWholeJob;
    const Time due = *restart.finished + options_.escalate_after * (skips ? 2 : 1);
    const bool whole = wider == Escalation::kWholeJob;
    const std::string scope = whole ? "the whole job" : "all of the logical super pod";
    if (due > now_) {
      Wait(due, "it waits for its new pods; " + scope + " is restarted at " + FormatTime(due));
      return;
    }
    decision_.begins = true;
    decision_.reason = restart.reason;
    decision_.why = "it did not run again without " + scope;
    restart.escalation = wider;
    restart.finished.reset();
    next_.restarted = now_;
    bool all = whole;
    for (const Task& task : job_.tasks) {
      const bool inside = task.super_pod && restart.super_pods.contains(*task.super_pod);
      if (inside) restart.targets.insert(task.uid);
      all = all || (inside && IsMaster(task));
    }
    if (!all) return;
    for (const Task& task : job_.tasks) restart.targets.insert(task.uid);
  }

  // What is left of the restart that is under way.
  void GoOn() {
    Restart& restart = *next_.restart;
    if (restart.targets.empty()) return;
    const Time deadline = restart.since + options_.grace_over_time;
    restart.timed_out = !restart.by_force && now_ > deadline;
    const bool force = restart.by_force || restart.timed_out;
    std::vector<size_t> faulty;
    for (size_t i = 0; i < job_.tasks.size(); ++i) {
      const Task& task = job_.tasks[i];
      if (!IsTarget(task) || task.forced || (!force && task.going)) continue;
      (IsFaulty(i) ? faulty : decision_.tasks).push_back(i);
    }
    // The next leader begins again as long as there is a faulty pod, so these go last.
    decision_.tasks.insert(decision_.tasks.end(), faulty.begin(), faulty.end());
    if (!force) {
      const Time again = deadline + seconds(1);
      decision_.requeue_at = Earlier(decision_.requeue_at, again);
    }
    if (decision_.reason == FaultType::kHealthy) decision_.reason = restart.reason;
    if (decision_.tasks.empty()) {
      decision_.step = Step::kNothing;
      decision_.begins = false;
      if (!decision_.waits) decision_.why = "its pods are going";
      return;
    }
    decision_.step = force ? Step::kDelete : Step::kEvict;
    if (restart.timed_out) decision_.why = "its pods did not end within graceOverTime";
  }

  void Annotate(const Response& response) {
    for (const size_t i : response.tasks) {
      const std::string status = PodStatus(decision_.types[i]);
      if (job_.tasks[i].pod_status != status) decision_.tasks.push_back(i);
    }
    if (decision_.tasks.empty()) {
      decision_.step = Step::kNothing;
      decision_.why = "its faulty pods are marked for the platform that restarts them";
      return;
    }
    if (const auto due = WaitsForOthers()) {
      decision_.tasks.clear();
      Wait(*due, "Volcano has time to act until " + FormatTime(*due));
      return;
    }
    decision_.begins = true;
  }

  const Job& job_;
  const DecisionOptions& options_;
  const Time now_;
  Decision decision_;
  JobState& next_;
};

}  // namespace

std::string PodStatus(FaultType type) { return "Unhealthy-" + std::string(FaultTypeName(type)); }

Decision Decide(const Job& job, const Hardware& hardware, const JobState& state,
                const DecisionOptions& options, Time now) {
  return Deciding(job, hardware, state, options, now).Result();
}

}  // namespace mindgate::watcher::rescheduling
