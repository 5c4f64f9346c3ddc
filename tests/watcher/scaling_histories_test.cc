#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "support/scaling.h"

// Random histories of services in a small cluster, where everything breaks that can. Deterministic:
// a failure names the number of its history.
namespace mindgate::testing {
namespace {

using std::chrono::seconds;
using watcher::scaling::Decide;
using watcher::scaling::Decision;
using watcher::scaling::Options;
using watcher::scaling::Outcome;
using watcher::scaling::Rebalance;
using watcher::scaling::Verdict;

constexpr int64_t kMostSlots = 8;
constexpr size_t kMostJobs = 7;

// SplitMix64, for its seed is one number and costs nothing.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15) {}

  size_t Below(size_t n) {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return static_cast<size_t>((z ^ (z >> 31)) % n);
  }
  bool OneIn(size_t n) { return Below(n) == 0; }

 private:
  uint64_t state_;
};

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

// What the cluster knows of an instance; the rest the watcher sees of it.
struct Job {
  Instance seen;
  int64_t need = 1;
  bool lost = false;  // the call that granted it did not arrive
};

class Cluster {
 public:
  Cluster(Random& random, Rebalance rebalance) : random_(random) {
    options_.rebalance = rebalance;
    gang_ = !random.OneIn(3);
    for (const char* group : {"p", "d", "x"}) {
      needs_[group] = static_cast<int64_t>(1 + random.Below(2));
    }
    slots_ = static_cast<int64_t>(random.Below(kMostSlots + 1));
    EditRule();
    const size_t jobs = random.Below(kMostJobs + 1);
    for (size_t i = 0; i < jobs; ++i) Submit();
    for (Job& job : jobs_) StartSomewhere(job);
    for (const auto& [group, number] : There()) bounds_[group] = number;
    RaiseBounds();
  }

  // One thing happens, whichever.
  void Happen() {
    switch (random_.Below(12)) {
      case 0:
      case 1:
      case 2:
        if (Job* job = Any()) Schedule(*job);
        break;
      case 3:
        if (Job* job = Any()) Start(*job);
        break;
      case 4:
        if (Job* job = Any()) See(*job);
        break;
      case 5:
        if (Job* job = Any()) Fail(*job);
        break;
      case 6:
        BreakSlot();
        break;
      case 7:
        slots_ = std::min(slots_ + 1, kMostSlots);
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
        for (Job& job : jobs_) See(job);
        now_ += seconds(1 + static_cast<int64_t>(random_.Below(100)));
    }
  }

