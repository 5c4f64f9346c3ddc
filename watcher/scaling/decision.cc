#include "watcher/scaling/decision.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"
#include "watcher/scaling/instances.h"

namespace mindgate::watcher::scaling {
namespace {

using schemas::EnforcementMode;
using schemas::ScalingGroup;
using schemas::ScalingTier;

// A sentence names no more of them.
constexpr size_t kMaxNamed = 5;

// How much of the room that it needs an instance has, the most first.
enum class Placement : uint8_t {
  kRuns,
  kWhole,  // it starts, and the scheduler has refused none of its pods so far
  kPart,   // some of its pods have a node, and there is none for another
  kNone,
};

Placement PlacementOf(const Instance& instance) {
  if (instance.phase == Phase::kRunning) return Placement::kRuns;
  if (instance.phase != Phase::kStarting || instance.placed == 0) return Placement::kNone;
  return instance.unschedulable ? Placement::kPart : Placement::kWhole;
}

// The scheduler has looked for room for it, or for a pod of it, and found none.
bool WaitsForRoom(const Instance& instance) {
  return instance.unschedulable &&
         (instance.phase == Phase::kStarting || instance.phase == Phase::kQueued);
}

// It waits in the scheduler's queue with all of its pods.
bool IsUnplaced(const Instance& instance) {
  return instance.phase == Phase::kStarting && instance.unschedulable && instance.placed == 0;
}

struct Tally {
  int64_t running = 0;
  int64_t starting = 0;  // in time
  int64_t late = 0;      // starting, and overdue
  int64_t held = 0;
  std::array<int64_t, 4> by_placement{};
  std::string roomless{};  // one for which there is no room

  int64_t AtLeast(Placement placement) const {
    int64_t sum = 0;
    for (size_t i = 0; i <= static_cast<size_t>(placement); ++i) sum += by_placement[i];
    return sum;
  }
};

class Evaluation {
 public:
  Evaluation(const Service& service, const Options& options, Time now,
             std::optional<Time> last_given_up)
      : service_(service), options_(options), now_(now), last_given_up_(last_given_up) {
    for (const Instance& instance : service.instances) instances_.push_back(&instance);
    std::sort(instances_.begin(), instances_.end(),
              [](const Instance* a, const Instance* b) { return a->name < b->name; });
  }

  Decision Run() {
    Count();
    if (CanCount()) {
      Aim();
      GrantAndHold();
      TakeBack();
    } else {
      HoldAll();
    }
    FillCounts();
    return std::move(decision_);
  }

 private:
  const std::vector<ScalingTier>& tiers() const { return service_.rule->tiers; }
  static int64_t Wanted(const ScalingTier& tier, const std::string& group) {
    const ScalingGroup* found = tier.Find(group);
    return found == nullptr ? 0 : found->group_num;
  }
  // The shape that is aimed at; the largest one when that runs.
  size_t target() const { return decision_.aim.value_or(0); }
  std::string ShapeName(size_t tier) const {
    return "shape " + std::to_string(tier + 1) + " of " + std::to_string(tiers().size());
  }

  // A grant that its pods do not show yet.
  bool IsReserved(const Instance& instance) const {
    return instance.phase == Phase::kHeld && instance.granted &&
           now_ < *instance.granted + options_.reservation;
  }
  // It was granted long ago and does not run.
  bool IsLate(const Instance& instance) const {
    return instance.phase == Phase::kStarting && instance.started &&
           now_ >= *instance.started + options_.start_deadline;
  }

  void RequeueAt(Time when) {
    if (when > now_ && (!decision_.requeue_at || when < *decision_.requeue_at))
      decision_.requeue_at = when;
  }

  void Record(const Instance& instance, Verdict verdict, std::string reason) {
    decision_.outcomes.push_back({instance.name, instance.group, verdict, std::move(reason)});
  }

  void Count() {
    for (const Instance* instance : instances_) {
      auto& count = counts_[instance->group];
      ++count.by_placement[static_cast<size_t>(PlacementOf(*instance))];
      if (instance->phase == Phase::kRunning) {
        ++count.running;
      } else if (IsLate(*instance)) {
        ++count.late;
      } else if (instance->phase == Phase::kStarting || IsReserved(*instance)) {
        ++count.starting;
      } else {
        ++count.held;
      }
      if (WaitsForRoom(*instance)) {
        count.roomless = count.roomless.empty() ? instance->name : count.roomless;
      }
      if (IsReserved(*instance)) RequeueAt(*instance->granted + options_.reservation);
      if (instance->phase == Phase::kStarting && instance->started) {
        RequeueAt(*instance->started + options_.start_deadline);
      }
    }
  }

