#include "watcher/simulation/player.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/duration.h"
#include "base/text.h"
#include "watcher/simulation/cluster.h"
#include "watcher/simulation/expectation.h"
#include "watcher/simulation/rules.h"

namespace mindgate::watcher::simulation {
namespace {

using scaling::Phase;
using scaling::Verdict;
using std::chrono::seconds;

struct Live {
  const InstanceSpec* spec = nullptr;
  size_t slot = 0;                 // in the instances of its service
  std::optional<Time> shown_at{};  // when its pods show that it was granted
  std::optional<Time> runs_at{};
  bool deleted = false;
  // What the timeline said of it last.
  std::optional<Verdict> verdict{};
  Phase phase = Phase::kHeld;
  std::string reason{};
};

struct ServiceState {
  scaling::Service service;
  scaling::Decision decision;
  std::optional<Time> last_given_up{};
  std::map<std::string, std::string> given_up{};  // group by name
  std::map<std::string, Peak> peaks{};
  std::map<std::string, int64_t> running{};  // by group
  bool must_decide = true;
  bool must_tell = false;
  // What the timeline said last.
  std::string shape{};
  std::vector<scaling::Outcome> would{};
};

std::string PodsText(const InstanceSpec& spec) {
  return std::to_string(spec.pods) + (spec.pods == 1 ? " pod with " : " pods with ") +
         std::to_string(spec.npus_per_pod) + (spec.npus_per_pod == 1 ? " NPU" : " NPUs") +
         (spec.pods == 1 ? "" : " each");
}

class Player {
 public:
  Player(const Scenario& scenario, const PlayLimits& limits)
      : scenario_(scenario), limits_(limits), cluster_(scenario.nodes) {
    for (const ServiceSpec& spec : scenario.services) {
      services_.emplace_back().service.no_rule = MissingRule(spec.rule);
    }
  }

  Playback Run() {
    for (const RuleSpec& rule : scenario_.rules) Do(SetRule{rule});
    const auto& timeline = scenario_.timeline;
    const Time last = timeline.empty() ? Time{} : Time(timeline.back().at);
    for (size_t next = 0; !playback_.stopped;) {
      if (next == timeline.size() && alarms_.empty()) break;
      Time moment = alarms_.empty() ? Time::max() : alarms_.begin()->first;
      if (next < timeline.size()) moment = std::min(moment, Time(timeline[next].at));
      if (next == timeline.size() && moment > last + kAfterLast) break;
      now_ = moment;
      RingAlarms();
      for (; next < timeline.size() && Time(timeline[next].at) == now_ && !playback_.stopped;
           ++next) {
        std::visit([this](const auto& action) { Do(action); }, timeline[next].action);
      }
      Settle();
    }
    return Finished();
  }

 private:
  using Alarm = std::pair<Time, std::pair<bool, size_t>>;  // of a service, or of an instance

  void Tell(EventKind kind, std::string service, std::string subject, std::string reason) {
    if (playback_.stopped) return;
    if (playback_.events.size() == limits_.events) {
      Stop("there are more than " + std::to_string(limits_.events) + " events");
      return;
    }
    playback_.events.push_back(
        {now_.time_since_epoch(), kind, std::move(service), std::move(subject), std::move(reason)});
  }
  void Tell(EventKind kind, const Live& live, std::string reason) {
    Tell(kind, scenario_.services[live.spec->service].job_id, live.spec->name, std::move(reason));
  }

  void Stop(std::string reason) {
    playback_.stopped = true;
    playback_.events.push_back(
        {now_.time_since_epoch(), EventKind::kStopped, "", "", std::move(reason)});
  }

  ServiceState& StateOf(const Live& live) { return services_[live.spec->service]; }
  scaling::Instance& InstanceOf(const Live& live) {
    return StateOf(live).service.instances[live.slot];
  }

  // What happens to the cluster.

  void Do(const BreakNode& action) {
    const std::string& name = scenario_.nodes[action.node].name;
    if (cluster_.IsBroken(action.node)) {
      Tell(EventKind::kBroken, "", name, "it was broken already");
      return;
    }
    Tell(EventKind::kBroken, "", name, "the node");
    LoseAll(cluster_.BreakNode(action.node), name + " broke");
  }

  void Do(const RepairNode& action) {
    const bool broken = cluster_.IsBroken(action.node);
    cluster_.RepairNode(action.node);
    Tell(EventKind::kRepaired, "", scenario_.nodes[action.node].name,
         broken ? "the node" : "it was not broken");
  }

