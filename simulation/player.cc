#include "simulation/player.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "simulation/always.h"
#include "simulation/expectation.h"
#include "simulation/job_player.h"
#include "simulation/pod_text.h"
#include "simulation/replica.h"
#include "simulation/rules.h"
#include "simulation/workloads.h"

namespace mindgate::simulation {
namespace {

using std::chrono::seconds;
using watcher::scaling::Phase;

// How a service stands in truth, whatever the watcher has seen, and what was told of it.
struct ServiceState {
  watcher::scaling::RuleState rule;
  std::vector<size_t> instances{};  // by number
  watcher::scaling::Service service{};
  watcher::scaling::Decision decision{};  // only for what is reached and how many run
  bool changed = true;
  bool looked = false;  // at the end of this moment
  History history{};
  std::map<std::string, int64_t> running{};  // by group
  // Since the last moment: who waits and why, by instance, and what would be done.
  std::map<std::string, std::string> held{};
  std::vector<std::pair<EventKind, watcher::DecisionRecord>> would{};
  std::map<std::string, std::string> told_held{};  // the last of each instance
  std::string told_shape{};
};

class Player {
 public:
  Player(const Scenario& scenario, const PlayLimits& limits)
      : scenario_(scenario),
        limits_(limits),
        options_(scenario.options),
        server_(clock_),
        replica_(clock_, server_, options_),
        workloads_(
            scenario, options_, clock_, server_,
            [this](EventKind kind, const Workloads::Live& live, std::string reason) {
              Tell(kind, live, std::move(reason));
            },
            [this](const ApiServer::PodName& name, watcher::scaling::PodPtr pod, seconds delay) {
              replica_.PodChanged(name, std::move(pod), delay);
            }),
        always_(scenario) {
    for (const ServiceSpec& spec : scenario.services) {
      const watcher::scaling::ServiceKey key{spec.rule.ns, spec.rule.name, spec.job_id};
      by_key_[key] = services_.size();
      services_.emplace_back().rule = watcher::scaling::RuleMissing(key);
    }
    for (const Entry& entry : scenario.timeline) {
      if (const auto* submit = std::get_if<Submit>(&entry.action)) {
        const InstanceSpec& instance = submit->instance;
        namespaces_[instance.name].insert(scenario.services[instance.service].rule.ns);
      }
    }
  }

