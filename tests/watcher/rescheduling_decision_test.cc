#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "json/decode.h"
#include "watcher/rescheduling/decision.h"

// When which pods of a job go: what is done in one look, and what the next look makes of it.
namespace mindgate::watcher::rescheduling {
namespace {

using std::chrono::seconds;
using Map = JobMetadata::Map;
using Names = std::vector<std::string>;

constexpr Time kStart{std::chrono::sys_days{std::chrono::January / 1 / 2026}};

const Map kForce = {{"fault-scheduling", "force"}};
const Map kGrace = {{"fault-scheduling", "grace"}};
const Map kPods = {{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}};

// A job of four pods on four nodes, and who looks at it.
struct World {
  explicit World(const Map& labels, const Map& annotations = {}) {
    JobMetadata metadata;
    metadata.AddLabels(labels);
    metadata.AddAnnotations(annotations);
    job.uid = "g";
    job.started = true;
    job.min_available = 4;
    job.policy = metadata.Policy();
    for (int i = 0; i < 4; ++i) {
      Put(i);
      task(i).created = kStart - std::chrono::hours(1);
    }
  }

  Task& task(int i) { return job.tasks.at(static_cast<size_t>(i)); }

  // Another pod in the place of the i-th.
  void Put(int i) {
    const std::string number = std::to_string(i);
    const Task made{.pod = "p" + number,
                    .node = "n" + number,
                    .chips = {"Ascend910-0"},
                    .uid = "u" + number + "-" + std::to_string(++made_),
                    .created = now};
    if (static_cast<size_t>(i) < job.tasks.size()) {
      task(i) = made;
    } else {
      job.tasks.push_back(made);
    }
  }
  void BreakChip(int i) { faults["n" + std::to_string(i)].devices.unhealthy = {"Ascend910-0"}; }
  void Repair() { faults.clear(); }

  // What it does, with who it is done to.
  std::string Look() {
    const Decision decision = Decide(job, {faults, not_ready}, state, options, now);
    state = decision.next;
    requeue = decision.requeue_at ? std::optional(*decision.requeue_at - now) : std::nullopt;
    why = decision.why;
    begins = decision.begins;
    std::string text;
    switch (decision.step) {
      case Step::kNothing:
        return decision.waits ? "waits" : "nothing";
      case Step::kFails:
        return "fails";
      case Step::kDelete:
        text = "delete";
        break;
      case Step::kEvict:
        text = "evict";
        break;
      case Step::kAnnotate:
        text = "annotate";
        break;
    }
    for (const size_t i : decision.tasks) text += " " + job.tasks[i].pod;
    return text;
  }
  std::string LookAfter(seconds pause) {
    now += pause;
    return Look();
  }
  // Another watcher leads, and knows what was written down.
  void Restart() {
    const std::string text = Encode({{{"ns", "group"}, state}}, 10).dump();
    state = Decode(json::Document::Decode(text)->root())[{"ns", "group"}];
  }

  Job job;
  faults::FaultsByNode faults;
  std::set<std::string, std::less<>> not_ready;
  JobState state;
  DecisionOptions options;
  Time now = kStart;
  std::optional<seconds> requeue;
  std::string why;
  bool begins = false;

