#include <gmock/gmock.h>

#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/scaling.h"

// Every state that small services can come to: what the watcher, the scheduler and the nodes may do
// and what may break, in any order. Then nothing breaks any more, and whatever the scheduler
// chooses, the service comes to the best shape that fits.
namespace mindgate::testing {
namespace {

using std::chrono::seconds;

constexpr int kModelSlots = 4;

enum class At : uint8_t {
  kHeld,
  kGranted,   // not seen in its pods yet
  kStarting,  // the scheduler has refused none of its pods
  kStuck,     // it has
  kRunning,
};

struct Job {
  At at = At::kHeld;
  int placed = 0;
  bool operator==(const Job&) const = default;
};

struct State {
  std::array<Job, 4> jobs;
  int slots = 0;
  size_t rule = 0;

  // Room for the fields above: at < 8, placed < 8, slots < 8.
  uint64_t Key() const {
    uint64_t key = rule * 8 + static_cast<uint64_t>(slots);
    for (const Job& job : jobs) {
      key = key * 64 + static_cast<uint64_t>(job.at) * 8 + static_cast<uint64_t>(job.placed);
    }
    return key;
  }
  int Used() const {
    int used = 0;
    for (const Job& job : jobs) used += job.placed;
    return used;
  }
};

struct Kind {
  std::string name;
  int need = 1;
};

struct Setting {
  std::string name;
  std::vector<std::string> rules;  // the second one, if any, may take the place of the first
  std::array<Kind, 4> jobs;
  bool gang = true;  // the scheduler places all pods of an instance or none
  bool newest_by_name = false;
};

class Model {
 public:
  Model(const Setting& setting, const Options& options) : setting_(setting), options_(options) {
    for (const std::string& rule : setting.rules) rules_.push_back(RuleOf(rule));
    for (const Kind& kind : setting.jobs) {
      Supply& supply = supplies_[Of(kind.name, Phase::kHeld).group];
      ++supply.instances;
      supply.need = kind.need;
    }
  }

  // From an empty cluster with all slots.
  void Explore() {
    State first;
    first.slots = kModelSlots;
    Visit(first);
    for (size_t i = 0; i < states_.size(); ++i) {
      const State state = states_[i];
      for (const State& next : Steps(state)) {
        const size_t to = Visit(next);
        next_[i].push_back(to);
      }
      for (const State& next : Faults(state)) Visit(next);
    }
  }

  size_t states() const { return states_.size(); }
  size_t steps() const {
    size_t sum = 0;
    for (const auto& next : next_) sum += next.size();
    return sum;
  }

  // States in which nothing can happen any more without a fault, and their shape is not the best.
  std::vector<std::string> FallShort() const {
    std::vector<std::string> short_of_it;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (!next_[i].empty()) continue;
      const State& state = states_[i];
      const Decision decision = DecideOn(state);
      if (decision.reached != BestShape(rules_[state.rule], supplies_, state.slots)) {
        short_of_it.push_back(Text(state));
      }
    }
    return short_of_it;
  }

  // The longest way that steps alone can take; nothing when they can go in a circle.
  std::optional<size_t> LongestWay() const {
    std::vector<size_t> incoming(states_.size());
    for (const auto& next : next_) {
      for (const size_t to : next) ++incoming[to];
    }
    std::vector<size_t> ready;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (incoming[i] == 0) ready.push_back(i);
    }
    std::vector<size_t> length(states_.size());
    size_t longest = 0;
    for (size_t done = 0; done < ready.size(); ++done) {
      const size_t from = ready[done];
      longest = std::max(longest, length[from]);
      for (const size_t to : next_[from]) {
        length[to] = std::max(length[to], length[from] + 1);
        if (--incoming[to] == 0) ready.push_back(to);
      }
    }
    if (ready.size() != states_.size()) return std::nullopt;
    return longest;
  }

  // Decisions after which a group had more than the shape wants and more than it had.
  size_t overshoots() const { return overshoots_; }

 private:
  size_t Visit(const State& state) {
    const auto [found, fresh] = index_.emplace(state.Key(), states_.size());
    if (fresh) {
      states_.push_back(state);
      next_.emplace_back();
    }
    return found->second;
  }

  // "p-0 running 1/1, d-0 stuck 0/2; 1 slot(s), rule 1"
  std::string Text(const State& state) const {
    static constexpr std::array<const char*, 5> kNames = {"held", "granted", "starting", "stuck",
                                                          "running"};
    std::string text;
    for (size_t i = 0; i < state.jobs.size(); ++i) {
      text += setting_.jobs[i].name + " " + kNames[static_cast<size_t>(state.jobs[i].at)] + " " +
              std::to_string(state.jobs[i].placed) + "/" + std::to_string(setting_.jobs[i].need) +
              (i + 1 < state.jobs.size() ? ", " : "; ");
    }
    return text + std::to_string(state.slots) + " slot(s), rule " + std::to_string(state.rule + 1);
  }

