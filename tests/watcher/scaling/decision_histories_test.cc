#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "support/dice.h"
#include "support/scaling.h"

// Random histories of services in a small cluster, where everything breaks that can. Deterministic:
// a failure names the number of its history.
namespace mindgate::testing {
namespace {

using std::chrono::seconds;

constexpr int64_t kMaxSlots = 8;
constexpr size_t kMaxJobs = 7;

using Random = Dice;

const std::vector<schemas::ScalingRule>& Rules() {
  static const std::vector<schemas::ScalingRule> kRules = {
      RuleOf("p=3 d=1 | p=2 d=1 | p=1 d=1"),
      RuleOf("p=2 d=2 x=1 | p=2 d=1 | p=1 d=1"),
      RuleOf("p=4 d=2 | p=2 d=1"),
      RuleOf("p=2 d=1 | p=1 d=0"),
      RuleOf("d=2 x=2 | d=1"),
      RuleOf("p=1 d=1"),
  };
  return kRules;
}

constexpr std::array<const char*, 3> kGroups = {"p", "d", "x"};
using Counts = std::array<int64_t, kGroups.size()>;

// What the cluster knows of an instance beside what the watcher sees of it.
struct GroupJob {
  size_t group = 0;
  bool lost = false;  // the call that granted it did not arrive
};

class Cluster {
 public:
  Cluster(Random& random, EnforcementMode rebalance) : random_(random) {
    options_.rebalance = rebalance;
    gang_ = !random.OneIn(3);
    for (int64_t& need : needs_) need = static_cast<int64_t>(1 + random.Below(2));
    slots_ = static_cast<int64_t>(random.Below(kMaxSlots + 1));
    service_.no_rule = "the rule cannot be read";
    EditRule();
    const size_t jobs = random.Below(kMaxJobs + 1);
    for (size_t i = 0; i < jobs; ++i) {
      Submit();
      StartSomewhere(i);
    }
    bounds_ = There();
    RaiseBounds();
  }

  // One thing happens, whichever.
  void Happen() {
    const size_t what = random_.Below(12);
    const size_t i = jobs_.empty() ? 0 : random_.Below(jobs_.size());
    if (what < 6 && jobs_.empty()) return;
    switch (what) {
      case 0:
      case 1:
      case 2:
        Schedule(i);
        break;
      case 3:
        Start(i);
        break;
      case 4:
        See(i);
        break;
      case 5:
        Fail(i);
        break;
      case 6:
        BreakSlot();
        break;
      case 7:
        slots_ = std::min(slots_ + 1, kMaxSlots);
        break;
      case 8:
        if (random_.OneIn(3)) EditRule();
        break;
      case 9:
        Submit();
        break;
      case 10:
        if (random_.OneIn(2)) Delete();
        if (random_.OneIn(4)) RestartWatcher();
        break;
      default:
        // Pods show a grant long before its reservation is over.
        for (size_t all = 0; all < jobs_.size(); ++all) See(all);
        now_ += seconds(1 + static_cast<int64_t>(random_.Below(100)));
    }
  }

  // The watcher looks and acts. False when it found nothing to do.
  bool Act() {
    const Counts before = There();
    const Decision decision = Decide(service_, options_, now_, last_given_up_);
    again_ = decision.requeue_at;
    reached_ = decision.reached;
    bool acted = false;
    for (const Outcome& outcome : decision.outcomes) {
      if (outcome.verdict == Verdict::kHold || outcome.verdict == Verdict::kKeep) continue;
      acted = true;
      size_t i = 0;
      while (service_.instances[i].name != outcome.instance) ++i;
      if (outcome.verdict == Verdict::kGrant) {
        service_.instances[i].granted = now_;
        jobs_[i].lost = faults_ && random_.OneIn(8);
      } else if (outcome.verdict == Verdict::kWithdraw) {
        if (service_.instances[i].placed > 0) broken_ = "one that had room was withdrawn";
        Fail(i);
      } else {
        if (last_given_up_ && now_ < *last_given_up_ + options_.cool_down) {
          broken_ = "one given up too soon after another";
        }
        Fail(i);
        last_given_up_ = now_;
      }
    }
    Check(decision, before);
    return acted;
  }