 private:
  int made_ = 0;
};

TEST(DecideRestart, AHealthyJobIsLeftAlone) {
  World world(kForce);
  EXPECT_EQ(world.Look(), "nothing");
  EXPECT_EQ(world.state, (JobState{.uid = "g"}));
}

// The faulty pod goes last: as long as it is there, a new leader finds the restart again.
TEST(DecideRestart, TheWholeJobGoesAndTheFaultyPodLast) {
  World world(kForce);
  world.BreakChip(1);
  EXPECT_EQ(world.Look(), "delete p0 p2 p3 p1");
  EXPECT_TRUE(world.begins);
}

TEST(DecideRestart, WithPodReschedulingOnlyTheFaultyPodGoes) {
  World world(kPods);
  world.BreakChip(1);
  EXPECT_EQ(world.Look(), "delete p1");
}

TEST(DecideRestart, WhatIsRepeatedIsTheSameAndBeginsNothing) {
  World world(kForce);
  world.BreakChip(1);
  world.Look();
  const JobState after = world.state;
  EXPECT_EQ(world.LookAfter(seconds(1)), "delete p0 p2 p3 p1");
  EXPECT_FALSE(world.begins);
  EXPECT_EQ(world.state, after);
}

// Not the pods that have come since.
TEST(DecideRestart, ItGoesOnWithThePodsThatItBeganWith) {
  World world(kForce);
  world.BreakChip(1);
  world.Look();
  world.now += seconds(1);
  world.Put(0);
  world.Put(2);
  EXPECT_EQ(world.Look(), "delete p3 p1");
}

TEST(DecideRestart, ItIsOverWhenTheJobHasThePodsThatItNeeds) {
  World world(kPods);
  world.BreakChip(1);
  world.Look();
  world.Repair();
  world.Put(1);
  EXPECT_EQ(world.Look(), "nothing");
  EXPECT_EQ(world.state.restart, std::nullopt);
  EXPECT_EQ(world.why, "it has all the pods that it needs");
}

TEST(DecideRestart, WhatAFinalizerKeepsIsNotDeletedAgain) {
  World world(kPods);
  world.BreakChip(1);
  world.Look();
  world.task(1).going = world.now;
  world.task(1).forced = true;
  EXPECT_EQ(world.Look(), "nothing");
  EXPECT_EQ(world.why, "its pods are going");
}

// The kubelet that should end it may be gone.
TEST(DecideRestart, APodThatIsGoingIsForced) {
  World world(kPods);
  world.not_ready = {"n1"};
  world.task(1).going = world.now + seconds(30);
  EXPECT_EQ(world.Look(), "delete p1");
}

TEST(DecideRestart, AnotherPodGroupOfThatNameBeginsAnew) {
  World world(Map{{"fault-scheduling", "force"}, {"fault-retry-times", "1"}});
  world.task(2).failed = true;
  EXPECT_EQ(world.Look(), "delete p0 p1 p3 p2");
  EXPECT_EQ(world.state.retries_used, 1);
  world.job.uid = "another";
  world.Repair();
  world.task(2).failed = false;
  EXPECT_EQ(world.Look(), "nothing");
  EXPECT_EQ(world.state, (JobState{.uid = "another"}));
}

TEST(DecideRestart, DisabledIsDisabledAlsoInTheMiddle) {
  World world(kForce);
  world.BreakChip(1);
  world.Look();
  world.job.disabled = "mindgate.io/rescheduling is disabled on its PodGroup";
  EXPECT_EQ(world.LookAfter(seconds(1)), "nothing");
  EXPECT_EQ(world.why, world.job.disabled);
}

TEST(DecideRestart, WhatWasBegunStopsWhenTheLabelSaysOff) {
  World world(kForce);
  world.BreakChip(1);
  world.Look();
  world.job.policy.fault_scheduling = FaultScheduling::kOff;
  EXPECT_EQ(world.LookAfter(seconds(1)), "nothing");
}

// --- grace ---------------------------------------------------------------------------------------

// Trap 29: 900 seconds by default from the beginning, and not at 900 but after.
TEST(DecideGrace, PodsEndByThemselvesUntilGraceOverTime) {
  World world(kGrace);
  world.BreakChip(1);
  EXPECT_EQ(world.Look(), "evict p0 p2 p3 p1");
  EXPECT_EQ(world.requeue, seconds(901));
  for (int i = 0; i < 4; ++i) world.task(i).going = world.now + seconds(30);
  EXPECT_EQ(world.LookAfter(seconds(900)), "nothing");
  EXPECT_EQ(world.why, "its pods are going");
  EXPECT_EQ(world.requeue, seconds(1));
  EXPECT_EQ(world.LookAfter(seconds(1)), "delete p0 p2 p3 p1");
  EXPECT_EQ(world.why, "its pods did not end within graceOverTime");
  EXPECT_FALSE(world.begins);
}

TEST(DecideGrace, TheClockSurvivesARestartOfTheWatcher) {
  World world(kGrace);
  world.BreakChip(1);
  world.Look();
  for (int i = 0; i < 4; ++i) world.task(i).going = world.now + seconds(30);
  world.now += seconds(890);
  world.Restart();
  EXPECT_EQ(world.Look(), "nothing");
  EXPECT_EQ(world.requeue, seconds(11));
  EXPECT_EQ(world.LookAfter(seconds(11)), "delete p0 p2 p3 p1");
}

TEST(DecideGrace, SubHealthFollowsItsOwnStrategy) {
  for (const auto& [strategy, want] :
       {std::pair("graceExit", "evict p1"), std::pair("forceExit", "delete p1"),
        std::pair("ignore", "nothing")}) {
    World world(Map{{"fault-scheduling", "force"},
                    {"pod-rescheduling", "on"},
                    {"subHealthyStrategy", strategy}});
    world.faults["n1"].switches.status = faults::NodeStatus::kSubHealthy;
    EXPECT_EQ(world.Look(), want) << strategy;
  }
}

// --- escalation ----------------------------------------------------------------------------------

// The plugin's 12 sessions (trap 28) are a time here.
TEST(DecideEscalation, APlainJobIsRestartedAsAWholeWhenItStaysIncomplete) {
  World world(kPods);
  world.BreakChip(1);
  world.Look();
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();  // no room
  EXPECT_EQ(world.Look(), "waits");
  EXPECT_EQ(world.requeue, seconds(12));
  EXPECT_EQ(world.LookAfter(seconds(11)), "waits");
  EXPECT_EQ(world.LookAfter(seconds(1)), "delete p0 p1 p2 p3");
  EXPECT_TRUE(world.begins);
}

TEST(DecideEscalation, LogicalSuperPodsComeFirst) {
  World world(kPods);
  for (int i = 0; i < 4; ++i) world.task(i).super_pod = i / 2;
  world.BreakChip(1);
  EXPECT_EQ(world.Look(), "delete p1");
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();
  EXPECT_EQ(world.Look(), "waits");
  EXPECT_EQ(world.requeue, seconds(6));
  EXPECT_EQ(world.LookAfter(seconds(6)), "delete p0");
  world.Put(0);
  world.task(0).node.clear();
  EXPECT_EQ(world.Look(), "waits");
  EXPECT_EQ(world.LookAfter(seconds(6)), "delete p0 p1 p2 p3");
}

TEST(DecideEscalation, ASuperPodWithRankZeroTakesTheWholeJob) {
  World world(kPods);
  for (int i = 0; i < 4; ++i) world.task(i).super_pod = i / 2;
  world.task(0).rank = "0";
  world.BreakChip(1);
  EXPECT_EQ(world.Look(), "delete p1");
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();
  world.Look();
  EXPECT_EQ(world.LookAfter(seconds(6)), "delete p0 p1 p2 p3");
}

// Trap 27: whatever the labels say, and for ever.
TEST(DecideEscalation, SomeJobsNeverLoseMoreThanTheirFaultyPods) {
  const std::vector<std::pair<Map, Map>> cases = {
      {{{"ome.io/inferenceservice", "chat"}}, {}},
      {{{"app", "mindie-ms-controller"}}, {}},
      {{}, {{"huawei.com/recover_policy_path", "pod"}}},
      {{{"process-recover-enable", "on"}}, {}},
  };
  for (auto [labels, annotations] : cases) {
    labels.insert(kPods.begin(), kPods.end());
    World world(labels, annotations);
    world.BreakChip(1);
    EXPECT_EQ(world.Look(), "delete p1");
    world.Repair();
    world.Put(1);
    world.task(1).node.clear();
    EXPECT_EQ(world.Look(), "nothing");
    EXPECT_EQ(world.LookAfter(seconds(3600)), "nothing");
  }
}

// What waits behind the gate of elastic scaling lacks no scope.
TEST(DecideEscalation, NotWhileAPodWaitsBehindAGate) {
  World world(kPods);
  world.BreakChip(1);
  world.Look();
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();
  world.task(1).gated = true;
  world.Look();
  EXPECT_EQ(world.LookAfter(seconds(3600)), "nothing");
}

TEST(DecideEscalation, ItGoesOnAfterARestartOfTheWatcher) {
  World world(kPods);
  world.BreakChip(1);
  world.Look();
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();
  world.Look();
  world.Restart();
  EXPECT_EQ(world.LookAfter(seconds(12)), "waits");  // its clock begins again
  EXPECT_EQ(world.LookAfter(seconds(12)), "delete p0 p1 p2 p3");
}

// --- retries -------------------------------------------------------------------------------------

// Trap 25: fault-scheduling alone restarts no failed pod.
TEST(DecideRetries, FailedPodsAreRestartedAsOftenAsTheLabelSays) {
  World none(kPods);
  none.task(2).failed = true;
  EXPECT_EQ(none.Look(), "nothing");

  World two(
      Map{{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}, {"fault-retry-times", "2"}});
  for (int i = 0; i < 2; ++i) {
    two.task(2).failed = true;
    EXPECT_EQ(two.LookAfter(kLongestPause), "delete p2") << i;
    EXPECT_EQ(two.Look(), "delete p2");  // the same restart
    two.Put(2);
    EXPECT_EQ(two.Look(), "nothing");
  }
  two.task(2).failed = true;
  EXPECT_EQ(two.LookAfter(kLongestPause), "fails");
  EXPECT_EQ(two.why, "fault-retry-times is used up");
  EXPECT_EQ(two.state.retries_used, 2);
}

// Trap 26: Volcano refills them when its scheduler restarts.
TEST(DecideRetries, ARestartOfTheWatcherRefillsNothing) {
  World world(
      Map{{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}, {"fault-retry-times", "1"}});
  world.task(2).failed = true;
  EXPECT_EQ(world.Look(), "delete p2");
  world.Restart();
  EXPECT_EQ(world.Look(), "delete p2");  // nobody knows whether it was done
  EXPECT_EQ(world.state.retries_used, 1);
  world.Put(2);
  world.Look();
  world.Restart();
  world.task(2).failed = true;
  EXPECT_EQ(world.LookAfter(kLongestPause), "fails");
}

// Trap 34: what cannot be restarted for one reason can be for another one.
TEST(DecideRetries, AFaultOfHardwareNeedsNoneAndIsSeenWhenTheyAreUsedUp) {
  World world(
      Map{{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}, {"fault-retry-times", "-1"}});
  world.task(2).failed = true;
  EXPECT_EQ(world.Look(), "fails");
  world.BreakChip(1);
  EXPECT_EQ(world.LookAfter(seconds(1)), "delete p1 p2");
  EXPECT_EQ(world.state.retries_used, 0);
}

// As the plugin; hardware is another matter (trap 34).
TEST(DecideRetries, PodsThatFailBeforeTheirJobHasRunAreLeftAlone) {
  World world(Map{{"fault-scheduling", "force"}, {"fault-retry-times", "3"}});
  world.job.started = false;
  world.task(2).failed = true;
  EXPECT_EQ(world.Look(), "nothing");
  EXPECT_EQ(world.why, "its PodGroup has not run yet");
  world.BreakChip(1);
  EXPECT_EQ(world.Look(), "delete p0 p3 p1 p2");
}

// --- restarts in vain ----------------------------------------------------------------------------

TEST(DecidePauses, WhatWasRestartedInVainIsRestartedAfterGrowingPauses) {
  World world(kPods);
  world.BreakChip(1);
  EXPECT_EQ(world.Look(), "delete p1");
  std::vector<int64_t> pauses;
  for (int i = 0; i < 7; ++i) {
    world.Put(1);  // on the node that is faulty
    EXPECT_EQ(world.Look(), "waits");
    pauses.push_back(world.requeue.value_or(seconds(0)).count());
    world.now += world.requeue.value_or(seconds(0));
    EXPECT_EQ(world.Look(), "delete p1");
  }
  EXPECT_EQ(pauses, (std::vector<int64_t>{10, 20, 40, 80, 160, 300, 300}));
}

// A rack that dies pod by pod.
TEST(DecidePauses, AnotherPodOfTheJobNeedNotWait) {
  World world(kPods);
  world.BreakChip(1);
  world.Look();
  world.now += seconds(1);
  world.BreakChip(2);
  EXPECT_EQ(world.Look(), "delete p1 p2");
  EXPECT_TRUE(world.begins);
}

// --- takeover ------------------------------------------------------------------------------------

struct Takeover : World {
  explicit Takeover(const Map& labels) : World(labels) { options.takeover_after = seconds(30); }
};

TEST(DecideTakeover, OthersHaveTimeToAct) {
  Takeover world(kPods);
  world.BreakChip(1);
  EXPECT_EQ(world.Look(), "waits");
  EXPECT_EQ(world.requeue, seconds(30));
  EXPECT_EQ(world.LookAfter(seconds(29)), "waits");
  EXPECT_EQ(world.LookAfter(seconds(1)), "delete p1");
}

TEST(DecideTakeover, NothingIsDoneWhenTheyDid) {
  Takeover world(kPods);
  world.BreakChip(1);
  world.Look();
  world.now += seconds(5);
  world.Repair();
  world.Put(1);
  EXPECT_EQ(world.LookAfter(seconds(30)), "nothing");
  EXPECT_EQ(world.state.restarted, std::nullopt);
}

// A deletion that is under way counts, and its grace period with it.
TEST(DecideTakeover, WhatIsBeingDeletedIsSeenTo) {
  Takeover world(kGrace);
  world.BreakChip(1);
  world.Look();
  for (int i = 0; i < 4; ++i) world.task(i).going = world.now + seconds(60);
  EXPECT_EQ(world.LookAfter(seconds(30)), "waits");
  EXPECT_EQ(world.LookAfter(seconds(59)), "waits");
  EXPECT_EQ(world.LookAfter(seconds(1)), "nothing");  // all of them are going
  EXPECT_EQ(world.LookAfter(seconds(901)), "delete p0 p2 p3 p1");
}

TEST(DecideTakeover, WhatTheSchedulerRecordedCounts) {
  Takeover world(kPods);
  world.BreakChip(1);
  world.Look();
  world.job.restarted_by_other = world.now + seconds(20);
  EXPECT_EQ(world.LookAfter(seconds(30)), "waits");
  EXPECT_EQ(world.LookAfter(seconds(20)), "delete p1");
}

// --- platforms that act by themselves ------------------------------------------------------------

TEST(DecideExternal, FaultyPodsAreMarkedOnce) {
  World world(Map{{"fault-scheduling", "external-grace"}});
  world.BreakChip(1);
  world.not_ready = {"n3"};
  EXPECT_EQ(world.Look(), "annotate p1 p3");
  world.task(1).pod_status = "Unhealthy-CardUnhealthy";
  EXPECT_EQ(world.Look(), "annotate p3");
  world.task(3).pod_status = "Unhealthy-NodeUnhealthy";
  EXPECT_EQ(world.Look(), "nothing");
  EXPECT_EQ(world.state.restart, std::nullopt);
}

// --- properties ----------------------------------------------------------------------------------

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
        world.task(where).going = world.now;
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
    if (decision.step != Step::kAnnotate) RC_ASSERT(!again.begins);
    world.state = decision.next;
  }
}

