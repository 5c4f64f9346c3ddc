#include "simulation/player.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "kube/resource.h"
#include "schemas/names.h"
#include "simulation/expectation.h"
#include "simulation/fault_reporters.h"
#include "simulation/recorder.h"
#include "simulation/replica.h"
#include "simulation/world.h"
#include "watcher/rescheduling/plugin.h"

namespace mindgate::simulation {
namespace {

using json::Json;
using std::chrono::seconds;

class Player {
 public:
  Player(const Scenario& scenario, const PlayLimits& limits)
      : scenario_(scenario),
        limits_(limits),
        options_(scenario.options),
        recorder_(clock_, limits),
        server_(clock_),
        replica_(clock_, server_, options_),
        reporters_(clock_, options_, replica_),
        world_(scenario, options_, clock_, server_, replica_,
               [this](EventKind kind, const Gang& gang, std::string reason) {
                 Note(kind, gang, std::move(reason));
               }),
        services_(scenario, options_, clock_, world_, recorder_),
        jobs_(scenario, clock_, server_, world_),
        always_(scenario) {}

  Playback Run() {
    for (const RuleSpec& rule : scenario_.rules) Do(SetRule{rule});
    if (scenario_.has_faults) reporters_.Start();
    for (const JobSpec& job : scenario_.jobs) {
      recorder_.Note(EventKind::kSubmitted, job.name, job.name,
                     std::string(OwnerKindName(job.kind)) + ", " + Counted(job.pods, "pod"));
    }
    // Jobs are there before the first entry, but not before instances of the same moment.
    if (scenario_.services.empty()) Settle();
    const auto& timeline = scenario_.timeline;
    const Time last = timeline.empty() ? Time{} : Time(timeline.back().at);
    for (size_t next = 0; !recorder_.stopped();) {
      std::optional<Time> moment = Earlier(world_.next_due(), replica_.next_due());
      if (next < timeline.size()) {
        moment = Earlier(moment, Time(timeline[next].at));
        moment = Earlier(moment, always_.next());
      } else if (!moment || *moment > last + kAfterLast) {
        break;
      }
      clock_.Set(std::max(*moment, now()));
      FireTimers();
      for (; next < timeline.size() && Time(timeline[next].at) == now() && !recorder_.stopped();
           ++next) {
        // Each kind of entry has a Do of its own, or this does not compile.
        std::visit(
            [this](const auto& action) {
              Do(action);
              if constexpr (requires { action.node; }) FollowNode(action.node);
            },
            timeline[next].action);
      }
      Settle();
    }
    Playback playback = recorder_.Finish();
    playback.services = services_.Ends();
    playback.jobs = jobs_.Ends();
    return playback;
  }

 private:
  static std::optional<Time> Earlier(std::optional<Time> a, std::optional<Time> b) {
    return a && b ? std::min(a, b) : a ? a : b;
  }

  Time now() const { return clock_.WallNow(); }

  // Of the cluster.
  void Note(EventKind kind, std::string subject, std::string reason) {
    recorder_.Note(kind, "", std::move(subject), std::move(reason));
  }
  void Note(EventKind kind, const Gang& gang, std::string reason) {
    if (gang.service != nullptr) {
      recorder_.Note(kind, gang.service->name, services_.SubjectOf(*gang.service, gang.spec->name),
                     std::move(reason));
    } else {
      recorder_.Note(kind, gang.spec->name, gang.spec->name, std::move(reason));
    }
  }

  // --- what happens to nodes ---

  const std::string& NodeName(size_t node) const { return scenario_.nodes[node].name; }

  void Do(const BreakNode& action) {
    const std::string& name = NodeName(action.node);
    if (world_.cluster().IsBroken(action.node)) {
      Note(EventKind::kBroken, name, "it was broken already");
      return;
    }
    Note(EventKind::kBroken, name, "the node");
    world_.BreakNode(action.node);
  }

  void Do(const RepairNode& action) {
    const bool broken = world_.cluster().IsBroken(action.node);
    world_.RepairNode(action.node);
    Note(EventKind::kRepaired, NodeName(action.node), broken ? "the node" : "it was not broken");
  }

