#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/scaling.h"
#include "support/scaling_generators.h"

// What holds for every service, whatever its rule and however odd its instances.
namespace mindgate::testing {
namespace {

using std::chrono::seconds;

std::set<std::string> NamesWith(const Decision& decision, Verdict verdict) {
  std::set<std::string> names;
  for (const Outcome& outcome : decision.outcomes) {
    if (outcome.verdict == verdict) names.insert(outcome.instance);
  }
  return names;
}

bool IsReserved(const Instance& instance, const Options& options) {
  return instance.phase == Phase::kHeld && instance.granted &&
         kStart < *instance.granted + options.reservation;
}

std::set<std::string> Reserved(const Service& service, const Options& options) {
  std::set<std::string> names;
  for (const Instance& instance : service.instances) {
    if (IsReserved(instance, options)) names.insert(instance.name);
  }
  return names;
}

// As its pods may be seen or not: what runs, starts, or was granted not long ago.
std::map<std::string, int64_t> There(const Service& service, const Options& options) {
  std::map<std::string, int64_t> there;
  for (const Instance& instance : service.instances) {
    const bool counts = instance.phase == Phase::kStarting || instance.phase == Phase::kRunning ||
                        IsReserved(instance, options);
    there[instance.group] += counts ? 1 : 0;
  }
  return there;
}

int64_t Wanted(const Service& service, size_t tier, const std::string& group) {
  const auto* found = service.rule->tiers[tier].Find(group);
  return found == nullptr ? 0 : found->group_num;
}

// Upstream's algorithm, written again (CanCreatePod): what a job of `group` hears that asks now.
// Where upstream crashes, it is refused.
struct Upstream {
  std::optional<size_t> destination;
  std::map<std::string, int64_t> running;

  explicit Upstream(const Service& service) {
    for (const Instance& instance : service.instances) {
      if (instance.phase == Phase::kRunning) ++running[instance.group];
    }
    const auto& tiers = service.rule->tiers;
    for (size_t left = tiers.size(); left > 0 && !destination; --left) {
      for (const auto& group : tiers[left - 1].groups) {
        if (running[group.group_name] < group.group_num) destination = left - 1;
      }
    }
  }

