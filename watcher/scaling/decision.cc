#include "watcher/scaling/decision.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"

namespace mindgate::watcher::scaling {
namespace {

using schemas::ScalingGroup;
using schemas::ScalingTier;

struct Tally {
  int64_t running = 0;
  int64_t starting = 0;
  int64_t held = 0;
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
    if (Known()) {
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
    if (when > now_ && (!decision_.again || when < *decision_.again)) decision_.again = when;
  }

  void Say(const Instance& instance, Verdict verdict, std::string reason) {
    decision_.outcomes.push_back({instance.name, instance.group, verdict, std::move(reason)});
  }

  void Count() {
    for (const Instance* instance : instances_) {
      auto& count = counts_[instance->group];
      if (instance->phase == Phase::kRunning) {
        ++count.running;
      } else if (instance->phase == Phase::kStarting || IsReserved(*instance)) {
        ++count.starting;
      } else {
        ++count.held;
      }
    }
  }

  // Without a rule, or with an instance that cannot be counted, nothing is granted and what runs is
  // left alone.
  bool Known() {
    std::string why;
    if (!service_.rule) {
      why = service_.no_rule;
    } else if (const auto nameless =
                   std::find_if(instances_.begin(), instances_.end(),
                                [](const Instance* instance) { return instance->group.empty(); });
               nameless != instances_.end()) {
      why = (*nameless)->name +
            " belongs to the service and has no label mind-cluster/group-name, so its instances "
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

  bool Runs(const ScalingTier& tier) {
    return std::all_of(tier.groups.begin(), tier.groups.end(), [&](const ScalingGroup& group) {
      return counts_[group.group_name].running >= Wanted(tier, group.group_name);
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
        if (instance->phase == Phase::kStarting && instance->unschedulable) {
          Look(*instance->unschedulable + options_.rebalance_after);
        }
      } else if (IsReserved(*instance)) {
        Look(*instance->granted + options_.reservation);
        Say(*instance, Verdict::kKeep, "it was granted just now");
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
    const ScalingTier& tier = tiers()[*decision_.aim];
    const int64_t wanted = Wanted(tier, group);
    Tally& count = counts_[group];
    const int64_t there = count.running + (options_.upstream_counts ? 0 : count.starting);
    if (there < wanted) {
      ++count.starting;
      --count.held;
      Say(instance, Verdict::kGrant,
          ShapeName(*decision_.aim) + " wants " + std::to_string(wanted) + " of " + group +
              ", and " +
              (there == 0 ? "none is there"
                          : std::to_string(there) + " " + (there == 1 ? "is" : "are") + " there"));
      return;
    }
    Say(instance, Verdict::kHold, WhyNot(tier, group, wanted));
  }

  std::string WhyNot(const ScalingTier& tier, const std::string& group, int64_t wanted) {
    std::string why =
        ShapeName(*decision_.aim) + " wants " + std::to_string(wanted) + " of " + group;
    if (wanted > 0) why += ", which " + std::string(wanted == 1 ? "is" : "are") + " there";
    std::vector<std::string> lacking;
    for (const auto& [name, count] : counts_) {
      const int64_t of_this = Wanted(tier, name);
      if (count.running < of_this) lacking.push_back(Progress(name, count.running, of_this));
    }
    for (const ScalingGroup& other : tier.groups) {
      if (!counts_.contains(other.group_name) && other.group_num > 0) {
        lacking.push_back(Progress(other.group_name, 0, other.group_num));
      }
    }
    std::sort(lacking.begin(), lacking.end());
    return why + "; a fuller one must wait until " + Join(lacking, " and ");
  }

  static std::string Progress(const std::string& group, int64_t running, int64_t wanted) {
    return std::to_string(wanted) + " of " + group + " run, now " + std::to_string(running);
  }

  static std::string Listed(const ScalingTier& tier) {
    std::map<std::string, int64_t> wanted;
    for (const ScalingGroup& group : tier.groups) wanted[group.group_name] = group.group_num;
    std::vector<std::string> texts;
    for (const auto& [name, number] : wanted) {
      texts.push_back(std::to_string(number) + " of " + name);
    }
    return Join(texts, " and ");
  }

  // The wanted instance that has found no room for the longest time, if it is long enough.
  const Instance* Stranded(const ScalingTier& tier) const {
    const Instance* longest = nullptr;
    for (const Instance* instance : instances_) {
      if (instance->phase != Phase::kStarting || !instance->unschedulable) continue;
      if (now_ < *instance->unschedulable + options_.rebalance_after) continue;
      const Tally& count = counts_.at(instance->group);
      if (count.running >= Wanted(tier, instance->group)) continue;
      if (longest == nullptr || *instance->unschedulable < *longest->unschedulable) {
        longest = instance;
      }
    }
    return longest;
  }

  // Of the groups that have more than the shape wants; the least ready, then the newest. One that
  // runs goes only when enough others of its group run.
  const Instance* Surplus(const ScalingTier& tier, const Instance& stranded) const {
    const Instance* victim = nullptr;
    const auto less_lost = [](const Instance& a, const Instance& b) {
      return std::tuple(a.ready, b.since, b.name) < std::tuple(b.ready, a.since, a.name);
    };
    for (const Instance* instance : instances_) {
      if (instance->group == stranded.group || instance->phase == Phase::kHeld) continue;
      if (instance->unschedulable) continue;  // it has no room to give
      const Tally& count = counts_.at(instance->group);
      const int64_t wanted = Wanted(tier, instance->group);
      const bool runs = instance->phase == Phase::kRunning;
      if ((runs ? count.running : count.running + count.starting) <= wanted) continue;
      if (victim == nullptr || less_lost(*instance, *victim)) victim = instance;
    }
    return victim;
  }

  void MayRebalance() {
    if (options_.rebalance == Rebalance::kOff || !decision_.aim) return;
    const ScalingTier& tier = tiers()[*decision_.aim];
    const Instance* stranded = Stranded(tier);
    if (stranded == nullptr) return;
    const Instance* victim = Surplus(tier, *stranded);
    if (victim == nullptr) return;
    if (last_given_up_ && now_ < *last_given_up_ + options_.cool_down) {
      Look(*last_given_up_ + options_.cool_down);
      return;
    }
    const int64_t wanted = Wanted(tier, victim->group);
    const Outcome given_up{victim->name, victim->group, Verdict::kGiveUp,
                           ShapeName(*decision_.aim) + " needs " + stranded->name + " of " +
                               stranded->group + ", for which there is no room, and only " +
                               std::to_string(wanted) + " of " + victim->group};
    if (options_.rebalance == Rebalance::kObserve) {
      decision_.would_give_up = given_up;
      return;
    }
    *std::find_if(decision_.outcomes.begin(), decision_.outcomes.end(),
                  [&](const Outcome& outcome) { return outcome.instance == victim->name; }) =
        given_up;
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

}  // namespace mindgate::watcher::scaling