  // Nothing breaks any more: everything that can happen does, again and again, and time passes only
  // when nothing else does. Returns the rounds until all was quiet.
  size_t Settle() {
    faults_ = false;
    options_.rebalance = EnforcementMode::kEnforce;
    if (!service_.rule) service_.rule = Rules().front();
    RaiseBounds();
    std::vector<size_t> order(jobs_.size());
    std::iota(order.begin(), order.end(), 0);
    size_t rounds = 0;
    while (rounds < 1000) {
      ++rounds;
      bool moved = Act();
      for (size_t n = order.size(); n > 1; --n) std::swap(order[n - 1], order[random_.Below(n)]);
      for (const size_t i : order) {
        const bool seen = See(i);
        const bool scheduled = Schedule(i);
        const bool started = Start(i);
        moved = seen || scheduled || started || moved;
      }
      if (moved) continue;
      if (!again_) break;
      now_ = *again_;
    }
    return rounds;
  }

  bool IsBest() const {
    std::map<std::string, Supply> supplies;
    for (const GroupJob& job : jobs_) {
      Supply& supply = supplies[kGroups[job.group]];
      ++supply.instances;
      supply.need = needs_[job.group];
    }
    return reached_ == BestShape(*service_.rule, supplies, slots_);
  }

  const std::string& broken() const { return broken_; }

 private:
  int64_t Used() const {
    int64_t used = 0;
    for (const Instance& instance : service_.instances) used += instance.placed;
    return used;
  }

  // Of each group, what runs, starts or will start.
  Counts There() const {
    Counts there{};
    for (size_t i = 0; i < jobs_.size(); ++i) {
      const Instance& seen = service_.instances[i];
      const bool held = seen.phase == Phase::kHeld && (!seen.granted || jobs_[i].lost);
      there[jobs_[i].group] += held ? 0 : 1;
    }
    return there;
  }

  int64_t Wanted(size_t tier, size_t group) const {
    const auto* found = service_.rule->tiers[tier].Find(kGroups[group]);
    return found == nullptr ? 0 : found->group_num;
  }

  void RaiseBounds() {
    if (!service_.rule) return;
    for (size_t g = 0; g < kGroups.size(); ++g) bounds_[g] = std::max(bounds_[g], Wanted(0, g));
  }

  void Check(const Decision& decision, const Counts& before) {
    const Counts there = There();
    for (size_t g = 0; g < kGroups.size(); ++g) {
      const int64_t wanted = decision.aim ? Wanted(*decision.aim, g) : 0;
      if (there[g] > std::max(before[g], wanted)) broken_ = "more than its shape wants";
      if (there[g] > bounds_[g]) broken_ = "more than any rule wanted";
    }
    if (Used() > slots_) broken_ = "more slots used than there are";
  }

  bool Schedule(size_t i) {
    Instance& seen = service_.instances[i];
    const int64_t missing = needs_[jobs_[i].group] - seen.placed;
    if (seen.phase != Phase::kStarting || missing == 0) return false;
    const int64_t pods = gang_ ? missing : 1;
    if (slots_ - Used() >= pods) {
      seen.placed += pods;
      if (pods == missing) seen.unschedulable.reset();
      return true;
    }
    if (seen.unschedulable) return false;
    seen.unschedulable = now_;
    return true;
  }

  bool Start(size_t i) {
    Instance& seen = service_.instances[i];
    const int64_t need = needs_[jobs_[i].group];
    if (seen.phase != Phase::kStarting || seen.placed < need) return false;
    seen.phase = Phase::kRunning;
    seen.ready = static_cast<int64_t>(random_.Below(static_cast<size_t>(need) + 1));
    return true;
  }

  bool See(size_t i) {
    Instance& seen = service_.instances[i];
    if (seen.phase != Phase::kHeld || !seen.granted || jobs_[i].lost) return false;
    seen.phase = Phase::kStarting;
    return true;
  }

