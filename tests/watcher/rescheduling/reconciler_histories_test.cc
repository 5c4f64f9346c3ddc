// Random histories of a cluster with faults and two replicas of the watcher, whose watches are
// late, whose clocks jump and whose calls fail. A checker reads what the API server is asked.
// A failure names its seed. MINDGATE_HISTORY_STEPS sets the number of steps of all histories.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include "watcher/history_world.h"

namespace mindgate::watcher::rescheduling::histories {
namespace {

// What the checker holds against a call. "late": what was set after the look began, but before what
// is about to be done was written down.
enum class Broken : uint8_t {
  kWithoutLease,
  kWithoutUid,
  kForeignPod,    // the pod is of no job, or of another one than was decided about
  kWithoutFault,  // nothing was wrong with the job
  kStopped,
  kPaused,
  kNamespace,
  kOwner,
  kPodGroup,
  kBudget,  // within one term
  kStoppedLate,
  kPausedLate,
  kNamespaceLate,
  kOwnerLate,
  kPodGroupLate,
  kPolicyLate,
  kPod,
  kBudgetAcrossLeaders,
};

constexpr std::array<const char*, 18> kBrokenNames = {
    "without the Lease",
    "without a uid",
    "on a foreign pod",
    "without a fault",
    "while too many nodes are faulty",
    "while paused",
    "in a namespace that opted out",
    "of an owner that opted out",
    "of a PodGroup that opted out",
    "beyond the budget",
    "while too many nodes are faulty, known since the look began",
    "while paused since the look began",
    "in a namespace that opted out since the look began",
    "of an owner that opted out since the look began",
    "of a PodGroup that opted out since the look began",
    "against the policy since the look began",
    "of a job with a pod that opted out",
    "beyond the budget, across leaders",
};

class Checker {
 public:
  struct Counts {
    uint64_t deletions = 0;
    uint64_t taints = 0;
    uint64_t restarts = 0;
  };

  void Watch(HistoryWorld& world) { world_ = &world; }
  // Empty: nothing that must hold was broken.
  const std::string& broken() const { return broken_; }
  const std::map<Broken, uint64_t>& all() const { return all_; }
  const Counts& counts() const { return counts_; }

  void Asked(const HistoryReplica& by, const kube::HttpCall& call) {
    const bool of_pod = call.path.find("/pods/") != std::string::npos;
    const bool deletes = call.method == "DELETE" && of_pod;
    const bool evicts = call.method == "POST" && of_pod &&
                        call.path.find("/eviction") != std::string::npos &&
                        call.path.find("dryRun=All") == std::string::npos;
    const bool taints = call.method == "PATCH" && call.path.find("/nodes/") != std::string::npos &&
                        call.body.find(schemas::kFaultyNode) != std::string::npos &&
                        call.body.find("\"add\"") != std::string::npos;
    if (!deletes && !evicts && !taints) return;
    call_ = &call;
    if (!world_->HasLease(by) || !by.leads()) Break(Broken::kWithoutLease);
    Check(world_->paused(), by, Broken::kPaused, Broken::kPausedLate);
    if (by.look.stopped) {
      Break(Broken::kStopped);
    } else if (by.look.stopped_late) {
      Break(Broken::kStoppedLate);
    }
    if (taints) {
      ++counts_.taints;
    } else {
      ++counts_.deletions;
      CheckPod(by);
    }
  }

 private:
  void Check(const Switch& off, const HistoryReplica& by, Broken early, Broken late) {
    if (off.IsOnBefore(by.look.began)) {
      Break(early);
    } else if (off.IsOnBefore(by.look.written)) {
      Break(late);
    }
  }

  void CheckPod(const HistoryReplica& by) {
    const size_t at = call_->path.find("/pods/") + 6;
    const std::string name = call_->path.substr(at, call_->path.find_first_of("/?", at) - at);
    const size_t dash = name.rfind('-');
    const auto body = json::Decode(call_->body);
    const std::string uid = body ? json::TextAt(*body, {"preconditions", "uid"}) : "";
    if (uid.empty()) Break(Broken::kWithoutUid);
    JobTruth& job = world_->JobNamed(name.substr(0, dash));
    if (by.look.job != JobKey{job.ns, job.name}) {
      Break(Broken::kForeignPod);
      return;
    }
    Check(world_->opted_out(job.ns), by, Broken::kNamespace, Broken::kNamespaceLate);
    Check(job.owner_opted_out, by, Broken::kOwner, Broken::kOwnerLate);
    Check(job.opted_out, by, Broken::kPodGroup, Broken::kPodGroupLate);
    Check(job.without_policy, by, Broken::kPolicyLate, Broken::kPolicyLate);
    // Pods are read once, before what is about to be done is written down.
    if (job.pod_opted_out.IsOnBefore(by.look.began)) Break(Broken::kPod);
    const auto& live = job.pods.at(static_cast<size_t>(std::stoi(name.substr(dash + 1))));
    // Where another one has its name by now, the precondition keeps that one.
    if (!live || live->uid != uid || job.restarting) return;
    if (!HasFault(by, job)) Break(Broken::kWithoutFault);
    job.restarting = true;
    CountRestart(by.term);
  }