  void Do(const BreakCards& action) {
    const NodeSpec& node = scenario_.nodes[action.node];
    const int64_t before = world_.cluster().WorkingCards(action.node);
    const auto pods = world_.BreakCards(action.node, action.count);
    const int64_t after = world_.cluster().WorkingCards(action.node);
    const std::string what = Counted(before - after, "NPU");
    Note(EventKind::kBroken, node.name, what + "; " + Working(after, node.npus));
    world_.LosePods(pods, what + " of " + node.name + " broke");
  }

  void Do(const RepairCards& action) {
    const NodeSpec& node = scenario_.nodes[action.node];
    const int64_t before = world_.cluster().WorkingCards(action.node);
    world_.RepairCards(action.node, action.count);
    const int64_t after = world_.cluster().WorkingCards(action.node);
    Note(EventKind::kRepaired, node.name,
         Counted(after - before, "NPU") + "; " + Working(after, node.npus));
  }

  void Do(const Cordon& action) {
    Note(EventKind::kCordoned, NodeName(action.node), "its pods stay, and no more come");
    world_.SetCordoned(action.node, true);
  }

  void Do(const Uncordon& action) {
    Note(EventKind::kUncordoned, NodeName(action.node), "pods may come again");
    world_.SetCordoned(action.node, false);
  }

  void Do(const NotReady& action) {
    Note(EventKind::kNotReady, NodeName(action.node),
         scenario_.services.empty() ? "its pods stay, and none of them ends"
                                    : "its pods stay and are not ready, and no more come");
    world_.SetReady(action.node, false);
  }

  void Do(const Ready& action) {
    Note(EventKind::kReady, NodeName(action.node), "pods may come again");
    world_.SetReady(action.node, true);
  }

  void Do(const RemoveNode& action) {
    Note(EventKind::kDeleted, NodeName(action.node), "the Node; its pods stay");
    world_.RemoveNode(action.node);
  }

  void Do(const ReportFaults& action) {
    Note(EventKind::kReported, NodeName(action.node), ReportText(action));
    world_.Report(action.node, Reported(action));
    reporters_.Report(action);
    reported_[action.node] = IsHealthy(action) ? "" : ReportText(action);
  }

  static bool IsHealthy(const ReportFaults& report) {
    const ReportFaults healthy;
    return report.unhealthy.empty() && report.network_unhealthy.empty() &&
           report.sub_healthy.empty() && report.separated.empty() && report.codes.empty() &&
           report.machine == healthy.machine && report.switches == healthy.switches;
  }

  // The worst that is wrong with a node is drawn.
  void FollowNode(size_t node) {
    const NodeSpec& spec = scenario_.nodes[node];
    const int64_t working = world_.cluster().WorkingCards(node);
    std::string what = reported_[node];
    if (working < spec.npus) {
      what = std::to_string(working) + " of " + Counted(spec.npus, "NPU") +
             (working == 1 ? " works" : " work");
    }
    if (!world_.cluster().IsReady(node)) what = "not Ready";
    if (world_.cluster().IsBroken(node)) what = "broken";
    recorder_.FollowNode(spec.name, std::move(what));
  }

  static std::string Working(int64_t count, int64_t of) {
    return std::to_string(count) + " of " + std::to_string(of) + " work";
  }

  // --- what happens to instances and jobs ---

  void Do(const Submit& action) { world_.Submit(action.instance); }
  void Do(const Delete& action) {
    if (const auto instance = Find(action, EventKind::kDeleted)) world_.Delete(*instance);
  }
  void Do(const FailInstance& action) {
    if (const auto instance = Find(action, EventKind::kLost)) world_.FailInstance(*instance);
  }
  void Do(const FailPod& action) {
    if (const auto instance = Find(action, EventKind::kLost)) {
      world_.FailPod(*instance, action.pod);
    }
  }

  // Rolling updates make instances and remove them when they may.
  std::optional<size_t> Find(const ToInstance& action, EventKind kind) {
    services_.Follow();
    const auto instance = world_.FindInstance(action.ns, action.instance);
    if (instance && !world_.gangs()[*instance].deleted) return instance;
    Note(kind, action.instance, "nothing: there is no such instance now");
    return std::nullopt;
  }

  void Do(const Rollout& action) {
    recorder_.Note(EventKind::kRollout, scenario_.services[action.service].name, action.workload,
                   "a new revision, maxSurge " + std::to_string(action.max_surge) +
                       ", maxUnavailable " + std::to_string(action.max_unavailable));
    world_.RollOut(action);
  }