  void Do(const BreakCards& action) {
    const NodeSpec& node = scenario_.nodes[action.node];
    const int64_t before = cluster_.WorkingCards(action.node);
    const auto owners = cluster_.BreakCards(action.node, action.count);
    const int64_t after = cluster_.WorkingCards(action.node);
    const std::string what = CardsText(before - after);
    Tell(EventKind::kBroken, "", node.name, what + "; " + Working(after, node.npus));
    LoseAll(owners, what + " of " + node.name + " broke");
  }

  void Do(const RepairCards& action) {
    const NodeSpec& node = scenario_.nodes[action.node];
    const int64_t before = cluster_.WorkingCards(action.node);
    cluster_.RepairCards(action.node, action.count);
    const int64_t after = cluster_.WorkingCards(action.node);
    Tell(EventKind::kRepaired, "", node.name,
         CardsText(after - before) + "; " + Working(after, node.npus));
  }

  static std::string CardsText(int64_t count) {
    return std::to_string(count) + (count == 1 ? " NPU" : " NPUs");
  }
  static std::string Working(int64_t count, int64_t of) {
    return std::to_string(count) + " of " + std::to_string(of) + " work";
  }

  // What happens to instances.

  void Do(const Submit& action) {
    const InstanceSpec& spec = action.instance;
    ServiceState& state = services_[spec.service];
    scaling::Instance instance;
    instance.name = spec.name;
    instance.group = spec.group;
    instance.since = now_;
    live_.push_back({&spec, state.service.instances.size()});
    state.service.instances.push_back(std::move(instance));
    there_[spec.name] = live_.size() - 1;
    state.must_decide = true;
    Tell(EventKind::kSubmitted, live_.back(),
         (spec.group.empty() ? "no group" : "group " + spec.group) + ", " + PodsText(spec));
  }

  void Do(const Delete& action) {
    const size_t id = there_.at(action.instance);
    const Live& live = live_[id];
    Tell(EventKind::kDeleted, live, "its pods go with it");
    TakePods(id);
    live_[id].deleted = true;
    there_.erase(action.instance);
  }

  void Do(const FailInstance& action) {
    const size_t id = there_.at(action.instance);
    if (InstanceOf(live_[id]).phase == Phase::kRunning) {
      LoseAll({id}, "its processes exit");
    } else {
      Tell(EventKind::kLost, live_[id], "nothing: none of its processes runs yet");
    }
  }

  // As Volcano does with the label fault-scheduling: all pods of an instance go with one of them.
  void LoseAll(const std::vector<size_t>& ids, const std::string& why) {
    for (const size_t id : ids) {
      Live& live = live_[id];
      Tell(EventKind::kLost, live,
           why + (live.spec->pods == 1 ? "; its pod comes back behind the gate"
                                       : "; its pods come back behind the gate"));
      TakePods(id);
    }
  }

  // Its controller recreates them, behind the gate.
  void TakePods(size_t id) {
    Live& live = live_[id];
    scaling::Instance& instance = InstanceOf(live);
    ServiceState& state = StateOf(live);
    if (instance.phase == Phase::kRunning) --state.running[instance.group];
    waiting_.erase({instance.since, instance.name, id});
    cluster_.Release(id);
    scaling::Instance recreated;
    recreated.name = instance.name;
    recreated.group = instance.group;
    recreated.since = now_;
    instance = std::move(recreated);
    live.shown_at.reset();
    live.runs_at.reset();
    state.must_decide = true;
  }

  // What happens to rules.

  void Do(const SetRule& action) {
    RuleLook look = LookAt(action.rule);
    Tell(EventKind::kRule, "", action.rule.key.name, look.told);
    Follow(action.rule.key, look.rule, look.no_rule);
  }

  void Do(const DeleteRule& action) {
    Tell(EventKind::kRule, "", action.rule.name, "deleted");
    Follow(action.rule, std::nullopt, MissingRule(action.rule));
  }

  void Follow(const RuleKey& key, const std::optional<schemas::ScalingRule>& rule,
              const std::string& no_rule) {
    for (size_t i = 0; i < services_.size(); ++i) {
      if (scenario_.services[i].rule != key) continue;
      services_[i].service.rule = rule;
      services_[i].service.no_rule = no_rule;
      services_[i].must_decide = true;
    }
  }

  void Do(const Expectation& expectation) {
    Settle();
    if (playback_.stopped) return;
    const std::string& job_id = scenario_.services[expectation.service].job_id;
    const ServiceState& state = services_[expectation.service];
    for (CheckResult& check :
         Check(expectation, job_id, now_.time_since_epoch(),
               {Present(state), state.decision, state.peaks, state.given_up})) {
      std::string text = check.what + ": " + check.expected;
      if (!check.met) {
        text = check.what + ": expected " + check.expected + ", found " + check.found;
      }
      Tell(check.met ? EventKind::kExpected : EventKind::kNotMet, job_id,
           "line " + std::to_string(check.line), std::move(text));
      playback_.checks.push_back(std::move(check));
    }
  }