  // Its pods go, and new ones wait.
  void Fail(size_t i) {
    Instance& seen = service_.instances[i];
    seen = Since(Held(seen.name), now_);
    jobs_[i].lost = false;
  }

  void BreakSlot() {
    slots_ = std::max<int64_t>(slots_ - 1, 0);
    while (Used() > slots_) {
      const size_t i = random_.Below(jobs_.size());
      if (service_.instances[i].placed > 0) Fail(i);
    }
  }

  void EditRule() {
    service_.rule.reset();
    if (!random_.OneIn(8)) service_.rule = Rules()[random_.Below(Rules().size())];
    RaiseBounds();
  }

  void Submit() {
    if (jobs_.size() == kMaxJobs) return;
    constexpr std::array<size_t, 6> kOften = {0, 0, 0, 1, 1, 2};
    const size_t group = kOften[random_.Below(kOften.size())];
    jobs_.push_back({group});
    const std::string name = std::string(kGroups[group]) + "-" + std::to_string(submitted_++);
    service_.instances.push_back(Since(Held(name), now_));
  }

  void Delete() {
    if (jobs_.empty()) return;
    const auto i = static_cast<std::ptrdiff_t>(random_.Below(jobs_.size()));
    jobs_.erase(jobs_.begin() + i);
    service_.instances.erase(service_.instances.begin() + i);
  }

  // What it knew of its grants is gone; a new list of pods shows those that arrived.
  void RestartWatcher() {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      See(i);
      service_.instances[i].granted.reset();
      jobs_[i].lost = false;
    }
    last_given_up_ = now_;
  }

  void StartSomewhere(size_t i) {
    if (random_.OneIn(2)) return;
    service_.instances[i].phase = Phase::kStarting;
    Schedule(i);
    if (random_.OneIn(2)) Start(i);
  }

  Random& random_;
  Options options_;
  Service service_;
  std::vector<GroupJob> jobs_;  // of each instance of the service
  bool gang_ = true;            // the scheduler places all pods of an instance or none
  bool faults_ = true;
  int64_t slots_ = 0;
  Counts needs_{};   // of each group, the slots that an instance takes
  Counts bounds_{};  // of each group, the most that a rule wanted, or that was there at first
  int64_t submitted_ = 0;
  Time now_ = kStart;
  std::optional<Time> last_given_up_;
  std::optional<Time> again_;
  std::optional<size_t> reached_;
  std::string broken_;
};

constexpr std::array<EnforcementMode, 3> kModes = {EnforcementMode::kOff, EnforcementMode::kObserve,
                                                   EnforcementMode::kEnforce};

TEST(ScalingHistories, NeverMoreThanTheRulesAllow) {
  constexpr uint64_t kHistories = 97'000;
  for (uint64_t history = 0; history < kHistories; ++history) {
    Random random(history);
    Cluster cluster(random, kModes[history % kModes.size()]);
    for (int i = 0; i < 4; ++i) {
      cluster.Happen();
      if (random.OneIn(2)) cluster.Act();
    }
    ASSERT_EQ(cluster.broken(), "") << "history " << history;
  }
}

// A change of phase, room or time for each instance and shape, and some to look again.
TEST(ScalingHistories, WhenNothingBreaksAnyMoreTheBestShapeRuns) {
  constexpr uint64_t kHistories = 3'000;
  size_t max_rounds = 0;
  for (uint64_t history = 0; history < kHistories; ++history) {
    Random random(1'000'000 + history);
    Cluster cluster(random, kModes[history % kModes.size()]);
    for (int i = 0; i < 20; ++i) {
      cluster.Happen();
      cluster.Act();
    }
    max_rounds = std::max(max_rounds, cluster.Settle());
    ASSERT_EQ(cluster.broken(), "") << "history " << history;
    ASSERT_TRUE(cluster.IsBest()) << "history " << history;
  }
  EXPECT_LT(max_rounds, 60u);
}

}  // namespace
}  // namespace mindgate::testing
