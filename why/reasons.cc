#include "why/reasons.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "why/checks.h"

namespace mindgate::why {

std::string PodNames(const std::vector<std::string>& pods) {
  constexpr size_t kMaxNames = 3;
  return JoinFirst(pods, kMaxNames);
}

std::string PodsText(const std::vector<std::string>& pods) {
  return (pods.size() == 1 ? "Pod " : "Pods ") + PodNames(pods);
}

std::string PodsThat(const std::vector<std::string>& pods, std::string_view one,
                     std::string_view several) {
  return PodsText(pods) + " " + std::string(pods.size() == 1 ? one : several);
}

std::string InNamespace(const Facts& facts) { return facts.ns.empty() ? "" : " -n " + facts.ns; }

std::string DescribeText(const Facts& facts) {
  return "kubectl describe " + facts.resource + "/" + facts.name + InNamespace(facts);
}

const EventFacts* NewestEvent(const Facts& facts, const std::vector<std::string_view>& reasons,
                              std::string_view part, std::string_view about) {
  const auto fits = [&](const EventFacts& event) {
    return (reasons.empty() ||
            std::find(reasons.begin(), reasons.end(), event.reason) != reasons.end()) &&
           (part.empty() || event.note.find(part) != event.note.npos) &&
           (about.empty() || event.about == about);
  };
  const auto found = std::find_if(facts.events.rbegin(), facts.events.rend(), fits);
  return found == facts.events.rend() ? nullptr : &*found;
}

std::string EventText(const EventFacts& event) {
  return event.reason + (event.reporter.empty() ? "" : " (" + event.reporter + ")") + ": " +
         event.note;
}

std::vector<std::string> WaitingPods(const Facts& facts) {
  std::vector<std::string> waiting;
  for (const PodFacts& pod : facts.pods) {
    if (pod.waits_for_a_node()) waiting.push_back(pod.name);
  }
  return waiting;
}

int64_t PodsThere(const Facts& facts) {
  int64_t live = 0;
  int64_t succeeded = 0;
  for (const PodFacts& pod : facts.pods) {
    if (pod.phase == "Succeeded") ++succeeded;
    if (!pod.ended() && !pod.gone_by) ++live;
  }
  if (facts.wanted && !facts.succeeded) return live;
  // Of a job, some may be deleted already.
  return live + std::max(succeeded, facts.succeeded.value_or(0));
}

namespace {

bool RunsWhole(const Facts& facts) {
  bool any = false;
  for (const PodFacts& pod : facts.pods) {
    if (pod.ended() || pod.gone_by) continue;
    if (pod.phase != "Running" || !pod.ready) return false;
    any = true;
  }
  return any && PodsThere(facts) >= facts.wanted.value_or(0);
}

bool IsDone(const Facts& facts) {
  if (facts.ended) return true;
  return !facts.pods.empty() && PodsThere(facts) >= facts.wanted.value_or(0) &&
         std::all_of(facts.pods.begin(), facts.pods.end(),
                     [](const PodFacts& pod) { return pod.phase == "Succeeded"; });
}

}  // namespace

bool IsWell(const Facts& facts) { return IsDone(facts) || RunsWhole(facts); }

namespace {

// A kind of reason: a new one is a row and a function.
struct Row {
  std::string_view id;
  State state;
  int weight;  // the greater, the more likely it is the cause where several are found
  Findings (*find)(const Facts& facts);
};

// What ends the wait for sure comes first, then what keeps all pods, then what keeps some nodes;
// what was restarted and what the scheduler itself reports come last.
constexpr Row kRows[] = {
    {"suspended", State::kWaiting, 100, Suspended},
    {"refused", State::kHanging, 99, Refused},
    {"rule-missing", State::kGated, 98, RuleMissing},
    {"rule-invalid", State::kGated, 97, RuleInvalid},
    {"gate-without-watcher", State::kGated, 96, GateWithoutWatcher},
    {"held-by-rule", State::kGated, 95, HeldByRule},
    {"other-gate", State::kGated, 94, OtherGate},
    {"quota-refuses-pods", State::kPending, 93, PodsRefusedByQuota},
    {"webhook-refuses-pods", State::kPending, 92, PodsRefusedByWebhook},
    {"pods-not-created", State::kPending, 91, PodsNotCreated},
    {"queue-missing", State::kPending, 90, QueueMissing},
    {"queue-closed", State::kPending, 89, QueueClosed},
    {"queue-full", State::kPending, 88, QueueFull},
    {"quota-exhausted", State::kPending, 87, QuotaExhausted},
    {"claim-missing", State::kPending, 86, ClaimMissing},
    {"claim-unbound", State::kPending, 85, ClaimUnbound},
    {"scheduler-absent", State::kPending, 84, SchedulerAbsent},
    {"wrong-scheduler", State::kPending, 83, WrongScheduler},
    {"k-too-large", State::kPending, 82, KTooLarge},
    {"min-member-too-large", State::kPending, 81, MinMemberTooLarge},
    {"gang-pods-missing", State::kPending, 80, GangPodsMissing},
    {"gang-gated", State::kPending, 79, GangGated},
    {"pod-group-missing", State::kPending, 78, PodGroupMissing},
    {"no-such-device", State::kPending, 77, NoSuchDevice},
    {"no-such-label", State::kPending, 76, NoSuchLabel},
    {"more-than-a-node-has", State::kPending, 75, MoreThanANodeHas},
    {"terminating-on-lost-node", State::kHanging, 74, TerminatingOnLostNode},
    {"opted-out", State::kHanging, 73, OptedOut},
    {"retries-used-up", State::kHanging, 72, RetriesUsedUp},
    {"fault-not-handled", State::kHanging, 71, FaultNotHandled},
    {"on-faulty-hardware", State::kHanging, 70, OnFaultyHardware},
    {"faulty-chips", State::kPending, 69, ChipsFaulty},
    {"faulty-nodes", State::kPending, 68, NodesFaulty},
    {"nodes-not-ready", State::kPending, 67, NodesNotReady},
    {"nodes-cordoned", State::kPending, 66, NodesCordoned},
    {"taint", State::kPending, 65, TaintNotTolerated},
    {"not-enough-npus", State::kPending, 64, NotEnoughNpus},
    {"gang-room", State::kPending, 63, GangRoom},
    {"image-pull", State::kWaiting, 60, ImagePull},
    {"out-of-memory", State::kHanging, 59, OutOfMemory},
    {"crash-loop", State::kHanging, 58, CrashLoop},
    {"rank-table-missing", State::kWaiting, 57, RankTableMissing},
    {"config-missing", State::kWaiting, 56, ConfigMissing},
    {"volume-not-mounted", State::kWaiting, 55, VolumeNotMounted},
    {"init-container", State::kWaiting, 54, InitContainerRuns},
    {"pod-failed", State::kHanging, 53, PodFailed},
    {"plugin-cache-stale", State::kPending, 52, PluginCacheStale},
    {"pod-group-not-enqueued", State::kPending, 51, PodGroupNotEnqueued},
    {"terminating", State::kHanging, 50, TerminatingForLong},
    {"being-deleted", State::kWaiting, 49, BeingDeleted},
    {"container-creating", State::kWaiting, 45, ContainerCreating},
    {"scheduler-message", State::kPending, 40, SchedulerMessage},
    {"not-ready", State::kWaiting, 35, NotReady},
    {"restarted-by-plugin", State::kRestarted, 20, RestartedByPlugin},
    {"restarted-by-mindgate", State::kRestarted, 19, RestartedByMindgate},
};
static_assert(std::ranges::is_sorted(kRows, std::ranges::greater(), &Row::weight));

// A screen has no room for more of one kind.
constexpr size_t kMaxOfAKind = 3;

State StateOfPods(const Facts& facts) {
  const auto any = [&](auto is) { return std::any_of(facts.pods.begin(), facts.pods.end(), is); };
  if (any([](const PodFacts& pod) { return pod.gated() && pod.node.empty(); })) {
    return State::kGated;
  }
  if (facts.pods.empty() || any([](const PodFacts& pod) { return pod.waits_for_a_node(); })) {
    return State::kPending;
  }
  return State::kWaiting;
}

std::string Named(const Facts& facts) { return facts.kind + "/" + facts.name; }

Reason NothingFound(const Facts& facts) {
  Reason reason{.id = "nothing-found", .state = StateOfPods(facts)};
  reason.what = Named(facts) + " does not run as a whole, and mindgate found no reason for it";
  reason.why = facts.unread.empty()
                   ? "It may have been created moments ago, or wait for what no object says."
                   : "Not all could be read: what is missing is listed below.";
  reason.fix = DescribeText(facts) + "; run this command again in a minute, or with --wait";
  return reason;
}

Reason NothingWrong(const Facts& facts) {
  if (IsDone(facts)) {
    return {.id = "done", .state = State::kDone, .what = Named(facts) + " has ended"};
  }
  const auto live = std::count_if(facts.pods.begin(), facts.pods.end(),
                                  [](const PodFacts& pod) { return pod.phase == "Running"; });
  return {.id = "nothing-wrong",
          .state = State::kRunning,
          .what = Named(facts) + " runs: " + Counted(live, "pod") + " of it " +
                  (live == 1 ? "is" : "are") + " ready, and nothing is in the way"};
}

}  // namespace

std::string_view StateName(State state) {
  switch (state) {
    case State::kPending:
      return "pending";
    case State::kGated:
      return "gated";
    case State::kHanging:
      return "hanging";
    case State::kRestarted:
      return "restarted";
    case State::kWaiting:
      return "waiting";
    case State::kRunning:
      return "running";
    case State::kDone:
      return "done";
  }
  return "";
}

Answer WhyIsIt(const Facts& facts) {
  Answer answer;
  for (const Row& row : kRows) {
    Findings found = row.find(facts);
    if (found.size() > kMaxOfAKind) found.resize(kMaxOfAKind);
    for (Finding& one : found) {
      answer.reasons.push_back({.id = std::string(row.id),
                                .state = row.state,
                                .what = std::move(one.what),
                                .why = std::move(one.why),
                                .fix = std::move(one.fix),
                                .evidence = std::move(one.evidence)});
    }
  }
  const bool settled = IsWell(facts);
  const bool only_restarts =
      std::all_of(answer.reasons.begin(), answer.reasons.end(),
                  [](const Reason& reason) { return reason.state == State::kRestarted; });
  if (only_restarts) {
    answer.reasons.insert(answer.reasons.begin(),
                          settled ? NothingWrong(facts) : NothingFound(facts));
  }
  answer.state = answer.reasons.front().state;
  // What was restarted and runs again is asked about for that.
  if (settled && answer.reasons.size() > 1 && answer.state == State::kRunning && only_restarts) {
    answer.state = State::kRestarted;
  }
  return answer;
}

bool IsSettled(const Answer& answer) {
  const std::string& first = answer.reasons.front().id;
  return first == "nothing-wrong" || first == "done";
}

std::vector<std::string_view> ReasonIds() {
  std::vector<std::string_view> ids;
  std::transform(std::begin(kRows), std::end(kRows), std::back_inserter(ids),
                 [](const Row& row) { return row.id; });
  return ids;
}

}  // namespace mindgate::why
