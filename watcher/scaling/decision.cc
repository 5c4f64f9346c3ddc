#include "watcher/scaling/decision.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/text.h"

namespace mindgate::watcher::scaling {
namespace {

using schemas::EnforcementMode;
using schemas::ScalingGroup;
using schemas::ScalingTier;

// How much of the room that it needs an instance has, the most first.
enum class Footing : uint8_t {
  kRuns,
  kWhole,  // it starts, and the scheduler has refused none of its pods so far
  kPart,   // some of its pods have a node, and there is none for another
  kNone,
};

Footing FootingOf(const Instance& instance) {
  if (instance.phase == Phase::kRunning) return Footing::kRuns;
  if (instance.phase != Phase::kStarting || instance.placed == 0) return Footing::kNone;
  return instance.unschedulable ? Footing::kPart : Footing::kWhole;
}

struct Tally {
  int64_t running = 0;
  int64_t starting = 0;
  int64_t held = 0;
  std::array<int64_t, 4> by_footing{};

  int64_t AtLeast(Footing footing) const {
    int64_t sum = 0;
    for (size_t i = 0; i <= static_cast<size_t>(footing); ++i) sum += by_footing[i];
    return sum;
  }
};

class Round {
 public:
  Round(const Service& service, const Options& options, Time now, std::optional<Time> last_given_up)
      : service_(service), options_(options), now_(now), last_given_up_(last_given_up) {
    for (const Instance& instance : service.instances) {
      if (instance.phase != Phase::kEnded) instances_.push_back(&instance);
    }
    std::sort(instances_.begin(), instances_.end(),
              [](const Instance* a, const Instance* b) { return a->name < b->name; });
  }

  Decision Run() {
    Count();
    if (HoldAllIfUncountable()) {
      Aim();
      GrantAndHold();
      MayRebalance();
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
  std::string ShapeName(size_t tier) const {
    return "shape " + std::to_string(tier + 1) + " of " + std::to_string(tiers().size());
  }

  // A grant that its pods do not show yet.
  bool IsReserved(const Instance& instance) const {
    return instance.phase == Phase::kHeld && instance.granted &&
           now_ < *instance.granted + options_.reservation;
  }

  void Look(Time when) {
    if (when > now_ && (!decision_.requeue_at || when < *decision_.requeue_at))
      decision_.requeue_at = when;
  }

  void Say(const Instance& instance, Verdict verdict, std::string reason) {
    decision_.outcomes.push_back({instance.name, instance.group, verdict, std::move(reason)});
  }

  void Count() {
    for (const Instance* instance : instances_) {
      auto& count = counts_[instance->group];
      ++count.by_footing[static_cast<size_t>(FootingOf(*instance))];
      if (instance->phase == Phase::kRunning) {
        ++count.running;
      } else if (instance->phase == Phase::kStarting || IsReserved(*instance)) {
        ++count.starting;
      } else {
        ++count.held;
      }
      if (IsReserved(*instance)) Look(*instance->granted + options_.reservation);
    }
  }

  // Without a rule, or with an instance that cannot be counted, nothing is granted and what runs is
  // left alone.
  bool HoldAllIfUncountable() {
    std::string why;
    if (!service_.rule) {
      why = service_.no_rule.empty() ? "there is no scaling rule" : service_.no_rule;
    } else if (const auto nameless =
                   std::find_if(instances_.begin(), instances_.end(),
                                [](const Instance* instance) { return instance->group.empty(); });
               nameless != instances_.end()) {
      why = (*nameless)->name +
            " belongs to the service but has no label mind-cluster/group-name, so its instances "
            "cannot be counted";
    } else if (std::none_of(tiers().begin(), tiers().end(),
                            [](const ScalingTier& tier) { return tier.CanBeAimedAt(); })) {
      why = "the rule wants no instances in any shape";
    } else {
      return true;
    }
    for (const Instance* instance : instances_) {
      const bool held = instance->phase == Phase::kHeld;
      Say(*instance, held ? Verdict::kHold : Verdict::kKeep, why);
    }
    return false;
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
  }

  void GrantAndHold() {
    // Waiting longest first.
    std::vector<const Instance*> waiting;
    for (const Instance* instance : instances_) {
      if (instance->phase != Phase::kHeld) {
        Say(*instance, Verdict::kKeep,
            instance->phase == Phase::kRunning ? "it runs" : "it was granted and starts");
      } else if (IsReserved(*instance)) {
        Say(*instance, Verdict::kKeep, "it was granted, and its pods do not show it yet");
      } else {
        waiting.push_back(instance);
      }
    }
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const Instance* a, const Instance* b) { return a->since < b->since; });
    for (const Instance* instance : waiting) GrantOrHold(*instance);
    std::sort(decision_.outcomes.begin(), decision_.outcomes.end(),
              [](const Outcome& a, const Outcome& b) { return a.instance < b.instance; });
  }