  // What time, the scheduler and the watcher do.

  bool RingAlarms() {
    bool rang = false;
    while (!alarms_.empty() && alarms_.begin()->first <= now_) {
      const auto [is_service, index] = alarms_.begin()->second;
      alarms_.erase(alarms_.begin());
      if (is_service) {
        services_[index].must_decide = true;
      } else if (live_[index].shown_at && *live_[index].shown_at <= now_) {
        Show(index);
      } else if (live_[index].runs_at && *live_[index].runs_at <= now_) {
        Start(index);
      }
      rang = true;
    }
    return rang;
  }

  void Show(size_t id) {
    Live& live = live_[id];
    scaling::Instance& instance = InstanceOf(live);
    live.shown_at.reset();
    instance.phase = Phase::kStarting;
    instance.granted.reset();
    waiting_.insert({instance.since, instance.name, id});
    StateOf(live).must_decide = true;
  }

  void Start(size_t id) {
    Live& live = live_[id];
    scaling::Instance& instance = InstanceOf(live);
    ServiceState& state = StateOf(live);
    live.runs_at.reset();
    instance.phase = Phase::kRunning;
    instance.ready = live.spec->pods;
    const int64_t running = ++state.running[instance.group];
    Peak& peak = state.peaks[instance.group];
    if (running > peak.running) peak = {running, now_.time_since_epoch()};
    state.must_decide = true;
    Tell(EventKind::kRunning, live, "all of its pods");
  }

  // The longest waiting first. One that finds no room does not stop those behind it.
  bool Schedule() {
    bool changed = false;
    for (auto next = waiting_.begin(); next != waiting_.end();) {
      const size_t id = std::get<size_t>(*next);
      Live& live = live_[id];
      scaling::Instance& instance = InstanceOf(live);
      if (const auto nodes = Place(id)) {
        next = waiting_.erase(next);
        instance.unschedulable.reset();
        instance.placed = live.spec->pods;
        live.runs_at = now_ + scenario_.options.start_time;
        alarms_.insert({*live.runs_at, {false, id}});
        TellPlaced(live, *nodes);
      } else {
        ++next;
        if (instance.unschedulable) continue;
        instance.unschedulable = now_;
        TellNoRoom(live);
      }
      StateOf(live).must_decide = true;
      changed = true;
    }
    return changed;
  }

  // Without asking the cluster when another one like it has found no room since room was freed.
  std::optional<std::vector<size_t>> Place(size_t id) {
    const InstanceSpec& spec = *live_[id].spec;
    if (no_room_since_ != cluster_.freed()) {
      no_room_.clear();
      no_room_since_ = cluster_.freed();
    }
    const std::pair size(spec.pods, spec.npus_per_pod);
    if (no_room_.contains(size)) return std::nullopt;
    auto nodes = cluster_.Place(id, spec.pods, spec.npus_per_pod);
    if (!nodes) no_room_.insert(size);
    return nodes;
  }

  void TellNoRoom(const Live& live) {
    const InstanceSpec& spec = *live.spec;
    const int64_t room = cluster_.Room(spec.npus_per_pod, spec.pods);
    Tell(EventKind::kNoRoom, live,
         PodsText(spec) + ", and there is room for " + (room == 0 ? "none" : std::to_string(room)));
  }

  void TellPlaced(const Live& live, const std::vector<size_t>& nodes) {
    std::vector<std::string> texts;
    for (auto node = nodes.begin(); node != nodes.end();) {
      const auto end = std::upper_bound(node, nodes.end(), *node);
      const auto pods = end - node;
      texts.push_back(scenario_.nodes[*node].name + (nodes.size() == 1 || pods == 1
                                                         ? ""
                                                         : " (" + std::to_string(pods) + " pods)"));
      node = end;
    }
    Tell(EventKind::kPlaced, live, "on " + Join(texts, " and "));
  }

  // Without the instances that were deleted.
  scaling::Service Present(const ServiceState& state) const {
    scaling::Service present = state.service;
    std::erase_if(present.instances, [this](const scaling::Instance& instance) {
      return !there_.contains(instance.name);
    });
    return present;
  }