  // Whoever is stuck has been so for long enough, and nothing was given up lately.
  Decision DecideOn(const State& state) const {
    Service service{rules_[state.rule], "", {}};
    for (size_t i = 0; i < state.jobs.size(); ++i) {
      const Job& job = state.jobs[i];
      Instance instance = Held(setting_.jobs[i].name);
      const auto age = static_cast<int64_t>(setting_.newest_by_name ? 4 - i : i);
      instance.since = kStart - seconds(age);
      instance.placed = job.placed;
      if (job.at == At::kGranted) instance.granted = kStart;
      if (job.at == At::kStarting || job.at == At::kStuck) instance.phase = Phase::kStarting;
      if (job.at == At::kStuck) instance.unschedulable = kStart - options_.rebalance_after;
      if (job.at == At::kRunning) instance.phase = Phase::kRunning;
      if (job.at == At::kRunning) instance.ready = job.placed;
      service.instances.push_back(std::move(instance));
    }
    return Decide(service, options_, kStart);
  }

  size_t IndexOf(const std::string& name) const {
    size_t i = 0;
    while (setting_.jobs[i].name != name) ++i;
    return i;
  }

  State Watcher(const State& state) {
    State next = state;
    std::map<std::string, int64_t> before;
    for (size_t i = 0; i < state.jobs.size(); ++i) {
      if (state.jobs[i].at != At::kHeld) ++before[Held(setting_.jobs[i].name).group];
    }
    auto after = before;
    const Decision decision = DecideOn(state);
    for (const Outcome& outcome : decision.outcomes) {
      Job& job = next.jobs[IndexOf(outcome.instance)];
      if (outcome.verdict == Verdict::kGrant) {
        job.at = At::kGranted;
        ++after[outcome.group];
      } else if (outcome.verdict == Verdict::kGiveUp || outcome.verdict == Verdict::kWithdraw) {
        job = Job{};
      }
    }
    for (const auto& [group, number] : after) {
      const auto* wanted =
          decision.aim ? rules_[state.rule].tiers[*decision.aim].Find(group) : nullptr;
      const int64_t most = wanted == nullptr ? 0 : wanted->group_num;
      if (number > std::max(before[group], most)) ++overshoots_;
    }
    return next;
  }

  // What the scheduler may do with this one.
  std::optional<Job> Schedule(const State& state, size_t i) const {
    Job job = state.jobs[i];
    const int missing = setting_.jobs[i].need - job.placed;
    if (missing == 0) return std::nullopt;
    const int room = state.slots - state.Used();
    if (room >= (setting_.gang ? missing : 1)) {
      job.placed += setting_.gang ? missing : 1;
      if (job.placed == setting_.jobs[i].need) job.at = At::kStarting;
      return job;
    }
    if (job.at == At::kStuck) return std::nullopt;
    job.at = At::kStuck;
    return job;
  }

  // What happens without a fault: each step of the watcher, the scheduler and the nodes.
  std::vector<State> Steps(const State& state) {
    std::vector<State> steps;
    const State decided = Watcher(state);
    if (decided.Key() != state.Key()) steps.push_back(decided);
    for (size_t i = 0; i < state.jobs.size(); ++i) {
      const Job& job = state.jobs[i];
      const auto add = [&](const Job& changed) {
        steps.push_back(state);
        steps.back().jobs[i] = changed;
      };
      if (job.at == At::kGranted) add({At::kStarting, 0});
      if (job.at != At::kStarting && job.at != At::kStuck) continue;
      if (const auto scheduled = Schedule(state, i)) add(*scheduled);
      if (job.placed == setting_.jobs[i].need) add({At::kRunning, job.placed});
    }
    return steps;
  }

  // An instance fails, a grant is lost, a slot breaks or comes back, the rule is edited.
  std::vector<State> Faults(const State& state) const {
    std::vector<State> faults;
    for (size_t i = 0; i < state.jobs.size(); ++i) {
      if (state.jobs[i].at == At::kHeld) continue;
      faults.push_back(state);
      faults.back().jobs[i] = Job{};
    }
    if (state.slots < kModelSlots) {
      faults.push_back(state);
      ++faults.back().slots;
    }
    if (state.slots > 0) {
      State broken = state;
      --broken.slots;
      if (broken.Used() <= broken.slots) faults.push_back(broken);
      for (size_t i = 0; i < state.jobs.size(); ++i) {
        if (state.jobs[i].placed == 0) continue;
        faults.push_back(broken);
        faults.back().jobs[i] = Job{};
      }
    }
    if (rules_.size() > 1) {
      faults.push_back(state);
      faults.back().rule = 1 - state.rule;
    }
    return faults;
  }

  const Setting& setting_;
  Options options_;
  std::vector<schemas::ScalingRule> rules_;
  std::map<std::string, Supply> supplies_;
  std::vector<State> states_;
  std::unordered_map<uint64_t, size_t> index_;
  std::vector<std::vector<size_t>> next_;  // by step, of each state
  size_t overshoots_ = 0;
};