  // Without a rule, or while an instance without a group waits, nobody can count what runs.
  bool CanCount() {
    if (!service_.rule) {
      why_uncountable_ = service_.no_rule.empty() ? "there is no scaling rule" : service_.no_rule;
      return false;
    }
    const auto nameless =
        std::find_if(instances_.begin(), instances_.end(), [](const Instance* instance) {
          return instance->group.empty() && instance->phase == Phase::kHeld;
        });
    if (nameless != instances_.end()) {
      why_uncountable_ = (*nameless)->name +
                         " belongs to the service but has no label mind-cluster/group-name, so its "
                         "instances cannot be counted";
      return false;
    }
    if (std::none_of(tiers().begin(), tiers().end(),
                     [](const ScalingTier& tier) { return tier.CanBeAimedAt(); })) {
      why_uncountable_ = "the rule wants no instances in any shape";
      return false;
    }
    return true;
  }

  // Nothing is granted, and what runs is left alone.
  void HoldAll() {
    for (const Instance* instance : instances_) {
      const bool waits = instance->phase == Phase::kHeld || instance->gated > 0;
      Record(*instance, waits ? Verdict::kHold : Verdict::kKeep, why_uncountable_);
    }
  }

  int64_t RunningOf(const std::string& group) const {
    const auto found = counts_.find(group);
    return found == counts_.end() ? 0 : found->second.running;
  }

  bool Runs(const ScalingTier& tier) const {
    return std::all_of(tier.groups.begin(), tier.groups.end(), [&](const ScalingGroup& group) {
      return RunningOf(group.group_name) >= Wanted(tier, group.group_name);
    });
  }

  void Aim() {
    for (size_t i = tiers().size(); i-- > 0;) {
      if (!Runs(tiers()[i])) {
        decision_.aim = i;
        break;
      }
      decision_.reached = i;
    }
    if (decision_.aim) lacks_ = Lacks(tiers()[*decision_.aim]);
  }

  void GrantAndHold() {
    // Each kind: waiting longest first.
    std::vector<const Instance*> unanswered;
    std::vector<const Instance*> waiting;
    for (const Instance* instance : instances_) {
      if (instance->phase == Phase::kQueued) {
        Record(*instance, Verdict::kHold, WhyQueued(*instance));
      } else if (instance->phase != Phase::kHeld) {
        peers_[{instance->group, instance->workload}][instance->revision].push_back(
            instance->since);
        KeepOrComplete(*instance);
      } else if (IsReserved(*instance) && instance->unanswered) {
        unanswered.push_back(instance);
      } else if (IsReserved(*instance)) {
        Record(*instance, Verdict::kKeep, "it was granted, and its pods do not show it yet");
      } else {
        waiting.push_back(instance);
      }
    }
    for (auto* instances : {&unanswered, &waiting}) {
      std::stable_sort(instances->begin(), instances->end(),
                       [](const Instance* a, const Instance* b) { return a->since < b->since; });
    }
    for (const Instance* instance : unanswered) GrantAgainOrHold(*instance);
    for (const Instance* instance : waiting) GrantOrHold(*instance);
    std::sort(decision_.outcomes.begin(), decision_.outcomes.end(),
              [](const Outcome& a, const Outcome& b) { return a.instance < b.instance; });
  }

  // Pods that take the place of others of an instance follow it, unless it is one too many.
  void KeepOrComplete(const Instance& instance) {
    const Tally& count = counts_[instance.group];
    const bool is_surplus =
        !service_.rule->HasGroup(instance.group) ||
        count.running + count.starting + count.late > Wanted(tiers()[target()], instance.group);
    if (instance.unlabelled) {
      Record(instance, Verdict::kKeep,
             "its PodGroup shows that it runs; its pods lack the labels of the rule");
    } else if (instance.gated == 0) {
      Record(instance, Verdict::kKeep,
             instance.phase == Phase::kRunning ? "it runs" : "it was granted and starts");
    } else if (is_surplus) {
      Record(instance, Verdict::kHold,
             "the rest of its pods wait: " + ShapeName(target()) + " wants " +
                 CountText(Wanted(tiers()[target()], instance.group), instance.group) + ", and " +
                 ActiveText(count));
    } else {
      Record(instance, Verdict::kGrant, "it was granted, and the rest of its pods follow");
    }
  }

  // Not by us: its pods are held once there are any.
  static std::string WhyQueued(const Instance& instance) {
    return instance.unschedulable
               ? "Volcano has not enqueued its PodGroup, and its job makes no pods before"
               : "Volcano has enqueued its PodGroup, and its job has made no pods yet";
  }

