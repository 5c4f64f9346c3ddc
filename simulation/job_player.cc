#include "simulation/job_player.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "json/decode.h"
#include "json/value.h"
#include "schemas/names.h"
#include "simulation/fault_text.h"
#include "simulation/job_expectation.h"
#include "simulation/job_replica.h"
#include "simulation/jobs.h"
#include "watcher/rescheduling/job_state.h"
#include "watcher/rescheduling/plugin_records.h"

namespace mindgate::simulation {
namespace {

using json::Json;
using std::chrono::seconds;

// mind-cluster: component/ascend-device-plugin, although nothing changed.
constexpr std::chrono::minutes kWriteAgain{5};

class JobPlayer {
 public:
  JobPlayer(const Scenario& scenario, const PlayLimits& limits)
      : scenario_(scenario),
        limits_(limits),
        options_(scenario.options),
        server_(clock_),
        replica_(clock_, server_, options_),
        jobs_(scenario, options_, clock_, server_,
              [this](EventKind kind, size_t job, const std::string& subject, std::string reason) {
                Tell(kind, JobName(job), subject, std::move(reason));
              }),
        now_of_(scenario.jobs.size()),
        groups_(scenario.jobs.size()) {
    server_.Listen([this](ApiServer::Change change, const ApiServer::PodName& name,
                          const Json& object) { PodChanged(change, name, object); });
    for (const NodeSpec& node : scenario.nodes) replica_.NodeListed(node.name);
    if (options_.clusterd) {
      replica_.ReportLater(BeatOf(faults::Writer::kClusterD, clock_.WallNow()), seconds(0));
    }
    for (size_t i = 0; i < scenario.jobs.size(); ++i) {
      by_group_[{scenario.jobs[i].ns, scenario.jobs[i].name}] = i;
    }
  }

  Playback Run() {
    for (size_t i = 0; i < scenario_.jobs.size(); ++i) {
      const JobSpec& job = scenario_.jobs[i];
      Tell(EventKind::kSubmitted, job.name, job.name,
           std::string(OwnerKindName(job.kind)) + ", " + Counted(job.pods, "pod"));
    }
    const auto& timeline = scenario_.timeline;
    const Time last = timeline.empty() ? Time{} : Time(timeline.back().at);
    Settle();
    for (size_t next = 0; !playback_.stopped;) {
      std::optional<Time> moment = Earlier(jobs_.next_due(), replica_.next_due());
      if (next < timeline.size()) {
        moment = Earlier(moment, Time(timeline[next].at));
      } else if (!moment || *moment > last + kAfterLast) {
        break;
      }
      clock_.Set(std::max(*moment, clock_.WallNow()));
      for (; next < timeline.size() && Time(timeline[next].at) == clock_.WallNow() &&
             !playback_.stopped;
           ++next) {
        std::visit([this](const auto& action) { Do(action); }, timeline[next].action);
      }
      Settle();
    }
    return Finished();
  }

 private:
  static std::optional<Time> Earlier(std::optional<Time> a, std::optional<Time> b) {
    return a && b ? std::min(a, b) : a ? a : b;
  }
  seconds at() const { return clock_.WallNow().time_since_epoch(); }
  const std::string& JobName(size_t job) const { return scenario_.jobs[job].name; }
  const std::string& NodeName(size_t node) const { return scenario_.nodes[node].name; }

  void Tell(EventKind kind, std::string job, std::string subject, std::string reason) {
    if (playback_.stopped) return;
    if (playback_.events.size() == limits_.events) {
      Stop("there are more than " + std::to_string(limits_.events) + " events");
      return;
    }
    playback_.events.push_back({at(), kind, std::move(job), std::move(subject), std::move(reason)});
  }
  void Stop(std::string reason) {
    playback_.stopped = true;
    playback_.events.push_back({at(), EventKind::kStopped, "", "", std::move(reason)});
  }

  void PodChanged(ApiServer::Change change, const ApiServer::PodName& name, const Json& object) {
    jobs_.PodChanged(change, name, object);
    watcher::rescheduling::PodPtr pod;
    if (change != ApiServer::Change::kDeleted) {
      pod = reader_.Read(json::Document(object).root());
    }
    replica_.PodChanged(name, std::move(pod));
  }