using Jobs = std::array<Kind, 4>;

Jobs ThreeAndOne(int p = 1, int d = 1) {
  return {Kind{"p-0", p}, Kind{"p-1", p}, Kind{"p-2", p}, Kind{"d-0", d}};
}
Jobs TwoAndTwo(int p = 1, int d = 1) {
  return {Kind{"p-0", p}, Kind{"p-1", p}, Kind{"d-0", d}, Kind{"d-1", d}};
}

std::vector<Setting> Settings() {
  return {
      {"growth by one of p", {"p=3 d=1 | p=2 d=1 | p=1 d=1"}, ThreeAndOne()},
      {"growth in turn", {"p=2 d=2 | p=2 d=1 | p=1 d=1"}, TwoAndTwo()},
      {"the newest by name", {"p=2 d=2 | p=2 d=1 | p=1 d=1"}, TwoAndTwo(), true, true},
      {"a step of several", {"p=3 d=1 | p=1 d=1 | p=1 d=0"}, ThreeAndOne()},
      {"a group that vanishes", {"p=2 d=2 | p=2 d=1 | p=1"}, TwoAndTwo()},
      {"d needs two slots", {"p=2 d=1 | p=1 d=1 | p=1 d=0"}, ThreeAndOne(1, 2)},
      {"d needs two slots, pod by pod", {"p=2 d=1 | p=1 d=1 | p=1 d=0"}, ThreeAndOne(1, 2), false},
      {"both need two slots, pod by pod", {"p=2 d=2 | p=1 d=1 | p=1 d=0"}, TwoAndTwo(2, 2), false},
      {"p needs two slots, pod by pod",
       {"p=2 d=2 | p=1 d=2 | p=1 d=1 | p=0 d=1"},
       TwoAndTwo(2, 1),
       false},
      {"d needs three slots, pod by pod, and the rule is edited",
       {"p=3 d=1 | p=1 d=1 | p=1 d=0", "p=2 d=1 | p=0 d=1"},
       ThreeAndOne(1, 3),
       false},
      {"the rule is edited", {"p=3 d=1 | p=2 d=1 | p=1 d=1", "p=1 d=1 | p=0 d=1"}, ThreeAndOne()},
      {"a group is taken out of the rule", {"p=2 d=2 | p=1 d=1", "d=2 | d=1"}, TwoAndTwo()},
  };
}

TEST(ScalingModel, FromEveryStateToTheBestShapeThatFits) {
  size_t states = 0;
  size_t steps = 0;
  for (const Setting& setting : Settings()) {
    SCOPED_TRACE(setting.name);
    Model model(setting, {.rebalance = EnforcementMode::kEnforce});
    model.Explore();
    EXPECT_EQ(model.overshoots(), 0u);
    EXPECT_THAT(model.FallShort(), ::testing::IsEmpty());
    const auto longest = model.LongestWay();
    EXPECT_TRUE(longest) << "steps can go in a circle";
    EXPECT_LT(longest.value_or(0), 60u);
    states += model.states();
    steps += model.steps();
  }
  RecordProperty("states", static_cast<int>(states));
  RecordProperty("steps", static_cast<int>(steps));
  EXPECT_GT(states, 25'000u);
  EXPECT_GT(steps, 50'000u);
}

constexpr const char* kGrowth = "p=3 d=1 | p=2 d=1 | p=1 d=1";

// That the test above has something to find.
TEST(ScalingModel, WithoutRebalancingSomeFallShort) {
  const Setting setting{"growth", {kGrowth}, ThreeAndOne()};
  Model model(setting, {.rebalance = EnforcementMode::kObserve});
  model.Explore();
  EXPECT_EQ(model.overshoots(), 0u);
  EXPECT_THAT(model.FallShort(),
              ::testing::Contains("p-0 running 1/1, p-1 running 1/1, p-2 held 0/1, d-0 stuck 0/1; "
                                  "2 slot(s), rule 1"));
  EXPECT_TRUE(model.LongestWay());
}

// Upstream's counts overshoot, and rebalancing repairs it: what the scheduler places as a gang
// comes to the best shape all the same.
TEST(ScalingModel, UpstreamCountsOvershoot) {
  size_t overshoots = 0;
  for (const Setting& setting : Settings()) {
    SCOPED_TRACE(setting.name);
    Model model(setting, {.upstream_counts = true, .rebalance = EnforcementMode::kEnforce});
    model.Explore();
    overshoots += model.overshoots();
    EXPECT_TRUE(model.LongestWay()) << "steps can go in a circle";
    if (setting.gang) {
      EXPECT_THAT(model.FallShort(), ::testing::IsEmpty());
    }
  }
  EXPECT_GT(overshoots, 0u);
}

}  // namespace
}  // namespace mindgate::testing