  // The calls are repeated only while the others leave it a place, which an overdue one that came
  // to run may have taken. It holds its own place either way, since a gate may be open.
  void GrantAgainOrHold(const Instance& instance) {
    Tally& count = counts_[instance.group];
    --count.starting;
    ++count.held;
    if (GrantOrHold(instance)) return;
    ++count.starting;
    --count.held;
  }

  // Returns whether it is granted.
  bool GrantOrHold(const Instance& instance) {
    const std::string& group = instance.group;
    if (!service_.rule->HasGroup(group)) {
      Record(instance, Verdict::kHold, "no shape of the rule has a group " + Quote(group));
      return false;
    }
    Tally& count = counts_[group];
    const int64_t wanted = Wanted(tiers()[target()], group);
    const int64_t there = count.running + StartingOf(count);
    if (decision_.aim && there < wanted) {
      Record(instance, Verdict::kGrant,
             ShapeName(*decision_.aim) + " wants " + CountText(wanted, group) + ", and " +
                 ActiveText(count));
    } else if (TakesAPlace(instance, there - wanted, wanted)) {
      Record(
          instance, Verdict::kGrant,
          "it is of a newer revision of " + instance.workload + " and takes the place of an older");
    } else {
      Record(instance, Verdict::kHold, WhyHeld(group, count));
      return false;
    }
    peers_[{group, instance.workload}][instance.revision].push_back(instance.since);
    ++count.starting;
    --count.held;
    return true;
  }

  // A rolling update makes a newer instance before an older one goes: `excess` have come so
  // already.
  bool TakesAPlace(const Instance& instance, int64_t excess, int64_t wanted) const {
    if (instance.workload.empty() || instance.revision.empty()) return false;
    const auto peers = peers_.find({instance.group, instance.workload});
    if (peers == peers_.end()) return false;
    const auto own = peers->second.find(instance.revision);
    return (own == peers->second.end() || std::ssize(own->second) < wanted) &&
           excess < OlderPeers(instance);
  }

  // Of another revision of the same workload.
  int64_t OlderPeers(const Instance& instance) const {
    const auto peers = peers_.find({instance.group, instance.workload});
    if (instance.workload.empty() || peers == peers_.end()) return 0;
    int64_t older = 0;
    for (const auto& [revision, since] : peers->second) {
      if (revision == instance.revision) continue;
      older += std::count_if(since.begin(), since.end(),
                             [&](Time time) { return time < instance.since; });
    }
    return older;
  }

  // What counts as being there already.
  int64_t StartingOf(const Tally& count) const {
    return options_.upstream_counts ? 0 : count.starting;
  }

  // "2 run or start"
  std::string ActiveText(const Tally& count) const {
    const int64_t starting = StartingOf(count);
    const int64_t there = count.running + starting;
    if (there == 0) return options_.upstream_counts ? "none runs" : "none runs or starts";
    const std::string singular = there == 1 ? "s" : "";
    std::string verb = "run" + singular;
    if (starting > 0) verb = count.running > 0 ? "run or start" : "start" + singular;
    return std::to_string(there) + " " + verb;
  }

  static std::string CountText(int64_t number, const std::string& group) {
    return (number == 0 ? "none" : std::to_string(number)) + " of " + group;
  }

  std::string WhyHeld(const std::string& group, const Tally& count) const {
    if (!decision_.aim) return "the largest shape runs, which wants " + Listed(tiers().front());
    const size_t aim = *decision_.aim;
    const int64_t most = Wanted(tiers().front(), group);
    if (most == 0) return "no shape wants any of " + group;
    if (count.running + StartingOf(count) >= most) {
      return "no shape wants more than " + CountText(most, group) + ", and " + ActiveText(count);
    }
    const int64_t wanted = Wanted(tiers()[aim], group);
    return ShapeName(aim) + " wants " + CountText(wanted, group) +
           (wanted == 0 ? "" : ", and " + ActiveText(count)) + "; shape " + std::to_string(aim) +
           " waits for " + lacks_;
  }

  // "d (0 of 1 run) and p (1 of 2 run, there is no room for p-0)"
  std::string Lacks(const ScalingTier& tier) const {
    std::map<std::string, std::string> by_group;
    for (const ScalingGroup& group : tier.groups) {
      std::string lack = Lack(tier, group.group_name);
      if (!lack.empty()) by_group[group.group_name] = std::move(lack);
    }
    std::vector<std::string> lacks;
    for (auto& [group, lack] : by_group) lacks.push_back(std::move(lack));
    return JoinFirst(lacks, kMaxNamed, " and ");
  }