  bool Decide(size_t index) {
    ServiceState& state = services_[index];
    state.must_decide = false;
    state.must_tell = true;
    state.decision = scaling::Decide(Present(state), scenario_.options, now_, state.last_given_up);
    if (state.decision.requeue_at) alarms_.insert({*state.decision.requeue_at, {true, index}});
    bool changed = false;
    for (const scaling::Outcome& outcome : state.decision.outcomes) {
      const size_t id = there_.at(outcome.instance);
      if (outcome.verdict == Verdict::kGrant) {
        if (Grant(id, outcome.reason)) changed = true;
      } else if (outcome.verdict == Verdict::kWithdraw) {
        Tell(EventKind::kWithdrawn, live_[id], outcome.reason);
        TakePods(id);
        changed = true;
      } else if (outcome.verdict == Verdict::kGiveUp) {
        Tell(EventKind::kGivenUp, live_[id], outcome.reason);
        TakePods(id);
        state.last_given_up = now_;
        state.given_up[outcome.instance] = outcome.group;
        changed = true;
      }
    }
    return changed;
  }

  // Nothing when it was granted at this moment already, and its pods do not show it.
  bool Grant(size_t id, const std::string& reason) {
    Live& live = live_[id];
    if (InstanceOf(live).granted == now_) return false;
    Tell(EventKind::kGranted, live, reason);
    if (scenario_.options.seen_after == seconds(0)) {
      Show(id);
      return true;
    }
    InstanceOf(live).granted = now_;
    if (!live.shown_at) {
      live.shown_at = now_ + scenario_.options.seen_after;
      alarms_.insert({*live.shown_at, {false, id}});
    }
    StateOf(live).must_decide = true;
    return true;
  }

  void Settle() {
    for (int round = 0; !playback_.stopped; ++round) {
      bool changed = RingAlarms();
      if (Schedule()) changed = true;
      for (size_t i = 0; i < services_.size(); ++i) {
        if (services_[i].must_decide && Decide(i)) changed = true;
      }
      if (!changed) break;
      if (round == limits_.rounds) {
        Stop("the decision does not settle: in round " + std::to_string(round) +
             " at this time it still grants or gives up");
      }
    }
    for (size_t i = 0; i < services_.size(); ++i) {
      if (services_[i].must_tell) TellWhatChanged(i);
    }
  }

  // Who waits and why, once a moment: between its rounds reasons come and go.
  void TellWhatChanged(size_t index) {
    ServiceState& state = services_[index];
    const std::string& job_id = scenario_.services[index].job_id;
    state.must_tell = false;
    for (const scaling::Outcome& outcome : state.decision.outcomes) {
      Live& live = live_[there_.at(outcome.instance)];
      const Phase phase = InstanceOf(live).phase;
      const bool same = live.verdict == outcome.verdict && live.phase == phase;
      if (!same || live.reason != outcome.reason) {
        if (outcome.verdict == Verdict::kHold) {
          Tell(EventKind::kHeld, live, outcome.reason);
        } else if (outcome.verdict == Verdict::kKeep && same) {
          Tell(EventKind::kKept, live, outcome.reason);
        }
      }
      live.verdict = outcome.verdict;
      live.phase = phase;
      live.reason = outcome.reason;
    }
    if (state.decision.would != state.would) {
      state.would = state.decision.would;
      for (const scaling::Outcome& would : state.would) {
        Tell(would.verdict == Verdict::kWithdraw ? EventKind::kWouldWithdraw
                                                 : EventKind::kWouldGiveUp,
             job_id, would.instance, would.reason);
      }
    }
    std::string shape = ShapeText(state.service, state.decision);
    if (shape != state.shape && !(state.shape.empty() && !state.decision.reached)) {
      Tell(EventKind::kShape, job_id, job_id, shape);
      state.shape = std::move(shape);
    }
  }

  Playback Finished() {
    playback_.end = now_.time_since_epoch();
    for (size_t i = 0; i < services_.size(); ++i) {
      const ServiceState& state = services_[i];
      const size_t shapes = state.service.rule ? state.service.rule->tiers.size() : 0;
      playback_.services.push_back(
          {scenario_.services[i].job_id, state.decision.reached, shapes, state.decision.groups});
    }
    return std::move(playback_);
  }

  const Scenario& scenario_;
  const PlayLimits& limits_;
  Cluster cluster_;
  Time now_{};
  std::vector<Live> live_;               // by number, in the order of submission
  std::map<std::string, size_t> there_;  // instances by name
  std::vector<ServiceState> services_;
  std::set<std::tuple<Time, std::string, size_t>> waiting_;  // granted, and not on nodes yet
  std::set<std::pair<int64_t, int64_t>> no_room_;  // pods and NPUs of each that found no room
  uint64_t no_room_since_ = 0;                     // Cluster::freed() then
  std::set<Alarm> alarms_;
  Playback playback_;
};

}  // namespace

Playback Play(const Scenario& scenario, const PlayLimits& limits) {
  return Player(scenario, limits).Run();
}

}  // namespace mindgate::watcher::simulation