  // --- what happens ---

  // The reader takes no others.
  template <typename Done>
  void Do(const Done&) {}

  void Do(const ReportFaults& action) {
    jobs_.Report(action.node, Reported(action));
    const auto chips = [](const char* word, const std::vector<int64_t>& of) {
      std::vector<std::string> texts;
      for (const int64_t chip : of) texts.push_back(ChipName(chip));
      return texts.empty() ? "" : std::string(word) + " " + Join(texts, ", ");
    };
    std::vector<std::string> texts = {
        chips("unhealthy", action.unhealthy),
        chips("network unhealthy", action.network_unhealthy),
        chips("sub-healthy", action.sub_healthy),
        chips("separated", action.separated),
        action.machine == "Healthy" ? "" : "machine " + action.machine,
        action.switches == "Healthy" ? "" : "switch " + action.switches};
    std::erase(texts, "");
    Tell(EventKind::kReported, "", action.name, texts.empty() ? "healthy" : Join(texts, "; "));
    ReportFaults& before = reported_[action.node];
    if (options_.clusterd) {
      for (ReportMap& map : OfClusterD(action, clock_.WallNow())) {
        replica_.ReportChanged(std::move(map));
      }
    }
    for (ReportMap& map : OfNode(action, before, clock_.WallNow())) {
      replica_.ReportChanged(std::move(map));
    }
    before = action;
  }
  // It writes down all that is true when it starts, and what it wrote last stays when it stops.
  // Device plugins go on to write at least every 5 minutes.
  void RunClusterD(bool runs) {
    const Time now = clock_.WallNow();
    replica_.ReportChanged(BeatOf(faults::Writer::kClusterD, now));
    if (!runs) {
      replica_.ReportLater(BeatOf(faults::Writer::kNodes, now + kWriteAgain), kWriteAgain);
      return;
    }
    for (const auto& [node, report] : reported_) {
      for (ReportMap& map : OfClusterD(report, now)) replica_.ReportChanged(std::move(map));
    }
  }

  void Do(const RemoveNode& action) {
    Tell(EventKind::kDeleted, "", action.name, "the Node; its pods stay");
    jobs_.RemoveNode(action.node);
    TellNode(action.node);
  }
  void Do(const NotReady& action) {
    Tell(EventKind::kNotReady, "", action.name, "its pods stay, and none of them ends");
    jobs_.SetReady(action.node, false);
    TellNode(action.node);
  }
  void Do(const Ready& action) {
    Tell(EventKind::kReady, "", action.name, "pods may come again");
    jobs_.SetReady(action.node, true);
    TellNode(action.node);
  }
  void TellNode(size_t node) {
    replica_.NodeChanged(NodeName(node), jobs_.IsThere(node), jobs_.IsReady(node));
  }
  void Do(const Cordon& action) {
    Tell(EventKind::kCordoned, "", action.name, "its pods stay, and no more come");
    jobs_.SetCordoned(action.node, true);
  }
  void Do(const Uncordon& action) {
    Tell(EventKind::kUncordoned, "", action.name, "pods may come again");
    jobs_.SetCordoned(action.node, false);
  }

  void Do(const ChangePod& action) {
    constexpr const char* kWords[] = {"fails",
                                      "has a container that ended with an error and runs again",
                                      "gets fault-type Separate",
                                      "gets fault-type SubHealth",
                                      "gets fault-type software",
                                      "has no fault-type any more"};
    const std::string why_not = jobs_.Change(action);
    Tell(EventKind::kChanged, "", action.pod,
         why_not.empty() ? kWords[static_cast<size_t>(action.what)] : why_not);
  }

  void Do(const OtherActs& action) {
    for (const std::string& pod : action.pods) {
      const std::string why_not = jobs_.Delete(action.job, pod, action.by_force);
      Tell(EventKind::kDeleted, JobName(action.job), pod,
           why_not.empty() ? "by somebody else" : why_not);
    }
    if (!action.recorded) return;
    const JobSpec& job = scenario_.jobs[action.job];
    const std::string id = job.ns + "/" + job.name;
    const Json records = {{id,
                           {{"JobID", id},
                            {"TotalRescheduleTimes", 1},
                            {"RescheduleRecords", {{{"RescheduleTimeStamp", at().count()}}}}}}};
    server_.PutObject(
        kube::resources::kConfigMaps, std::string(watcher::rescheduling::kRecordsNamespace),
        std::string(watcher::rescheduling::kRecordsName),
        {{"data", {{std::string(watcher::rescheduling::kRecordsKey), records.dump()}}}});
    Tell(EventKind::kChanged, job.name, "job-reschedule-reason", "says that it was restarted");
  }