  // The watcher looks and acts. False when it found nothing to do.
  bool Act() {
    Service service{rule_, "the rule cannot be read", {}};
    service.instances.reserve(jobs_.size());
    for (const Job& job : jobs_) service.instances.push_back(job.seen);
    const auto before = There();
    const Decision decision = Decide(service, options_, now_, last_given_up_);
    again_ = decision.again;
    reached_ = decision.reached;
    bool acted = false;
    for (const Outcome& outcome : decision.outcomes) {
      if (outcome.verdict != Verdict::kGrant && outcome.verdict != Verdict::kGiveUp) continue;
      acted = true;
      Job& job = *std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& candidate) {
        return candidate.seen.name == outcome.instance;
      });
      if (outcome.verdict == Verdict::kGrant) {
        job.seen.granted = now_;
        job.lost = faults_ && random_.OneIn(8);
      } else {
        Fail(job);
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
    options_.rebalance = Rebalance::kEnforce;
    if (!rule_) rule_ = Rules().front();
    RaiseBounds();
    size_t rounds = 0;
    while (rounds < 1000) {
      ++rounds;
      bool moved = Act();
      for (size_t i = jobs_.size(); i > 1; --i) std::swap(jobs_[i - 1], jobs_[random_.Below(i)]);
      for (Job& job : jobs_) {
        // Each of these in turn, without a short cut.
        const bool seen = See(job);
        const bool scheduled = Schedule(job);
        const bool started = Start(job);
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
    for (const Job& job : jobs_) {
      Supply& supply = supplies[job.seen.group];
      ++supply.instances;
      supply.need = job.need;
    }
    return reached_ == BestShape(*rule_, supplies, slots_);
  }

  const std::string& broken() const { return broken_; }

 private:
  int64_t Used() const {
    int64_t used = 0;
    for (const Job& job : jobs_) used += job.seen.placed;
    return used;
  }

  // Of each group, what runs, starts or will start.
  std::map<std::string, int64_t> There() const {
    std::map<std::string, int64_t> there;
    for (const Job& job : jobs_) {
      const bool held = job.seen.phase == Phase::kHeld && (!job.seen.granted || job.lost);
      there[job.seen.group] += held ? 0 : 1;
    }
    return there;
  }

  void RaiseBounds() {
    if (!rule_) return;
    for (const auto& group : rule_->tiers.front().groups) {
      int64_t& bound = bounds_[group.group_name];
      bound = std::max(bound, group.group_num);
    }
  }

  void Check(const Decision& decision, std::map<std::string, int64_t> before) {
    for (const auto& [group, number] : There()) {
      const auto* wanted = decision.aim ? rule_->tiers[*decision.aim].Find(group) : nullptr;
      const int64_t most = wanted == nullptr ? 0 : wanted->group_num;
      if (number > std::max(before[group], most)) broken_ = "more " + group + " than its shape";
      if (number > bounds_[group]) broken_ = "more " + group + " than any rule";
    }
    if (Used() > slots_) broken_ = "more slots used than there are";
  }

  Job* Any() { return jobs_.empty() ? nullptr : &jobs_[random_.Below(jobs_.size())]; }

  bool Schedule(Job& job) {
    if (job.seen.phase != Phase::kStarting || job.seen.placed == job.need) return false;
    const int64_t pods = gang_ ? job.need - job.seen.placed : 1;
    if (slots_ - Used() >= pods) {
      job.seen.placed += pods;
      if (job.seen.placed == job.need) job.seen.unschedulable.reset();
      return true;
    }
    if (job.seen.unschedulable) return false;
    job.seen.unschedulable = now_;
    return true;
  }

  bool Start(Job& job) {
    if (job.seen.phase != Phase::kStarting || job.seen.placed < job.need) return false;
    job.seen.phase = Phase::kRunning;
    job.seen.ready = static_cast<int64_t>(random_.Below(static_cast<size_t>(job.need) + 1));
    return true;
  }

  bool See(Job& job) {
    if (job.seen.phase != Phase::kHeld || !job.seen.granted || job.lost) return false;
    job.seen.phase = Phase::kStarting;
    return true;
  }

  // Its pods go, and new ones wait.
  void Fail(Job& job) {
    Instance fresh = Held(job.seen.name);
    fresh.since = now_;
    job.seen = fresh;
    job.lost = false;
  }

  void BreakSlot() {
    slots_ = std::max<int64_t>(slots_ - 1, 0);
    while (Used() > slots_) {
      Job& job = *Any();
      if (job.seen.placed > 0) Fail(job);
    }
  }

  void EditRule() {
    rule_.reset();
    if (!random_.OneIn(8)) rule_ = Rules()[random_.Below(Rules().size())];
    RaiseBounds();
  }

  void Submit() {
    static constexpr std::array<const char*, 6> kGroups = {"p", "p", "p", "d", "d", "x"};
    if (jobs_.size() == kMostJobs) return;
    const std::string group = kGroups[random_.Below(kGroups.size())];
    Job& job = jobs_.emplace_back();
    job.need = needs_[group];
    job.seen = Since(Held(group + "-" + std::to_string(submitted_++)), now_);
  }

  void Delete() {
    if (!jobs_.empty())
      jobs_.erase(jobs_.begin() + static_cast<int64_t>(random_.Below(jobs_.size())));
  }

  // What it knew of its grants is gone; a new list of pods shows those that arrived.
  void RestartWatcher() {
    for (Job& job : jobs_) {
      See(job);
      job.seen.granted.reset();
      job.lost = false;
    }
    last_given_up_ = now_;
  }

  void StartSomewhere(Job& job) {
    if (random_.OneIn(2)) return;
    job.seen.phase = Phase::kStarting;
    Schedule(job);
    if (random_.OneIn(2)) Start(job);
  }

  Random& random_;
  Options options_;
  bool gang_ = true;
  bool faults_ = true;
  int64_t slots_ = 0;
  std::map<std::string, int64_t> needs_;
  std::optional<schemas::ScalingRule> rule_;
  std::map<std::string, int64_t> bounds_;  // of each group, the most that a rule allowed, or began
  std::vector<Job> jobs_;
  int64_t submitted_ = 0;
  Time now_ = kStart;
  std::optional<Time> last_given_up_;
  std::optional<Time> again_;
  std::optional<size_t> reached_;
  std::string broken_;
};

constexpr std::array<Rebalance, 3> kModes = {Rebalance::kOff, Rebalance::kObserve,
                                             Rebalance::kEnforce};

TEST(ScalingHistories, NeverMoreThanTheRulesAllow) {
  constexpr uint64_t kHistories = 95'000;
  for (uint64_t history = 0; history < kHistories; ++history) {
    Random random(history);
    Cluster cluster(random, kModes[history % kModes.size()]);
    for (int i = 0; i < 6; ++i) {
      cluster.Happen();
      if (random.Below(3) > 0) cluster.Act();
    }
    ASSERT_EQ(cluster.broken(), "") << "history " << history;
  }
}

// A change of phase, room or time for each instance and shape, and some to look again.
TEST(ScalingHistories, WhenNothingBreaksAnyMoreTheBestShapeRuns) {
  constexpr uint64_t kHistories = 5'000;
  size_t most_rounds = 0;
  for (uint64_t history = 0; history < kHistories; ++history) {
    Random random(1'000'000 + history);
    Cluster cluster(random, kModes[history % kModes.size()]);
    for (int i = 0; i < 20; ++i) {
      cluster.Happen();
      cluster.Act();
    }
    most_rounds = std::max(most_rounds, cluster.Settle());
    ASSERT_EQ(cluster.broken(), "") << "history " << history;
    ASSERT_TRUE(cluster.IsBest()) << "history " << history;
  }
  EXPECT_LT(most_rounds, 60u);
}

}  // namespace
}  // namespace mindgate::testing