  bool MayCreate(const Service& service, const std::string& group) {
    return destination && Wanted(service, *destination, group) > running[group];
  }
};

// One that runs without a group blocks nobody.
bool HasNameless(const Service& service) {
  return std::any_of(service.instances.begin(), service.instances.end(),
                     [](const Instance& i) { return i.phase == Phase::kHeld && i.group.empty(); });
}

TEST(ScalingProperties, UpstreamCountsAreUpstreams) {
  EXPECT_TRUE(Holds([] {
    Service service = AnyService();
    // Upstream knows no reservations.
    for (Instance& instance : service.instances) instance.granted.reset();
    Log(service);
    Options options = AnyOptions();
    options.upstream_counts = true;
    const Decision decision = Decide(service, options, kStart);
    if (!service.rule || HasNameless(service)) {
      RC_ASSERT(NamesWith(decision, Verdict::kGrant).empty());
      return;
    }
    Upstream upstream(service);
    RC_ASSERT(decision.aim == upstream.destination);
    const auto grants = NamesWith(decision, Verdict::kGrant);
    for (const Instance& instance : service.instances) {
      if (instance.phase != Phase::kHeld) continue;
      RC_ASSERT(grants.contains(instance.name) == upstream.MayCreate(service, instance.group));
    }
  }));
}

TEST(ScalingProperties, AGrantOfExactCountsIsOneOfUpstreams) {
  EXPECT_TRUE(Holds([] {
    const Service service = AnyService();
    Log(service);
    Options options = Rebalancing();
    const auto exact = NamesWith(Decide(service, options, kStart), Verdict::kGrant);
    options.upstream_counts = true;
    const auto upstream = NamesWith(Decide(service, options, kStart), Verdict::kGrant);
    RC_ASSERT(std::includes(upstream.begin(), upstream.end(), exact.begin(), exact.end()));
  }));
}

TEST(ScalingProperties, NeverMoreThanTheShapeWantsOrThereWere) {
  EXPECT_TRUE(Holds([] {
    const Service service = AnyService();
    Log(service);
    const Decision decision = Decide(service, Rebalancing(), kStart);
    const auto before = There(service, Rebalancing());
    const auto reserved = Reserved(service, Rebalancing());
    auto after = before;
    for (const Outcome& outcome : decision.outcomes) {
      if (outcome.verdict != Verdict::kGrant) continue;
      if (!reserved.contains(outcome.instance)) {
        ++after[outcome.group];
      } else {  // it is among them
        RC_ASSERT(before.at(outcome.group) <= Wanted(service, *decision.aim, outcome.group));
      }
    }
    for (const auto& [group, number] : after) {
      const int64_t wanted = decision.aim ? Wanted(service, *decision.aim, group) : 0;
      RC_ASSERT(number <= std::max(before.at(group), wanted));
    }
  }));
}

// As many as are lacking and wait are granted.
TEST(ScalingProperties, NeverFewerThanItCould) {
  EXPECT_TRUE(Holds([] {
    const Service service = AnyService();
    Log(service);
    const Decision decision = Decide(service, Rebalancing(), kStart);
    if (!decision.aim) return;
    auto there = There(service, Rebalancing());
    const auto reserved = Reserved(service, Rebalancing());
    std::set<std::string> held;
    for (const Outcome& outcome : decision.outcomes) {
      const bool granted = outcome.verdict == Verdict::kGrant;
      if (granted && !reserved.contains(outcome.instance)) ++there[outcome.group];
      const bool queued =
          std::any_of(service.instances.begin(), service.instances.end(), [&](const Instance& i) {
            return i.phase == Phase::kQueued && i.name == outcome.instance;
          });
      if (outcome.verdict == Verdict::kHold && !queued) held.insert(outcome.group);
    }
    for (const std::string& group : held) {
      RC_ASSERT(there[group] >= Wanted(service, *decision.aim, group));
    }
  }));
}

TEST(ScalingProperties, TheSmallestUnreachedShapeFirst) {
  EXPECT_TRUE(Holds([] {
    const Service service = AnyService();
    Log(service);
    const Decision decision = Decide(service, AnyOptions(), kStart);
    if (!decision.aim) {
      RC_ASSERT(NamesWith(decision, Verdict::kGrant).empty());
      return;
    }
    Upstream upstream(service);
    RC_ASSERT(decision.aim == upstream.destination);
    RC_ASSERT(decision.reached.value_or(*decision.aim + 1) == *decision.aim + 1);
    for (const Outcome& outcome : decision.outcomes) {
      if (outcome.verdict != Verdict::kGrant) continue;
      RC_ASSERT(upstream.running[outcome.group] < Wanted(service, *decision.aim, outcome.group));
    }
  }));
}

TEST(ScalingProperties, TheOrderOfInstancesDoesNotMatter) {
  EXPECT_TRUE(Holds([] {
    const Service service = AnyService();
    Log(service);
    const Options options = AnyOptions();
    Service other = service;
    for (size_t i = other.instances.size(); i > 1; --i) {
      std::swap(other.instances[i - 1],
                other.instances[static_cast<size_t>(AnyBelow(static_cast<int64_t>(i)))]);
    }
    RC_ASSERT(Decide(other, options, kStart) == Decide(service, options, kStart));
  }));
}

TEST(ScalingProperties, DecidingTwiceGrantsNothingMore) {
  EXPECT_TRUE(Holds([] {
    Service service = AnyService();
    Log(service);
    const auto grants = NamesWith(Decide(service, Rebalancing(), kStart), Verdict::kGrant);
    for (Instance& instance : service.instances) {
      if (!grants.contains(instance.name)) continue;
      instance.granted = kStart;
      instance.unanswered = false;
    }
    RC_ASSERT(NamesWith(Decide(service, Rebalancing(), kStart), Verdict::kGrant).empty());
  }));
}

// Where there is room for more, more runs: the shape that is reached, and the one that is aimed at,
// are as full or fuller.
TEST(ScalingProperties, MoreThatRunsIsNeverASmallerShape) {
  EXPECT_TRUE(Holds([] {
    const Service service = AnyService();
    if (service.instances.empty()) return;
    Service more = service;
    Instance& one =
        more.instances[static_cast<size_t>(AnyBelow(static_cast<int64_t>(more.instances.size())))];
    one.phase = Phase::kRunning;
    one.unschedulable.reset();
    if (HasNameless(more) || HasNameless(service)) return;
    Log(service);
    const Decision before = Decide(service, AnyOptions(), kStart);
    const Decision after = Decide(more, AnyOptions(), kStart);
    RC_ASSERT(after.reached.value_or(99) <= before.reached.value_or(99));
    if (after.aim) RC_ASSERT(before.aim && *after.aim <= *before.aim);
  }));
}

TEST(ScalingProperties, OneOutcomeForEach) {
  EXPECT_TRUE(Holds([] {
    const Service service = AnyService();
    Log(service);
    const Decision decision = Decide(service, AnyOptions(), kStart);
    std::map<std::string, const Instance*> there;
    for (const Instance& instance : service.instances) {
      there[instance.name] = &instance;
    }
    RC_ASSERT(decision.outcomes.size() == there.size());
    size_t i = 0;
    for (const auto& [name, instance] : there) {
      const Outcome& outcome = decision.outcomes[i++];
      RC_ASSERT(outcome.instance == name);
      RC_ASSERT(outcome.group == instance->group);
      RC_ASSERT(!outcome.reason.empty());
      if (instance->phase == Phase::kHeld) {
        RC_ASSERT(outcome.verdict != Verdict::kGiveUp);
      } else if (instance->phase == Phase::kQueued) {
        RC_ASSERT(outcome.verdict == Verdict::kHold || outcome.verdict == Verdict::kKeep);
      } else {
        RC_ASSERT(outcome.verdict != Verdict::kGrant && outcome.verdict != Verdict::kHold);
      }
    }
    RC_ASSERT(NamesWith(decision, Verdict::kGiveUp).size() <= 1u);
  }));
}

// The counts that people see are those of the instances, after the grants.
TEST(ScalingProperties, CountsAddUp) {
  EXPECT_TRUE(Holds([] {
    const Service service = AnyService();
    Log(service);
    const Decision decision = Decide(service, AnyOptions(), kStart);
    int64_t sum = 0;
    for (const auto& count : decision.groups) {
      RC_ASSERT(count.running >= 0 && count.starting >= 0 && count.held >= 0);
      sum += count.running + count.starting + count.held;
    }
    RC_ASSERT(sum == static_cast<int64_t>(decision.outcomes.size()));
  }));
}

TEST(ScalingProperties, WithoutARuleNothingIsGrantedOrGivenUp) {
  EXPECT_TRUE(Holds([] {
    Service service = AnyService();
    service.rule.reset();
    Log(service);
    const Decision decision = Decide(service, AnyOptions(), kStart);
    RC_ASSERT(NamesWith(decision, Verdict::kGrant).empty());
    RC_ASSERT(NamesWith(decision, Verdict::kGiveUp).empty());
    RC_ASSERT(NamesWith(decision, Verdict::kWithdraw).empty());
    RC_ASSERT(decision.proposed.empty());
  }));
}

TEST(ScalingProperties, OneThatIsGivenUpLeavesWhatTheShapeWants) {
  EXPECT_TRUE(Holds([] {
    const Service service = AnyService();
    Log(service);
    const Decision decision = Decide(service, Rebalancing(), kStart);
    const auto victims = NamesWith(decision, Verdict::kGiveUp);
    if (victims.empty()) return;
    std::map<std::string, int64_t> running;
    std::map<std::string, int64_t> there;
    std::string group;
    for (const Instance& instance : service.instances) {
      if (instance.name == *victims.begin()) {
        group = instance.group;
        RC_ASSERT(instance.phase == Phase::kRunning || instance.placed > 0);
      } else {
        if (instance.phase == Phase::kRunning) ++running[instance.group];
        if (instance.phase == Phase::kStarting) ++there[instance.group];
      }
    }
    RC_ASSERT(decision.aim.has_value());
    RC_ASSERT(running[group] + there[group] >= Wanted(service, *decision.aim, group));
    // The shape that is reached stays reached.
    if (decision.reached) RC_ASSERT(running[group] >= Wanted(service, *decision.reached, group));
    // For one that is lacking and found no room.
    RC_ASSERT(
        std::any_of(service.instances.begin(), service.instances.end(), [&](const Instance& i) {
          return (i.phase == Phase::kStarting || i.phase == Phase::kQueued) && i.unschedulable &&
                 i.name != *victims.begin() &&
                 *i.unschedulable + Rebalancing().rebalance_after <= kStart &&
                 running[i.group] < Wanted(service, *decision.aim, i.group);
        }));
  }));
}

TEST(ScalingProperties, WhatIsGivenUpIsNotGrantedAgainAtOnce) {
  EXPECT_TRUE(Holds([] {
    Service service = AnyService();
    Log(service);
    Options options = AnyOptions();
    options.rebalance = EnforcementMode::kEnforce;
    const auto victims = NamesWith(Decide(service, options, kStart), Verdict::kGiveUp);
    for (Instance& instance : service.instances) {
      if (victims.contains(instance.name)) instance = Since(Held(instance.name), kStart);
    }
    const auto grants = NamesWith(Decide(service, options, kStart), Verdict::kGrant);
    for (const std::string& victim : victims) RC_ASSERT(!grants.contains(victim));
  }));
}

TEST(ScalingProperties, ObservingReportsWhatEnforcingDoes) {
  EXPECT_TRUE(Holds([] {
    const Service service = AnyService();
    Log(service);
    const Decision enforced = Decide(service, Rebalancing(), kStart);
    const Decision observed = Decide(service, Rebalancing(EnforcementMode::kObserve), kStart);
    const Decision off = Decide(service, Rebalancing(EnforcementMode::kOff), kStart);
    RC_ASSERT(enforced.proposed.empty() && off.proposed.empty());
    RC_ASSERT(observed.outcomes == off.outcomes);
    Decision replaced = observed;
    for (Outcome& outcome : replaced.outcomes) {
      for (const Outcome& would : observed.proposed) {
        if (outcome.instance == would.instance) outcome = would;
      }
    }
    RC_ASSERT(replaced.outcomes == enforced.outcomes);
  }));
}

// Until `again` the decision stays as it is, and nothing comes when there is no `again`.
TEST(ScalingProperties, AgainIsWhenTimeAloneChangesIt) {
  EXPECT_TRUE(Holds([] {
    const Service service = AnyService();
    Log(service);
    const Options options = AnyOptions();
    std::optional<Time> given_up;
    if (AnyBelow(3) == 2) given_up = kStart - seconds(AnyBelow(400));
    const auto without_again = [&](Time now) {
      Decision decision = Decide(service, options, now, given_up);
      decision.requeue_at.reset();
      return decision;
    };
    const auto again = Decide(service, options, kStart, given_up).requeue_at;
    RC_ASSERT(!again || *again > kStart);
    const Decision now = without_again(kStart);
    const int64_t horizon = again ? (*again - kStart).count() : 1000;
    for (const int64_t after : {int64_t{1}, horizon / 2, horizon - 1}) {
      RC_ASSERT(after >= horizon || without_again(kStart + seconds(after)) == now);
    }
  }));
}

}  // namespace
}  // namespace mindgate::testing