  // Or had when the look began, or has as far as the late watch of reports knows.
  bool HasFault(const HistoryReplica& by, const JobTruth& job) const {
    return std::any_of(job.pods.begin(), job.pods.end(), [&](const auto& pod) {
      if (!pod || pod->node.empty() || pod->failed) return true;
      const NodeTruth& node = world_->NodeNamed(pod->node);
      return !node.IsHealthy() || node.healthy_since >= by.look.began || by.KnowsFaultOf(node.name);
    });
  }

  void CountRestart(uint64_t term) {
    ++counts_.restarts;
    if (std::exchange(term_, term) != term) in_term_.clear();
    const auto count = [&](std::deque<milliseconds>& restarts, Broken what) {
      while (!restarts.empty() && restarts.front() + seconds(60) <= world_->now()) {
        restarts.pop_front();
      }
      restarts.push_back(world_->now());
      if (std::ssize(restarts) > kRestartsPerMinute) Break(what);
    };
    count(in_term_, Broken::kBudget);
    count(of_all_, Broken::kBudgetAcrossLeaders);
  }

  void Break(Broken what) {
    ++all_[what];
    if (!broken_.empty()) return;
    broken_ = call_->method + " " + call_->path + " was asked " +
              kBrokenNames.at(static_cast<size_t>(what));
  }

  HistoryWorld* world_ = nullptr;
  const kube::HttpCall* call_ = nullptr;
  uint64_t term_ = 0;
  std::deque<milliseconds> in_term_;
  std::deque<milliseconds> of_all_;
  std::map<Broken, uint64_t> all_;
  std::string broken_;
  Counts counts_;
};

constexpr size_t kStepsOfOne = 4'000;

size_t Histories() {
  const char* wanted = std::getenv("MINDGATE_HISTORY_STEPS");
  const size_t steps = wanted == nullptr ? 60'000 : std::strtoull(wanted, nullptr, 10);
  return std::max<size_t>(1, steps / kStepsOfOne);
}

TEST(ReschedulingHistories, NoCallIsMadeThatMayNotBeMade) {
  const size_t histories = Histories();
  std::map<Broken, std::pair<uint64_t, uint64_t>> broken;  // how often, and the first seed
  HistoryWorld::Counts seen;
  Checker::Counts done;
  for (uint64_t seed = 1; seed <= histories; ++seed) {
    Checker checker;
    HistoryWorld world(seed, [&checker](const HistoryReplica& by, const kube::HttpCall& call) {
      checker.Asked(by, call);
    });
    checker.Watch(world);
    for (size_t step = 0; step < kStepsOfOne; ++step) {
      world.Step();
      ASSERT_EQ(checker.broken(), "") << "seed " << seed << ", step " << step;
    }
    for (const auto& [what, times] : checker.all()) {
      broken.try_emplace(what, 0, seed).first->second.first += times;
    }
    seen.looks += world.counts().looks;
    seen.stopped += world.counts().stopped;
    seen.terms += world.counts().terms;
    done.deletions += checker.counts().deletions;
    done.taints += checker.counts().taints;
    done.restarts += checker.counts().restarts;
  }
  for (const auto& [what, times] : broken) {
    std::cout << "does not hold yet: calls " << kBrokenNames.at(static_cast<size_t>(what)) << ", "
              << times.first << " times, first with seed " << times.second << "\n";
  }
  std::cout << seen.looks << " looks, " << seen.stopped << " of them with too many faulty nodes, "
            << seen.terms << " terms, " << done.restarts << " restarts, " << done.deletions
            << " deletions, " << done.taints << " taints\n";
  // That there was something to find.
  EXPECT_GT(seen.looks, histories * 100);
  EXPECT_GT(seen.stopped, histories);
  EXPECT_GT(seen.terms, histories * 2);
  EXPECT_GT(done.restarts, histories * 2);
  EXPECT_GT(done.deletions, done.restarts);
  EXPECT_GT(done.taints, 0u);
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling::histories