  void Do(const ChangeJob& action) {
    Tell(EventKind::kChanged, JobName(action.job), JobName(action.job), "its labels or pods");
    jobs_.Change(action);
  }
  void Do(const PauseRescheduling& action) {
    Tell(EventKind::kChanged, "", "Lease", action.paused ? "paused" : "no longer paused");
    server_.PutObject(
        kube::resources::kLeases, JobReplica::kNamespace, JobReplica::kLease,
        {{"metadata",
          {{"annotations",
            {{std::string(schemas::kPauseRescheduling), action.paused ? "true" : "false"}}}}}});
  }
  void Do(const DisableNamespace& action) {
    Tell(EventKind::kChanged, "", action.ns, "mindgate.io/rescheduling is disabled");
    server_.PutObject(
        kube::resources::kNamespaces, "", action.ns,
        {{"metadata", {{"labels", {{std::string(schemas::kRescheduling), "disabled"}}}}}});
  }
  void Do(const SetOptions& action) {
    Tell(EventKind::kOptions, "", "options", "changed");
    const bool ran = std::exchange(options_, action.options).clusterd;
    if (ran != options_.clusterd) RunClusterD(options_.clusterd);
    replica_.EnqueueAll();
  }
  void Do(const FailCalls& action) {
    Tell(EventKind::kCalls, "", action.verb.empty() ? "calls" : action.verb,
         (action.status == 0 ? "get no answer" : "are answered " + std::to_string(action.status)) +
             " for " + FormatDuration(action.lasts));
    replica_.FailCalls(action, clock_.WallNow() + action.lasts);
  }
  void Do(const LoseLeader& action) {
    Tell(EventKind::kLeader, "", "watcher",
         "lost, and another one leads " +
             (action.lasts == seconds(0) ? "at once" : "after " + FormatDuration(action.lasts)));
    replica_.LoseLeader(clock_.WallNow() + action.lasts);
  }

  void Do(const JobExpectation& expectation) {
    Settle();
    if (playback_.stopped) return;
    const std::string& name = JobName(expectation.job);
    for (CheckResult& check : CheckJob(expectation, name, at(), NowOf(expectation.job))) {
      std::string text = check.what + ": " + check.expected;
      if (!check.met) {
        text = check.what + ": expected " + check.expected + ", found " + check.found;
      }
      Tell(check.met ? EventKind::kExpected : EventKind::kNotMet, name,
           "line " + std::to_string(check.line), std::move(text));
      playback_.checks.push_back(std::move(check));
    }
  }

  JobNow NowOf(size_t job) {
    JobNow now = now_of_[job];
    now.untouched = jobs_.Untouched(job);
    now.running = jobs_.Running(job);
    for (size_t node = 0; node < scenario_.nodes.size(); ++node) {
      if (jobs_.IsIsolated(node)) now.isolated.push_back(NodeName(node));
    }
    std::sort(now.isolated.begin(), now.isolated.end());
    const Json kept = server_.FindObject(
        kube::PathOf(kube::resources::kConfigMaps, JobReplica::kNamespace, JobReplica::kState));
    const auto text = json::Document::Decode(json::TextAt(kept, {"data", "state.json"}));
    if (!text) return now;
    const auto states = watcher::rescheduling::Decode(text->root(), clock_.WallNow());
    const auto state = states.find({scenario_.jobs[job].ns, JobName(job)});
    if (state != states.end()) now.retries_used = state->second.retries_used;
    return now;
  }

  // --- what time, owners, the scheduler and the watcher do ---

  void Settle() {
    for (int round = 0; !playback_.stopped; ++round) {
      bool changed = jobs_.RunPods();
      changed = jobs_.SyncOwners() || changed;
      changed = jobs_.Schedule() || changed;
      TellGroups();
      changed = replica_.Deliver() || changed;
      changed = replica_.Reconcile() || changed;
      Note();
      if (!changed) break;
      if (round == limits_.rounds) {
        Stop("the decision does not settle: in round " + std::to_string(round) +
             " at this time it still restarts");
      }
    }
    FollowSpans();
  }

