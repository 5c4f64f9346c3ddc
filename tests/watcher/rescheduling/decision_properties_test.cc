#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "watcher/rescheduling_world.h"

// What holds in any history of faults.
namespace mindgate::watcher::rescheduling {
namespace {

// --- the scope -----------------------------------------------------------------------------------

// Which pods MindCluster's plugin would let go, read off its table of scopes: from the labels as
// they are written and from what happened to the pods, and from nothing that the decision says of
// itself. Of its rules (mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go,
// isNormalTaskCanBeDelete, and job_v2.go): the count of sessions is a time here, 6 of them are
// escalateAfter.
class ScopeOracle {
 public:
  ScopeOracle(Map labels, Map annotations)
      : labels_(std::move(labels)), annotations_(std::move(annotations)) {}

  // Before each decision. What may go now is `allowed` from then on.
  void See(const World& world) {
    const std::vector<Task>& pods = world.job.tasks;
    std::vector<bool> faulty;
    for (const Task& pod : pods) faulty.push_back(IsFaulty(world, pod));
    const bool any = std::find(faulty.begin(), faulty.end(), true) != faulty.end();
    const bool gone = !Has(pods, acted_on_);
    const auto placed =
        std::count_if(pods.begin(), pods.end(), [](const Task& pod) { return !pod.node.empty(); });
    complete_ = !any && placed >= world.job.min_available;
    const bool pending = !any && gone && !complete_;
    if (pending && pending_since_) sessions_ += world.now - *pending_since_;
    pending_since_ = pending ? std::optional(world.now) : std::nullopt;
    if (complete_ && gone && !Has(pods, found_going_)) {
      sessions_ = seconds(0);
      blocks_.clear();
      acted_on_.clear();
      found_going_.clear();
      allowed_.clear();
    }
    for (size_t i = 0; i < pods.size(); ++i) {
      if (!faulty[i]) continue;
      if (pods[i].deletion_time) found_going_.insert(pods[i].uid);
      for (const std::string& block : BlocksOf(pods[i])) blocks_.insert(block);
    }
    const bool widens = Is("pod-rescheduling", "on") || RecoversByRack();
    if (!any && !(widens && pending)) return;
    const bool master = MasterGoes(pods, faulty);
    for (size_t i = 0; i < pods.size(); ++i) {
      if (MayGo(pods[i], faulty[i], master)) allowed_.insert(pods[i].uid);
    }
  }
  void Acted(const std::string& uid) { acted_on_.insert(uid); }

  bool Allows(const std::string& uid) const { return allowed_.contains(uid); }
  bool complete() const { return complete_; }

 private:
  bool Is(const std::string& label, const std::string& value) const {
    const auto found = labels_.find(label);
    return found != labels_.end() && found->second == value;
  }

  static bool Has(const std::vector<Task>& pods, const std::set<std::string>& uids) {
    return std::any_of(pods.begin(), pods.end(),
                       [&](const Task& pod) { return uids.contains(pod.uid); });
  }

  bool HasRackPolicy() const {
    return annotations_.contains("huawei.com/schedule_policy");  // it is always the same
  }
  bool RecoversByRack() const { return Is("process-recover-enable", "on") && HasRackPolicy(); }

  bool IsFaulty(const World& world, const Task& pod) const {
    if (pod.node.empty()) return false;
    const auto node = world.faults.find(pod.node);
    if (node != world.faults.end() && !node->second.devices.unhealthy.empty()) return true;
    const auto retries = labels_.find("fault-retry-times");
    const bool counts = retries != labels_.end() && retries->second != "0";
    return world.not_ready.contains(pod.node) || (pod.failed && counts);
  }

  // "rack 1", "super pod 0": what the pod shares with others.
  std::set<std::string> BlocksOf(const Task& pod) const {
    std::set<std::string> blocks;
    const auto rack = annotations_.find("ra-block");
    if (rack != annotations_.end() && !pod.rank.empty()) {
      blocks.insert("rack " + std::to_string(std::stoi(pod.rank) / (std::stoi(rack->second) / 8)));
    }
    if (pod.super_pod) blocks.insert("super pod " + std::to_string(*pod.super_pod));
    return blocks;
  }