  void Do(const ChangePod& action) {
    constexpr const char* kWords[] = {"fails",
                                      "has a container that ended with an error and runs again",
                                      "gets fault-type Separate",
                                      "gets fault-type SubHealth",
                                      "gets fault-type software",
                                      "has no fault-type any more"};
    const std::string why_not = world_.Change(action);
    Note(EventKind::kChanged, action.pod,
         why_not.empty() ? kWords[static_cast<size_t>(action.what)] : why_not);
  }

  void Do(const ChangeJob& action) {
    Note(EventKind::kChanged, world_.gangs()[action.job], "its labels or pods");
    world_.Change(action);
  }

  void Do(const ExternalDeletion& action) {
    size_t gang = action.job;
    if (!action.instance.empty()) {
      const auto instance = Find(action, EventKind::kLost);
      if (!instance) return;
      gang = *instance;
      world_.LoseInstance(gang, "its pods are deleted by somebody else", action.by_force);
    }
    const std::string name = world_.gangs()[gang].spec->name;
    for (const std::string& pod : action.pods) {
      const std::string why_not = world_.DeletePod(gang, pod, action.by_force);
      recorder_.Note(EventKind::kDeleted, name, pod,
                     why_not.empty() ? "by somebody else" : why_not);
    }
    if (!action.recorded) return;
    const std::string id = world_.gangs()[gang].ns() + "/" + name;
    const Json records = {
        {id,
         {{"JobID", id},
          {"TotalRescheduleTimes", 1},
          {"RescheduleRecords", {{{"RescheduleTimeStamp", recorder_.at().count()}}}}}}};
    server_.PutObject(
        kube::resources::kConfigMaps, std::string(watcher::rescheduling::kRecordsNamespace),
        std::string(watcher::rescheduling::kRecordsName),
        {{"data", {{std::string(watcher::rescheduling::kRecordsKey), records.dump()}}}});
    recorder_.Note(EventKind::kChanged, name, "job-reschedule-reason",
                   "says that it was restarted");
  }

  // --- what happens to the watcher ---

  void Do(const SetRule& action) {
    RuleLook look = LookAt(action.rule);
    Note(EventKind::kRule, action.rule.key.name, look.text);
    Follow(action.rule.key,
           std::make_shared<const watcher::scaling::RuleState>(std::move(look.state)));
  }

  void Do(const DeleteRule& action) {
    Note(EventKind::kRule, action.rule.name, "deleted");
    Follow(action.rule, nullptr);
  }

  void Follow(const RuleKey& key, const std::shared_ptr<const watcher::scaling::RuleState>& rule) {
    replica_.RuleChanged(key, rule);
    services_.RuleChanged(key, rule);
  }

  void Do(const SetOptions& action) {
    Note(EventKind::kOptions, "options", "changed");
    const bool ran = std::exchange(options_, action.options).clusterd;
    if (ran != options_.clusterd) reporters_.RunClusterD(options_.clusterd);
    replica_.EnqueueAll();
  }

  void Do(const FailCalls& action) {
    const std::string what = action.verb.empty() ? "calls" : action.verb;
    const std::string how =
        action.status == 0 ? "get no answer" : "are answered " + std::to_string(action.status);
    Note(EventKind::kCalls, what, how + " for " + FormatDuration(action.lasts));
    replica_.FailCalls(action, now() + action.lasts);
  }

  void Do(const LoseLeader& action) {
    Note(EventKind::kLeader, "watcher",
         "lost, and another one leads " +
             (action.lasts == seconds(0) ? "at once" : "after " + FormatDuration(action.lasts)));
    replica_.LoseLeader(now() + action.lasts);
  }

  void Do(const PauseRescheduling& action) {
    Note(EventKind::kChanged, "Lease", action.paused ? "paused" : "no longer paused");
    server_.PutObject(
        kube::resources::kLeases, Replica::kNamespace, Replica::kLease,
        {{"metadata",
          {{"annotations",
            {{std::string(schemas::kPauseRescheduling), action.paused ? "true" : "false"}}}}}});
  }

  void Do(const DisableNamespace& action) {
    Note(EventKind::kChanged, action.ns, "mindgate.io/rescheduling is disabled");
    server_.PutObject(
        kube::resources::kNamespaces, "", action.ns,
        {{"metadata", {{"labels", {{std::string(schemas::kRescheduling), "disabled"}}}}}});
  }