  void GrantOrHold(const Instance& instance) {
    const std::string& group = instance.group;
    if (!service_.rule->HasGroup(group)) {
      Say(instance, Verdict::kHold, "no shape of the rule has a group " + Quote(group));
      return;
    }
    if (!decision_.aim) {
      Say(instance, Verdict::kHold,
          "the fullest shape runs, which wants " + Listed(tiers().front()));
      return;
    }
    Tally& count = counts_[group];
    const int64_t wanted = Wanted(tiers()[*decision_.aim], group);
    const int64_t there = count.running + StartingOf(count);
    if (there >= wanted) {
      Say(instance, Verdict::kHold, WhyHeld(group, count));
      return;
    }
    Say(instance, Verdict::kGrant,
        ShapeName(*decision_.aim) + " wants " + Several(wanted, group) + ", and " + There(count));
    ++count.starting;
    --count.held;
  }

  // What counts as being there already.
  int64_t StartingOf(const Tally& count) const {
    return options_.upstream_counts ? 0 : count.starting;
  }

  // "2 run or start"
  std::string There(const Tally& count) const {
    const int64_t starting = StartingOf(count);
    const int64_t there = count.running + starting;
    if (there == 0) return options_.upstream_counts ? "none runs" : "none runs or starts";
    const std::string singular = there == 1 ? "s" : "";
    std::string verb = "run" + singular;
    if (starting > 0) verb = count.running > 0 ? "run or start" : "start" + singular;
    return std::to_string(there) + " " + verb;
  }

  static std::string Several(int64_t number, const std::string& group) {
    return (number == 0 ? "none" : std::to_string(number)) + " of " + group;
  }

  std::string WhyHeld(const std::string& group, const Tally& count) const {
    const size_t aim = *decision_.aim;
    const int64_t most = Wanted(tiers().front(), group);
    if (most == 0) return "no shape wants any of " + group;
    if (count.running + StartingOf(count) >= most) {
      return "no shape wants more than " + Several(most, group) + ", and " + There(count);
    }
    const int64_t wanted = Wanted(tiers()[aim], group);
    return ShapeName(aim) + " wants " + Several(wanted, group) +
           (wanted == 0 ? "" : ", and " + There(count)) + "; shape " + std::to_string(aim) +
           " waits for " + Lacks(tiers()[aim]);
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
    return Join(lacks, " and ");
  }

  // Empty when enough run.
  std::string Lack(const ScalingTier& tier, const std::string& group) const {
    const int64_t wanted = Wanted(tier, group);
    const int64_t running = RunningOf(group);
    if (running >= wanted) return "";
    std::string lack =
        group + " (" + std::to_string(running) + " of " + std::to_string(wanted) + " run";
    const auto stuck =
        std::find_if(instances_.begin(), instances_.end(), [&](const Instance* instance) {
          return instance->group == group && instance->phase == Phase::kStarting &&
                 instance->unschedulable;
        });
    if (stuck != instances_.end()) lack += ", there is no room for " + (*stuck)->name;
    return lack + ")";
  }

  static std::string Listed(const ScalingTier& tier) {
    std::map<std::string, int64_t> wanted;
    for (const ScalingGroup& group : tier.groups) wanted[group.group_name] = group.group_num;
    std::vector<std::string> texts;
    for (const auto& [name, number] : wanted) {
      texts.push_back(Several(number, name));
    }
    return Join(texts, " and ");
  }