  // Empty when enough run.
  std::string Lack(const ScalingTier& tier, const std::string& group) const {
    const int64_t wanted = Wanted(tier, group);
    const int64_t running = RunningOf(group);
    if (running >= wanted) return "";
    std::string lack =
        group + " (" + std::to_string(running) + " of " + std::to_string(wanted) + " run";
    const auto count = counts_.find(group);
    if (count != counts_.end() && !count->second.roomless.empty()) {
      lack += ", there is no room for " + count->second.roomless;
    }
    return lack + ")";
  }

  static std::string Listed(const ScalingTier& tier) {
    std::map<std::string, int64_t> wanted;
    for (const ScalingGroup& group : tier.groups) wanted[group.group_name] = group.group_num;
    std::vector<std::string> texts;
    for (const auto& [name, number] : wanted) {
      texts.push_back(CountText(number, name));
    }
    return JoinFirst(texts, kMaxNamed, " and ");
  }

  // --- what is taken back -----------------------------------------------------------------------

  // First what has no room. That costs nobody anything, so it does not depend on `rebalance`. Only
  // then what runs.
  void TakeBack() {
    if (Withdraw() || options_.rebalance == EnforcementMode::kOff) return;
    if (decision_.aim) MayGiveUp(tiers()[*decision_.aim]);
  }

  // Instead of what was decided about it before.
  void Overrule(Outcome outcome) {
    *std::lower_bound(decision_.outcomes.begin(), decision_.outcomes.end(), outcome.instance,
                      [](const Outcome& one, const std::string& name) {
                        return one.instance < name;
                      }) = std::move(outcome);
  }

  // Granted under a larger shape, or before the rule changed, or for too long: what waits in the
  // scheduler's queue would take the room of those that are wanted. Overdue ones first, then the
  // newest.
  bool Withdraw() {
    std::vector<const Instance*> roomless;
    for (const Instance* instance : instances_) {
      if (instance->group.empty() || OlderPeers(*instance) > 0) continue;
      // Its pods would come back without a gate, again and again.
      if (instance->came_ungated) continue;
      if (IsUnplaced(*instance)) roomless.push_back(instance);
    }
    std::stable_sort(roomless.begin(), roomless.end(), [&](const Instance* a, const Instance* b) {
      return std::tuple(!IsLate(*a), b->since) < std::tuple(!IsLate(*b), a->since);
    });
    bool any = false;
    std::map<std::string, int64_t> gone;
    for (const Instance* instance : roomless) {
      const Tally& count = counts_.at(instance->group);
      const int64_t wanted = Wanted(tiers()[target()], instance->group);
      // As grants count them: one that is overdue holds no place, and goes when others hold all.
      const int64_t others =
          count.running + count.starting - gone[instance->group] - (IsLate(*instance) ? 0 : 1);
      if (others < wanted) continue;
      // As upstream counts, it would be granted again at once.
      if (options_.upstream_counts && count.running < wanted) continue;
      if (!IsLate(*instance)) ++gone[instance->group];
      any = true;
      Overrule({instance->name, instance->group, Verdict::kWithdraw,
                ShapeName(target()) + " wants " + CountText(wanted, instance->group) +
                    ", and there is no room for this one: its pods return behind the gate"});
    }
    return any;
  }

  bool IsFutile(const Instance& instance) const {
    return service_.futile && service_.futile->name == instance.name &&
           service_.futile->since == instance.since && service_.futile->placed == instance.placed;
  }

  // The wanted instance that has found no room for the longest time, if it is long enough.
  const Instance* LongestUnplaced(const ScalingTier& tier) {
    const Instance* longest = nullptr;
    for (const Instance* instance : instances_) {
      if (!WaitsForRoom(*instance)) continue;
      const Tally& count = counts_.at(instance->group);
      const int64_t wanted = Wanted(tier, instance->group);
      if (count.AtLeast(Placement::kWhole) >= wanted) continue;
      // One that has its pods comes before it.
      if (instance->phase == Phase::kQueued && count.running + count.starting >= wanted) continue;
      if (now_ < *instance->unschedulable + options_.rebalance_after) {
        RequeueAt(*instance->unschedulable + options_.rebalance_after);
        continue;
      }
      if (IsFutile(*instance)) continue;
      if (longest == nullptr || *instance->unschedulable < *longest->unschedulable) {
        longest = instance;
      }
    }
    return longest;
  }