  // --- what is expected ---

  void Do(const Expectation& expectation) {
    Settle();
    if (recorder_.stopped()) return;
    const std::string& name = scenario_.services[expectation.service].name;
    auto checks = Check(expectation, name, recorder_.at(), services_.NowOf(expectation.service));
    if (expectation.always) {
      for (CheckResult check : always_.ResultsOf(*expectation.always)) {
        check.service = name;
        check.at = recorder_.at();
        checks.push_back(check);
      }
    }
    std::stable_sort(checks.begin(), checks.end(),
                     [](const CheckResult& a, const CheckResult& b) { return a.line < b.line; });
    for (CheckResult& check : checks) recorder_.Check(std::move(check));
  }

  void Do(const JobExpectation& expectation) {
    Settle();
    if (recorder_.stopped()) return;
    for (CheckResult& check : CheckJob(expectation, scenario_.jobs[expectation.job].name,
                                       recorder_.at(), jobs_.NowOf(expectation.job))) {
      recorder_.Check(std::move(check));
    }
  }

  // --- what time, owners, the scheduler and the watcher do ---

  bool FireTimers() {
    const bool fired = world_.FireTimers();
    services_.Follow();
    return fired;
  }

  void Settle() {
    for (int round = 0; !recorder_.stopped(); ++round) {
      bool changed = FireTimers();
      changed = world_.SyncOwners() || changed;
      services_.Follow();
      changed = world_.Schedule() || changed;
      services_.Follow();
      changed = replica_.Deliver() || changed;
      changed = replica_.Reconcile() || changed;
      for (const PodAction& action : replica_.TakeActions()) jobs_.Note(action);
      for (watcher::DecisionRecord& record : replica_.TakeRecords()) Note(std::move(record));
      services_.Follow();
      if (!changed) break;
      if (round == limits_.rounds) {
        recorder_.Stop("the decision does not settle: in round " + std::to_string(round) +
                       " at this time it still grants, gives up or restarts");
      }
    }
    services_.Check();
    recorder_.FollowJobs(world_.SpansOfJobs());
    always_.Check(
        now(), [this](size_t service) { return services_.looked(service); },
        [this](size_t service) { return services_.NowOf(service); });
  }

  void Note(watcher::DecisionRecord record) {
    const watcher::DecisionWords& words = watcher::WordsOf(record.kind);
    if (words.controller == watcher::controllers::kScaling) {
      return services_.Note(std::move(record));
    }
    const auto gang = FindGang(record.ns, record.about.front().second);
    if (!gang) return;
    if (world_.gangs()[*gang].job != nullptr) {
      jobs_.Note(*gang, std::string(words.word), record.reason);
    } else {
      services_.NoteReason(world_.gangs()[*gang], record.reason);
    }
    Note(EventOf(record.kind), world_.gangs()[*gang], std::move(record.reason));
  }

  static EventKind EventOf(watcher::DecisionKind kind) {
    using Kind = watcher::DecisionKind;
    switch (kind) {
      case Kind::kRestarted:
        return EventKind::kRestarted;
      case Kind::kPodsMarked:
        return EventKind::kMarked;
      case Kind::kRestartWaits:
        return EventKind::kWaits;
      case Kind::kNotRestarted:
        return EventKind::kUntouched;
      default:
        return EventKind::kWouldRestart;
    }
  }

  // By its PodGroup.
  std::optional<size_t> FindGang(const std::string& ns, const std::string& group) const {
    for (size_t i = 0; i < scenario_.jobs.size(); ++i) {
      if (scenario_.jobs[i].ns == ns && scenario_.jobs[i].name == group) return i;
    }
    return world_.FindInstance(ns, group);
  }

  std::map<size_t, std::string> reported_;  // what is, by node; empty: nothing
  const Scenario& scenario_;
  const PlayLimits& limits_;
  ScenarioOptions options_;
  ManualClock clock_;
  Recorder recorder_;
  ApiServer server_;
  Replica replica_;
  FaultReporters reporters_;
  World world_;
  ServiceStates services_;
  JobStates jobs_;
  AlwaysChecks always_;
};

}  // namespace

Playback Play(const Scenario& scenario, const PlayLimits& limits) {
  return Player(scenario, limits).Run();
}

}  // namespace mindgate::simulation