  Playback Run() {
    for (const RuleSpec& rule : scenario_.rules) Do(SetRule{rule});
    const auto& timeline = scenario_.timeline;
    const Time last = timeline.empty() ? Time{} : Time(timeline.back().at);
    for (size_t next = 0; !playback_.stopped;) {
      std::optional<Time> moment = Earlier(workloads_.next_due(), replica_.next_due());
      if (next < timeline.size()) {
        moment = Earlier(moment, Time(timeline[next].at));
        moment = Earlier(moment, always_.next());
      } else if (!moment || *moment > last + kAfterLast) {
        break;
      }
      clock_.Set(std::max(*moment, now()));
      RingAlarms();
      for (; next < timeline.size() && Time(timeline[next].at) == now() && !playback_.stopped;
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

  Time now() const { return clock_.WallNow(); }
  seconds at() const { return now().time_since_epoch(); }

  void Tell(EventKind kind, std::string service, std::string subject, std::string reason) {
    if (playback_.stopped) return;
    if (playback_.events.size() == limits_.events) {
      Stop("there are more than " + std::to_string(limits_.events) + " events");
      return;
    }
    playback_.events.push_back(
        {at(), kind, std::move(service), std::move(subject), std::move(reason)});
  }
  void Tell(EventKind kind, const Workloads::Live& live, std::string reason) {
    const ServiceSpec& service = scenario_.services[live.spec->service];
    Tell(kind, service.name, SubjectOf(service, live.spec->name), std::move(reason));
  }

  // As entries name an instance: with its namespace where another one has an instance of its name.
  std::string SubjectOf(const ServiceSpec& service, const std::string& name) const {
    const auto found = namespaces_.find(name);
    const bool alone = found == namespaces_.end() || found->second.size() == 1;
    return alone ? name : service.rule.ns + "/" + name;
  }

  void Stop(std::string reason) {
    playback_.stopped = true;
    playback_.events.push_back({at(), EventKind::kStopped, "", "", std::move(reason)});
  }

  // The reader takes nothing that concerns jobs.
  template <typename Done>
  void Do(const Done&) {}

  // --- what happens to nodes ---

  const std::string& NodeName(size_t node) const { return scenario_.nodes[node].name; }

  void TellNodes() {
    watcher::scaling::NodeNames unusable;
    for (size_t i = 0; i < scenario_.nodes.size(); ++i) {
      if (!workloads_.cluster().IsUsable(i)) unusable.insert(NodeName(i));
    }
    replica_.NodesChanged(std::move(unusable));
  }

  void Do(const BreakNode& action) {
    const std::string& name = NodeName(action.node);
    if (workloads_.cluster().IsBroken(action.node)) {
      Tell(EventKind::kBroken, "", name, "it was broken already");
      return;
    }
    Tell(EventKind::kBroken, "", name, "the node");
    workloads_.LosePods(workloads_.cluster().BreakNode(action.node), name + " broke");
    TellNodes();
  }

  void Do(const RepairNode& action) {
    const bool broken = workloads_.cluster().IsBroken(action.node);
    workloads_.cluster().RepairNode(action.node);
    Tell(EventKind::kRepaired, "", NodeName(action.node),
         broken ? "the node" : "it was not broken");
    TellNodes();
  }

  void Do(const BreakCards& action) {
    Cluster& cluster = workloads_.cluster();
    const NodeSpec& node = scenario_.nodes[action.node];
    const int64_t before = cluster.WorkingCards(action.node);
    const auto pods = cluster.BreakCards(action.node, action.count);
    const int64_t after = cluster.WorkingCards(action.node);
    const std::string what = Counted(before - after, "NPU");
    Tell(EventKind::kBroken, "", node.name, what + "; " + Working(after, node.npus));
    workloads_.LosePods(pods, what + " of " + node.name + " broke");
  }

  void Do(const RepairCards& action) {
    Cluster& cluster = workloads_.cluster();
    const NodeSpec& node = scenario_.nodes[action.node];
    const int64_t before = cluster.WorkingCards(action.node);
    cluster.RepairCards(action.node, action.count);
    const int64_t after = cluster.WorkingCards(action.node);
    Tell(EventKind::kRepaired, "", node.name,
         Counted(after - before, "NPU") + "; " + Working(after, node.npus));
  }

  void Do(const Cordon& action) {
    Tell(EventKind::kCordoned, "", NodeName(action.node), "its pods stay, and no more come");
    workloads_.cluster().SetCordoned(action.node, true);
    TellNodes();
  }

  void Do(const Uncordon& action) {
    Tell(EventKind::kUncordoned, "", NodeName(action.node), "pods may come again");
    workloads_.cluster().SetCordoned(action.node, false);
    TellNodes();
  }

  void Do(const NotReady& action) {
    Tell(EventKind::kNotReady, "", NodeName(action.node),
         "its pods stay and are not ready, and no more come");
    SetReady(action.node, false);
  }

  void Do(const Ready& action) {
    Tell(EventKind::kReady, "", NodeName(action.node), "pods may come again");
    SetReady(action.node, true);
  }

  void SetReady(size_t node, bool ready) {
    workloads_.cluster().SetReady(node, ready);
    workloads_.SetReady(node, ready);
    TellNodes();
  }

  static std::string Working(int64_t count, int64_t of) {
    return std::to_string(count) + " of " + std::to_string(of) + " work";
  }

  // --- what happens to instances ---

  void Do(const Submit& action) { workloads_.Submit(action.instance); }
  void Do(const Delete& action) {
    if (const auto instance = Find(action, EventKind::kDeleted)) {
      workloads_.Delete(*instance);
    }
  }
  void Do(const FailInstance& action) {
    if (const auto instance = Find(action, EventKind::kLost)) {
      workloads_.FailInstance(*instance);
    }
  }
  void Do(const FailPod& action) {
    if (const auto instance = Find(action, EventKind::kLost)) {
      workloads_.FailPod(*instance, action.pod);
    }
  }

  // Rolling updates make instances and remove them when they may.
  template <typename Done>
  std::optional<size_t> Find(const Done& action, EventKind kind) {
    LookAtChanges();
    const auto instance = workloads_.Find(action.ns, action.instance);
    if (instance && !workloads_.all()[*instance].deleted) return instance;
    Tell(kind, "", action.instance, "nothing: there is no such instance now");
    return std::nullopt;
  }

  void Do(const Rollout& action) {
    Tell(EventKind::kRollout, scenario_.services[action.service].name, action.workload,
         "a new revision, maxSurge " + std::to_string(action.max_surge) + ", maxUnavailable " +
             std::to_string(action.max_unavailable));
    workloads_.RollOut(action, action.service);
  }

  // --- what happens to the watcher ---

  void Do(const SetRule& action) {
    RuleLook look = LookAt(action.rule);
    Tell(EventKind::kRule, "", action.rule.key.name, look.told);
    Follow(action.rule.key,
           std::make_shared<const watcher::scaling::RuleState>(std::move(look.state)));
  }

  void Do(const DeleteRule& action) {
    Tell(EventKind::kRule, "", action.rule.name, "deleted");
    Follow(action.rule, nullptr);
  }

  void Follow(const RuleKey& key, const std::shared_ptr<const watcher::scaling::RuleState>& rule) {
    replica_.RuleChanged(key, rule);
    for (const auto& [service, i] : by_key_) {
      if (scenario_.services[i].rule != key) continue;
      services_[i].rule = rule == nullptr ? watcher::scaling::RuleMissing(service) : *rule;
      services_[i].changed = true;
      workloads_.Touch(i);
    }
  }

  void Do(const SetOptions& action) {
    Tell(EventKind::kOptions, "", "options", "changed");
    options_ = action.options;
    replica_.EnqueueAll();
  }

  void Do(const FailCalls& action) {
    const std::string what = action.verb.empty() ? "calls" : action.verb;
    const std::string how =
        action.status == 0 ? "get no answer" : "are answered " + std::to_string(action.status);
    Tell(EventKind::kCalls, "", what, how + " for " + FormatDuration(action.lasts));
    replica_.FailCalls(action, now() + action.lasts);
  }

  void Do(const LoseLeader& action) {
    Tell(EventKind::kLeader, "", "watcher",
         "lost, and another one leads " +
             (action.lasts == seconds(0) ? "at once" : "after " + FormatDuration(action.lasts)));
    replica_.LoseLeader(now() + action.lasts);
  }

  void Do(const Expectation& expectation) {
    Settle();
    if (playback_.stopped) return;
    const std::string& name = scenario_.services[expectation.service].name;
    auto checks = Check(expectation, name, at(), NowOf(expectation.service));
    if (expectation.always) {
      for (CheckResult check : always_.ResultsOf(*expectation.always)) {
        check.service = name;
        check.at = at();
        checks.push_back(check);
      }
    }
    std::stable_sort(checks.begin(), checks.end(),
                     [](const CheckResult& a, const CheckResult& b) { return a.line < b.line; });
    for (CheckResult& check : checks) {
      std::string text = check.what + ": " + check.expected;
      if (!check.met) {
        text = check.what + ": expected " + check.expected + ", found " + check.found;
      }
      Tell(check.met ? EventKind::kExpected : EventKind::kNotMet, name,
           "line " + std::to_string(check.line), std::move(text));
      playback_.checks.push_back(std::move(check));
    }
  }

  ServiceNow NowOf(size_t service) const {
    const ServiceState& state = services_[service];
    return {state.service, state.decision, state.history};
  }

  // --- what time, the scheduler and the watcher do ---

  bool RingAlarms() {
    const bool rang = workloads_.RingAlarms();
    LookAtChanges();
    return rang;
  }

  // Follows who runs.
  void LookAtChanges() {
    const auto rule_of = [this](size_t service) -> const schemas::ScalingRule* {
      const auto& rule = services_[service].rule.rule;
      return rule ? &*rule : nullptr;
    };
    for (const auto& [number, before] : workloads_.TakeChanged(rule_of)) {
      if (number >= known_) {
        for (; known_ <= number; ++known_) {
          services_[workloads_.all()[known_].spec->service].instances.push_back(known_);
        }
      }
      const Workloads::Live& live = workloads_.all()[number];
      ServiceState& state = services_[live.spec->service];
      state.changed = true;
      FollowSpan(number, workloads_.SpanOf(number));
      const bool ran = before == Phase::kRunning;
      const bool runs = live.seen && live.seen->phase == Phase::kRunning;
      if (ran == runs) continue;
      int64_t& running = state.running[live.spec->group];
      running += runs ? 1 : -1;
      if (!runs) continue;
      Peak& peak = state.history.peaks[live.spec->group];
      if (running > peak.running) peak = {running, at()};
      Tell(EventKind::kRunning, live,
           live.seen->ready == live.spec->pods
               ? "all of its pods"
               : std::to_string(live.seen->ready) + " of its " + PodsText(*live.spec));
    }
  }

  void FollowSpan(size_t number, std::optional<Span> next) {
    auto& open = open_[number];
    if (open && next && open->state == next->state && open->nodes == next->nodes) return;
    if (open && open->from < at() && playback_.spans.size() < limits_.events) {
      open->to = at();
      playback_.spans.push_back(*std::move(open));
    }
    open = std::move(next);
    if (open) open->from = at();
  }

  void Settle() {
    for (int round = 0; !playback_.stopped; ++round) {
      bool changed = RingAlarms();
      changed = workloads_.SyncOwners() || changed;
      LookAtChanges();
      changed = workloads_.Schedule() || changed;
      LookAtChanges();
      changed = replica_.Deliver() || changed;
      changed = replica_.Reconcile() || changed;
      for (watcher::DecisionRecord& record : replica_.TakeRecords()) Note(std::move(record));
      LookAtChanges();
      if (!changed) break;
      if (round == limits_.rounds) {
        Stop("the decision does not settle: in round " + std::to_string(round) +
             " at this time it still grants or gives up");
      }
    }
    for (size_t i = 0; i < services_.size(); ++i) TellWhatChanged(i);
    always_.Look(
        now(), [this](size_t service) { return services_[service].looked; },
        [this](size_t service) { return NowOf(service); });
  }

  // What the watcher says. Who waits and why is told once a moment: between its rounds reasons come
  // and go.
  void Note(watcher::DecisionRecord record) {
    const auto about = [&](std::string_view name) -> const std::string& {
      return std::find_if(record.about.begin(), record.about.end(),
                          [&](const auto& member) { return member.first == name; })
          ->second;
    };
    const size_t index = by_key_.at({record.ns, about("rule"), about("jobID")});
    ServiceState& state = services_[index];
    const std::string name = WithoutKinds(about("instance"));
    record.reason = WithoutKinds(std::move(record.reason));
    state.history.reasons[name] = record.reason;
    const auto done = [&](EventKind kind) {
      state.held.erase(name);
      state.told_held.erase(name);
      const ServiceSpec& service = scenario_.services[index];
      Tell(kind, service.name, SubjectOf(service, name), record.reason);
    };
    if (record.what == "held") {
      state.held[name] = record.reason;
    } else if (record.what == "granted") {
      done(EventKind::kGranted);
    } else if (record.what == "withdrawn") {
      done(EventKind::kWithdrawn);
      state.history.withdrawn[name] = about("group");
    } else if (record.what == "given up") {
      done(EventKind::kGivenUp);
      state.history.given_up[name] = about("group");
    } else if (record.what == "would be given up") {
      state.history.would_give_up[name] = about("group");
      state.would.emplace_back(EventKind::kWouldGiveUp, std::move(record));
    }
  }

  void TellWhatChanged(size_t index) {
    ServiceState& state = services_[index];
    const ServiceSpec& spec = scenario_.services[index];
    const std::string& service = spec.name;
    state.looked = state.changed;
    if (state.changed) Look(state);
    for (const auto& [name, reason] : std::exchange(state.held, {})) {
      if (std::exchange(state.told_held[name], reason) == reason) continue;
      const auto instance = workloads_.Find(spec.rule.ns, name);
      const bool waits = !instance || !workloads_.all()[*instance].seen ||
                         workloads_.all()[*instance].seen->gated > 0;
      Tell(waits ? EventKind::kHeld : EventKind::kKept, service, SubjectOf(spec, name), reason);
    }
    for (auto& [kind, record] : std::exchange(state.would, {})) {
      Tell(kind, service, SubjectOf(spec, WithoutKinds(record.about[2].second)),
           std::move(record.reason));
    }
    std::string shape = ShapeText(state.service, state.decision);
    if (shape != state.told_shape && !(state.told_shape.empty() && !state.decision.reached)) {
      Tell(EventKind::kShape, service, service, shape);
      playback_.shapes.push_back(
          {at(), service, state.decision.reached ? *state.decision.reached + 1 : 0, shape});
      state.told_shape = std::move(shape);
    }
  }

  void Look(ServiceState& state) {
    state.changed = false;
    state.service = {.rule = state.rule.rule, .no_rule = state.rule.why_not, .instances = {}};
    std::erase_if(state.instances, [&](size_t i) { return workloads_.all()[i].deleted; });
    for (const size_t i : state.instances) {
      const Workloads::Live& live = workloads_.all()[i];
      if (live.seen) state.service.instances.push_back(*live.seen);
    }
    state.decision = watcher::scaling::Decide(state.service, options_, now());
  }

  Playback Finished() {
    playback_.end = at();
    for (auto& [number, open] : open_) FollowSpan(number, std::nullopt);
    for (size_t i = 0; i < services_.size(); ++i) {
      const ServiceState& state = services_[i];
      const size_t shapes = state.rule.rule ? state.rule.rule->tiers.size() : 0;
      playback_.services.push_back(
          {scenario_.services[i].name, state.decision.reached, shapes, state.decision.groups});
    }
    return std::move(playback_);
  }

  const Scenario& scenario_;
  const PlayLimits& limits_;
  ScenarioOptions options_;
  ManualClock clock_;
  ApiServer server_;
  Replica replica_;
  Workloads workloads_;
  std::map<watcher::scaling::ServiceKey, size_t> by_key_;
  std::map<std::string, std::set<std::string>> namespaces_;  // of instances, by their names
  std::vector<ServiceState> services_;
  AlwaysChecks always_;
  std::map<size_t, std::optional<Span>> open_;  // of each instance
  size_t known_ = 0;                            // instances that are among those of their services
  Playback playback_;
};

}  // namespace

Playback Play(const Scenario& scenario, const PlayLimits& limits) {
  return scenario.jobs.empty() ? Player(scenario, limits).Run() : PlayJobs(scenario, limits);
}

}  // namespace mindgate::simulation