  bool IsInBlock(const Task& pod) const {
    for (const std::string& block : BlocksOf(pod)) {
      if (!blocks_.contains(block)) continue;
      const bool is_rack = block.starts_with("rack");
      if (Is("process-recover-enable", "on") && !(is_rack && RecoversByRack())) continue;
      if (sessions_ >= seconds(is_rack ? 3 : 6)) return true;
    }
    return false;
  }

  bool MasterGoes(const std::vector<Task>& pods, const std::vector<bool>& faulty) const {
    for (size_t i = 0; i < pods.size(); ++i) {
      if (pods[i].rank != "0" || (pods[i].is_worker && !HasRackPolicy())) continue;
      const bool widens = Is("pod-rescheduling", "on") || RecoversByRack();
      if (faulty[i] || (widens && IsInBlock(pods[i]))) return true;
    }
    return false;
  }

  bool MayGo(const Task& pod, bool faulty, bool master) const {
    const auto path = annotations_.find("huawei.com/recover_policy_path");
    const bool only_pods =
        labels_.contains("ome.io/inferenceservice") || Is("app", "mindie-ms-controller") ||
        Is("app", "mindie-ms-coordinator") || (path != annotations_.end() && path->second == "pod");
    if (only_pods) return faulty;
    if (master || faulty) return true;
    if (Is("process-recover-enable", "on")) return IsInBlock(pod);
    return !Is("pod-rescheduling", "on") || sessions_ >= seconds(12) || IsInBlock(pod);
  }

  const Map labels_;
  const Map annotations_;
  std::set<std::string> blocks_;    // of all faults since the job was complete
  std::set<std::string> allowed_;   // UIDs of pods that may go, now or since an earlier look
  std::set<std::string> acted_on_;  // UIDs of pods that were deleted or evicted
  // Of faulty pods that somebody else deletes: a restart may wait for them, and force them.
  std::set<std::string> found_going_;
  seconds sessions_{0};  // that the job lacked pods although no deletion was under way
  std::optional<Time> pending_since_;
  bool complete_ = false;
};

// Eight pods, two to a rack block and four to a logical super pod, where the job has such.
struct BigJob : World {
  BigJob(const Map& labels, const Map& annotations, bool super_pods, bool workers)
      : World(labels, annotations), in_super_pods(super_pods), is_of_workers(workers) {
    for (int i = 0; i < 8; ++i) {
      PutRanked(i);
      task(i).created = kStart - std::chrono::hours(1);
    }
    job.min_available = 8;
  }
  void PutRanked(int i) {
    Put(i);
    task(i).rank = std::to_string(i);
    task(i).is_worker = is_of_workers;
    if (in_super_pods) task(i).super_pod = i / 4;
  }