  // Those whose groups keep what the shape wants without them, counting only those that have as
  // much of their room; the least ready first, then the newest. Of the beneficiary's own group
  // that can only be another one that has a part: two of them may wait for each other forever.
  std::vector<const Instance*> Surplus(const ScalingTier& tier, const Instance& beneficiary) const {
    std::vector<const Instance*> candidates;
    for (const Instance* instance : instances_) {
      const Placement placement = PlacementOf(*instance);
      // It has no room to give.
      if (instance == &beneficiary || placement == Placement::kNone) continue;
      if (instance->group.empty()) continue;  // nobody knows what it is for
      if (instance->unlabelled) continue;     // nor which pods it has
      if (!LeavesRoom(*instance, service_.unusable_nodes)) continue;
      const Tally& count = counts_.at(instance->group);
      const int64_t wanted = Wanted(tier, instance->group);
      if (count.AtLeast(placement) <= wanted) continue;
      // As upstream counts, it would be granted again at once.
      if (options_.upstream_counts && count.running < wanted) continue;
      candidates.push_back(instance);
    }
    std::sort(candidates.begin(), candidates.end(), [](const Instance* a, const Instance* b) {
      return std::tuple(a->ready, b->since, b->name) < std::tuple(b->ready, a->since, a->name);
    });
    // Not more of a group than it has too many.
    std::vector<const Instance*> surplus;
    std::map<std::pair<std::string, Placement>, int64_t> taken;
    for (const Instance* instance : candidates) {
      const Placement placement = PlacementOf(*instance);
      int64_t before = 0;
      for (const auto& [key, number] : taken) {
        if (key.first == instance->group && key.second <= placement) before += number;
      }
      const Tally& count = counts_.at(instance->group);
      if (count.AtLeast(placement) - before <= Wanted(tier, instance->group)) continue;
      ++taken[{instance->group, placement}];
      surplus.push_back(instance);
    }
    return surplus;
  }

  void MayGiveUp(const ScalingTier& tier) {
    const Instance* beneficiary = LongestUnplaced(tier);
    if (beneficiary == nullptr) return;
    const std::vector<const Instance*> victims =
        FewestThatFit(Surplus(tier, *beneficiary), *beneficiary, service_.unusable_nodes);
    if (victims.empty()) return;
    // What is about to leave room may be enough.
    if (service_.leaving_until && now_ < *service_.leaving_until) {
      RequeueAt(*service_.leaving_until);
      return;
    }
    if (last_given_up_ && now_ < *last_given_up_ + options_.cool_down) {
      RequeueAt(*last_given_up_ + options_.cool_down);
      return;
    }
    for (const Instance* victim : victims) {
      Outcome outcome{victim->name, victim->group, Verdict::kGiveUp,
                      ShapeName(*decision_.aim) + " needs " + beneficiary->name + " of " +
                          beneficiary->group + " but there is no room for it; it wants " +
                          CountText(Wanted(tier, victim->group), victim->group) + ", and " +
                          ActiveText(counts_.at(victim->group))};
      if (options_.rebalance == EnforcementMode::kObserve) {
        decision_.proposed.push_back(std::move(outcome));
      } else {
        Overrule(std::move(outcome));
      }
    }
    std::sort(decision_.proposed.begin(), decision_.proposed.end(),
              [](const Outcome& a, const Outcome& b) { return a.instance < b.instance; });
    decision_.beneficiary = beneficiary->name;
  }

  void FillCounts() {
    if (service_.rule && !tiers().empty()) {
      for (const ScalingGroup& group : tiers().front().groups) counts_[group.group_name];
    }
    for (const auto& [group, count] : counts_) {
      int64_t wanted = 0;
      if (service_.rule && !tiers().empty()) wanted = Wanted(tiers()[target()], group);
      decision_.groups.push_back(
          {group, wanted, count.running, count.starting + count.late, count.held});
    }
  }

  const Service& service_;
  const Options& options_;
  const Time now_;
  const std::optional<Time> last_given_up_;
  std::vector<const Instance*> instances_;  // by name
  std::map<std::string, Tally> counts_;
  // By group and workload, and by revision: the age of those that run or start.
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::vector<Time>>> peers_;
  std::string why_uncountable_;
  std::string lacks_;  // what the aim waits for
  Decision decision_;
};

}  // namespace

Decision Decide(const Service& service, const Options& options, Time now,
                std::optional<Time> last_given_up) {
  return Evaluation(service, options, now, last_given_up).Run();
}

std::vector<GroupCount> CountsWithoutGrants(const Decision& decision) {
  std::vector<GroupCount> counts = decision.groups;
  for (const Outcome& outcome : decision.outcomes) {
    if (outcome.verdict != Verdict::kGrant) continue;
    for (GroupCount& count : counts) {
      if (count.group != outcome.group) continue;
      --count.starting;
      ++count.held;
    }
  }
  return counts;
}

}  // namespace mindgate::watcher::scaling