  // To the watcher, what changed of PodGroups.
  void TellGroups() {
    for (size_t i = 0; i < scenario_.jobs.size(); ++i) {
      const std::string path = PodGroupPath(scenario_.jobs[i]);
      const Json group = server_.FindObject(path);
      std::string version = json::TextAt(group, {"metadata", "resourceVersion"});
      if (std::exchange(groups_[i], version) == version) continue;
      const json::Document document(group);
      replica_.GroupChanged(path, std::make_shared<const watcher::rescheduling::PodGroupState>(
                                      watcher::rescheduling::PodGroupOf(document.root())));
    }
  }

  // What the watcher did and said.
  void Note() {
    for (JobReplica::Done& done : replica_.TakeDone()) {
      const size_t job = jobs_.JobOf(done.pod);
      std::vector<std::string>& pods = now_of_[job].done[done.deed][at()];
      pods.insert(std::upper_bound(pods.begin(), pods.end(), done.pod), std::move(done.pod));
    }
    for (watcher::DecisionRecord& record : replica_.TakeRecords()) {
      const auto job = by_group_.find({record.ns, record.about.front().second});
      if (job == by_group_.end()) continue;
      JobNow& now = now_of_[job->second];
      const EventKind kind = record.what == "restarted"       ? EventKind::kRestarted
                             : record.what == "pods marked"   ? EventKind::kMarked
                             : record.what == "restart waits" ? EventKind::kWaits
                             : record.what == "not restarted" ? EventKind::kLeftAlone
                                                              : EventKind::kWouldRestart;
      now.last = record.what;
      now.reason = record.reason;
      Tell(kind, JobName(job->second), JobName(job->second), std::move(record.reason));
    }
  }

  void FollowSpans() {
    auto next = jobs_.Spans();
    for (auto& [pod, span] : open_) {
      const auto now = next.find(pod);
      if (now != next.end() && now->second.state == span.state && now->second.nodes == span.nodes) {
        now->second.from = span.from;
        continue;
      }
      if (span.from < at() && playback_.spans.size() < limits_.events) {
        span.to = at();
        playback_.spans.push_back(std::move(span));
      }
      if (now != next.end()) now->second.from = at();
    }
    for (auto& [pod, span] : next) {
      if (!open_.contains(pod)) span.from = at();
    }
    open_ = std::move(next);
  }

  Playback Finished() {
    playback_.end = at();
    for (auto& [pod, span] : open_) {
      if (span.from >= at()) continue;
      span.to = at();
      playback_.spans.push_back(std::move(span));
    }
    for (size_t i = 0; i < scenario_.jobs.size(); ++i) {
      const JobNow now = NowOf(i);
      JobEnd end{.job = JobName(i),
                 .pods = scenario_.jobs[i].pods,
                 .running = std::ssize(now.running),
                 .retries_used = now.retries_used};
      for (const auto& [deed, by_time] : now.done) {
        for (const auto& [time, pods] : by_time) {
          (deed == JobReplica::Deed::kMarked ? end.marked : end.restarted) += std::ssize(pods);
        }
      }
      playback_.jobs.push_back(std::move(end));
    }
    return std::move(playback_);
  }

  const Scenario& scenario_;
  const PlayLimits& limits_;
  ScenarioOptions options_;
  ManualClock clock_;
  ApiServer server_;
  JobReplica replica_;
  Jobs jobs_;
  watcher::rescheduling::PodReader reader_;
  std::map<std::pair<std::string, std::string>, size_t> by_group_;
  std::vector<JobNow> now_of_;               // what the watcher did and said, of each job
  std::vector<std::string> groups_;          // resourceVersions that the watcher was told of
  std::map<size_t, ReportFaults> reported_;  // by node
  std::map<std::string, Span> open_;
  Playback playback_;
};

}  // namespace

Playback PlayJobs(const Scenario& scenario, const PlayLimits& limits) {
  return JobPlayer(scenario, limits).Run();
}

}  // namespace mindgate::simulation