  bool in_super_pods;
  bool is_of_workers;
};

struct AnyJob {
  Map labels;
  Map annotations;
};

AnyJob MakeAnyJob() {
  AnyJob made;
  Map& labels = made.labels;
  labels["fault-scheduling"] = *rc::gen::element<std::string>("force", "force", "grace");
  if (*rc::gen::inRange(0, 4) != 0) labels["pod-rescheduling"] = "on";
  if (*rc::gen::inRange(0, 4) == 0) labels["process-recover-enable"] = "on";
  if (*rc::gen::inRange(0, 6) == 0) labels["ome.io/inferenceservice"] = "chat";
  if (*rc::gen::inRange(0, 6) == 0) labels["app"] = "mindie-ms-coordinator";
  if (*rc::gen::arbitrary<bool>()) labels["fault-retry-times"] = "3";
  if (*rc::gen::inRange(0, 6) == 0) made.annotations["huawei.com/recover_policy_path"] = "pod";
  if (*rc::gen::arbitrary<bool>()) {
    made.annotations["huawei.com/schedule_policy"] = "chip8-node8-ra64-sp";
    made.annotations["ra-block"] = "16";
  }
  return made;
}

// One thing that happens: what, to which pod or node, and after how many seconds.
using Happening = std::tuple<int, int, int>;

void Happen(const Happening& happening, BigJob& world) {
  const auto& [what, where, after] = happening;
  world.now += seconds(after);
  Task& pod = world.task(where);
  switch (what) {
    case 0:
      world.BreakChip(where);
      break;
    case 1:
      world.not_ready = {"n" + std::to_string(where)};
      break;
    case 2:
      world.Repair();
      world.not_ready.clear();
      break;
    case 3:
      pod.failed = true;
      break;
    case 4:  // somebody else's doing
      if (!pod.deletion_time) pod.deletion_time = world.now + seconds(30);
      break;
    case 5:  // what was deleted is gone, and its replacement has a place
    case 6:  // or none
      for (int i = 0; i < 8; ++i) {
        if (!world.task(i).deletion_time) continue;
        world.PutRanked(i);
        if (what == 6 && i >= where) world.task(i).node.clear();
      }
      break;
    case 7:  // there is room again
      for (int i = 0; i < 8; ++i) world.task(i).node = "n" + std::to_string(i);
      break;
    case 8:
      world.Restart();
      break;
    default:
      break;
  }
  world.now += seconds(1);
}

// What the decisions about a job do in a history that they must not. Empty: nothing.
std::string BreachIn(const std::vector<Happening>& happenings, const AnyJob& made,
                     bool super_pods = false, bool workers = false) {
  BigJob world(made.labels, made.annotations, super_pods, workers);
  ScopeOracle oracle(made.labels, made.annotations);
  for (size_t at = 0; at < happenings.size(); ++at) {
    const std::string when = " after happening " + std::to_string(at);
    Happen(happenings[at], world);
    oracle.See(world);
    const Decision decision =
        Decide(world.job, {world.faults, world.not_ready}, world.state, world.options, world.now);
    world.state = decision.next;
    if (decision.step == Step::kAnnotate) return "pods are marked" + when;
    for (const size_t i : decision.tasks) {
      Task& pod = world.job.tasks.at(i);
      if (!oracle.Allows(pod.uid)) return pod.pod + " goes" + when + ": " + decision.why;
      oracle.Acted(pod.uid);
      if (!pod.deletion_time) pod.deletion_time = world.now + seconds(30);
      pod.forced = decision.step == Step::kDelete;
    }
    // A job that has what it needs loses nothing more; what went before may be finished.
    if (oracle.complete() && decision.counts_against_budget)
      return "a complete job is restarted" + when;
  }
  return "";
}

// Whatever happens, and whoever leads.
RC_GTEST_PROP(DecideScope, NoPodOutsideItIsEverDeleted, ()) {
  const AnyJob made = MakeAnyJob();
  const bool super_pods = *rc::gen::arbitrary<bool>();
  const bool workers = *rc::gen::arbitrary<bool>();
  const auto happenings = *rc::gen::container<std::vector<Happening>>(rc::gen::tuple(
      rc::gen::inRange(0, 10), rc::gen::inRange(0, 8), rc::gen::element(0, 0, 1, 2, 4, 11, 300)));
  RC_ASSERT(BreachIn(happenings, made, super_pods, workers) == "");
}

// Histories that were found once.
TEST(DecideScope, APodThatSomebodyDeletesBelongsToTheRestartThatFoundItFaulty) {
  const Map grace = {{"fault-scheduling", "grace"}, {"pod-rescheduling", "on"}};
  EXPECT_EQ(BreachIn({{4, 3, 4}, {0, 3, 0}, {2, 0, 1}, {9, 0, 300}, {9, 0, 300}, {9, 0, 300}},
                     {grace, {}}),
            "");
  const Map racks = {{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "16"}};
  EXPECT_EQ(BreachIn({{4, 6, 11}, {0, 6, 1}, {2, 0, 4}, {6, 0, 4}, {9, 0, 300}}, {grace, racks}),
            "");
}

TEST(DecideScope, NoTimeOfAFailedPodCountsAsTimeForItsReplacement) {
  const Map retried = {
      {"fault-scheduling", "force"}, {"pod-rescheduling", "on"}, {"fault-retry-times", "3"}};
  EXPECT_EQ(
      BreachIn({{3, 1, 0}, {3, 2, 1}, {3, 0, 0}, {6, 3, 2}, {3, 2, 0}, {4, 2, 2}, {5, 0, 300}},
               {retried, {}}),
      "");
}

// --- promises ------------------------------------------------------------------------------------

// Faults, repairs, replacements and failures at random. Whatever happens, what goes is a pod of the
// job that its labels allow to go; budgets are kept; and to decide again at once changes nothing.
RC_GTEST_PROP(DecideRestart, KeepsItsPromisesInAnyHistory, ()) {
  Map labels = {{"fault-scheduling", *rc::gen::element<std::string>("force", "grace", "off",
                                                                    "external-force", "Force")}};
  if (*rc::gen::arbitrary<bool>()) labels["pod-rescheduling"] = "on";
  const int64_t retries = *rc::gen::inRange<int64_t>(-1, 4);
  labels["fault-retry-times"] = std::to_string(retries);
  const bool only_faulty = *rc::gen::arbitrary<bool>();
  if (only_faulty) labels["ome.io/inferenceservice"] = "chat";
  World world(labels);
  if (*rc::gen::arbitrary<bool>()) world.options.takeover_after = seconds(30);
  const auto events = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 8), rc::gen::inRange(0, 4), rc::gen::inRange(0, 400)));
  for (const auto& [what, where, after] : events) {
    world.now += seconds(after);
    switch (what) {
      case 0:
        world.BreakChip(where);
        break;
      case 1:
        world.Repair();
        break;
      case 2:
        world.task(where).failed = true;
        break;
      case 3:
        world.Put(where);
        break;
      case 4:
        world.task(where).deletion_time = world.now;
        break;
      case 5:
        world.not_ready = {"n" + std::to_string(where)};
        break;
      case 6:
        world.Restart();
        break;
      default:
        break;
    }
    const Decision decision =
        Decide(world.job, {world.faults, world.not_ready}, world.state, world.options, world.now);
    const bool healthy = ReasonOf(decision.types) == FaultType::kHealthy;
    if (healthy && !world.state.restart) RC_ASSERT(decision.tasks.empty());
    if (labels["fault-scheduling"] == "off" || labels["fault-scheduling"] == "Force") {
      RC_ASSERT(decision.tasks.empty());
    }
    for (const size_t i : decision.tasks) {
      const Task& task = world.job.tasks.at(i);
      const bool faulty = decision.types.at(i) != FaultType::kHealthy;
      // What was faulty when it was chosen may have been repaired since.
      const bool chosen =
          decision.next.restart && decision.next.restart->targets.contains(task.uid);
      if (only_faulty) RC_ASSERT(faulty || chosen);
      if (decision.step != Step::kAnnotate) RC_ASSERT(chosen);
    }
    RC_ASSERT(decision.next.retries_used <= std::max<int64_t>(0, retries));
    RC_ASSERT(decision.next.retries_used >=
              (decision.next.uid == world.state.uid ? world.state.retries_used : 0));
    const Decision again =
        Decide(world.job, {world.faults, world.not_ready}, decision.next, world.options, world.now);
    RC_ASSERT(again.next == decision.next);
    RC_ASSERT(again.tasks == decision.tasks);
    if (decision.step != Step::kAnnotate) RC_ASSERT(!again.counts_against_budget);
    world.state = decision.next;
  }
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