  // The wanted instance that has found no room for the longest time, if it is long enough.
  const Instance* Stranded(const ScalingTier& tier) {
    const Instance* longest = nullptr;
    for (const Instance* instance : instances_) {
      if (instance->phase != Phase::kStarting || !instance->unschedulable) continue;
      const Tally& count = counts_.at(instance->group);
      if (count.AtLeast(Footing::kWhole) >= Wanted(tier, instance->group)) continue;
      if (now_ < *instance->unschedulable + options_.rebalance_after) {
        Look(*instance->unschedulable + options_.rebalance_after);
        continue;
      }
      if (longest == nullptr || *instance->unschedulable < *longest->unschedulable) {
        longest = instance;
      }
    }
    return longest;
  }

  // One whose group keeps what the shape wants without it, counting only those that have as much of
  // their room; the least ready, then the newest. Of the stranded one's own group that can only be
  // another one that has a part: two of them may wait for each other forever.
  const Instance* Surplus(const ScalingTier& tier, const Instance& stranded) const {
    const Instance* victim = nullptr;
    const auto less_lost = [](const Instance& a, const Instance& b) {
      return std::tuple(a.ready, b.since, b.name) < std::tuple(b.ready, a.since, a.name);
    };
    for (const Instance* instance : instances_) {
      const Footing footing = FootingOf(*instance);
      if (instance == &stranded || footing == Footing::kNone) continue;  // it has no room to give
      const Tally& count = counts_.at(instance->group);
      const int64_t wanted = Wanted(tier, instance->group);
      if (count.AtLeast(footing) <= wanted) continue;
      // As upstream counts, it would be granted again at once.
      if (options_.upstream_counts && count.running < wanted) continue;
      if (victim == nullptr || less_lost(*instance, *victim)) victim = instance;
    }
    return victim;
  }

  void MayRebalance() {
    if (options_.rebalance == EnforcementMode::kOff || !decision_.aim) return;
    const ScalingTier& tier = tiers()[*decision_.aim];
    const Instance* stranded = Stranded(tier);
    if (stranded == nullptr) return;
    const Instance* victim = Surplus(tier, *stranded);
    if (victim == nullptr) return;
    if (last_given_up_ && now_ < *last_given_up_ + options_.cool_down) {
      Look(*last_given_up_ + options_.cool_down);
      return;
    }
    const Outcome given_up{victim->name, victim->group, Verdict::kGiveUp,
                           ShapeName(*decision_.aim) + " needs " + stranded->name + " of " +
                               stranded->group + " but there is no room for it; it wants " +
                               Several(Wanted(tier, victim->group), victim->group) + ", and " +
                               There(counts_.at(victim->group))};
    if (options_.rebalance == EnforcementMode::kObserve) {
      decision_.would_give_up = given_up;
      return;
    }
    *std::find_if(decision_.outcomes.begin(), decision_.outcomes.end(),
                  [&](const Outcome& outcome) { return outcome.instance == victim->name; }) =
        given_up;
    decision_.stranded = stranded->name;
  }

  void FillCounts() {
    if (service_.rule && !tiers().empty()) {
      for (const ScalingGroup& group : tiers().front().groups) counts_[group.group_name];
    }
    for (const auto& [group, count] : counts_) {
      int64_t wanted = 0;
      if (service_.rule && !tiers().empty()) {
        wanted = Wanted(tiers()[decision_.aim.value_or(0)], group);
      }
      decision_.groups.push_back({group, wanted, count.running, count.starting, count.held});
    }
  }

  const Service& service_;
  const Options& options_;
  const Time now_;
  const std::optional<Time> last_given_up_;
  std::vector<const Instance*> instances_;  // by name, without what has ended
  std::map<std::string, Tally> counts_;
  Decision decision_;
};

}  // namespace

Decision Decide(const Service& service, const Options& options, Time now,
                std::optional<Time> last_given_up) {
  return Round(service, options, now, last_given_up).Run();
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