// --- what is kept --------------------------------------------------------------------------------

TEST(JobStates, AreReadAsTheyWereWritten) {
  JobState state{.uid = "g",
                 .retries_used = 2,
                 .retried_for = "u1",
                 .in_vain = 1,
                 .restarted = kStart,
                 .restart = Restart{.since = kStart,
                                    .reason = FaultType::kCardUnhealthy,
                                    .by_force = true,
                                    .escalation = Escalation::kSuperPods,
                                    .super_pods = {0, 3}}};
  const JobStates states = {{{"ns", "group"}, state}};
  const json::Json text = Encode(states, 10);
  EXPECT_EQ(text.dump(),
            R"({"jobs":[{"inVain":1,"namespace":"ns","podGroup":"group",)"
            R"("restart":{"force":true,"reason":"CardUnhealthy","scope":"superPods",)"
            R"("since":"2026-01-01T00:00:00Z","superPods":[0,3]},)"
            R"("restarted":"2026-01-01T00:00:00Z","retriedFor":"u1","retriesUsed":2,"uid":"g"}]})");
  EXPECT_EQ(Decode(json::Document::Decode(text.dump())->root()), states);
}

TEST(JobStates, WhatAPersonBrokeIsLeftOut) {
  for (const char* text :
       {"{}", "[]", R"({"jobs": 1})", R"({"jobs": [1, {}, {"namespace": "ns"}]})",
        R"({"jobs": [{"namespace": "ns", "podGroup": "g", "uid": ""}]})"}) {
    EXPECT_EQ(Decode(json::Document::Decode(text)->root()), JobStates()) << text;
  }
  const auto odd = json::Document::Decode(
      R"({"jobs": [{"namespace": "ns", "podGroup": "g", "uid": "u", "retriesUsed": -3,)"
      R"( "restart": {"since": "yesterday"}}]})");
  EXPECT_EQ(Decode(odd->root()), (JobStates{{{"ns", "g"}, {.uid = "u"}}}));
}

// Bounded, and what was restarted last stays.
TEST(JobStates, TheOldestGoWhenThereAreTooMany) {
  JobStates states;
  for (int i = 0; i < 5; ++i) {
    states[{"ns", "g" + std::to_string(i)}] = {.uid = "u", .restarted = kStart + seconds(i % 3)};
  }
  const JobStates kept = Decode(json::Document::Decode(Encode(states, 3).dump())->root());
  Names names;
  for (const auto& [job, state] : kept) names.push_back(job.pod_group);
  EXPECT_EQ(names.size(), 3U);
  EXPECT_TRUE(kept.contains({"ns", "g2"}));
  EXPECT_TRUE(kept.contains({"ns", "g1"}));
  EXPECT_TRUE(kept.contains({"ns", "g4"}));
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
