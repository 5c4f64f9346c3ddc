#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "watcher/rescheduling/response.h"

// What MindCluster's plugin does with the pods of a job when hardware or a pod fails: labels to a
// policy, each pod to a fault type, both to what is deleted.
namespace mindgate::watcher::rescheduling {
namespace {

using faults::FaultLevel;
using faults::NodeStatus;
using Map = JobMetadata::Map;

FaultPolicy PolicyOf(const Map& labels, const Map& annotations = {}) {
  JobMetadata metadata;
  metadata.AddLabels(labels);
  metadata.AddAnnotations(annotations);
  return metadata.Policy(true);
}

// --- labels --------------------------------------------------------------------------------------

// Any value but the five is worse than off (trap 24), "" among them.
TEST(FaultPolicy, FaultSchedulingIsComparedExactly) {
  const std::pair<const char*, FaultScheduling> cases[] = {
      {"force", FaultScheduling::kForce},
      {"grace", FaultScheduling::kGrace},
      {"external-force", FaultScheduling::kExternal},
      {"external-grace", FaultScheduling::kExternal},
      {"off", FaultScheduling::kOff},
      {"", FaultScheduling::kUnknown},
      {"Force", FaultScheduling::kUnknown},
      {"on", FaultScheduling::kUnknown},
  };
  for (const auto& [value, want] : cases) {
    EXPECT_EQ(PolicyOf({{"fault-scheduling", value}}).fault_scheduling, want) << value;
  }
  EXPECT_EQ(PolicyOf({}).fault_scheduling, FaultScheduling::kOff);
}

// The default is ignore (trap 31), whatever else is written.
TEST(FaultPolicy, SubHealthyStrategyIsIgnoreUnlessItIsOneOfThree) {
  const std::pair<const char*, SubHealthyStrategy> cases[] = {
      {"ignore", SubHealthyStrategy::kIgnore},       {"graceExit", SubHealthyStrategy::kGraceExit},
      {"forceExit", SubHealthyStrategy::kForceExit}, {"hotSwitch", SubHealthyStrategy::kHotSwitch},
      {"graceexit", SubHealthyStrategy::kIgnore},
  };
  for (const auto& [value, want] : cases) {
    EXPECT_EQ(PolicyOf({{"subHealthyStrategy", value}}).sub_healthy, want) << value;
  }
}

TEST(FaultPolicy, RetriesAreZeroUnlessTheyAreANumber) {
  const std::pair<const char*, int64_t> cases[] = {
      {"3", 3}, {"100000000", 100000000}, {"-1", -1}, {"", 0}, {"three", 0}, {"1.5", 0}};
  for (const auto& [value, want] : cases) {
    EXPECT_EQ(PolicyOf({{"fault-retry-times", value}}).retries, want) << value;
  }
}

// Trap 27 and 33: OME's pods, controllers and coordinators, and recover_policy_path pod alone.
TEST(FaultPolicy, WhichJobsLoseOnlyFaultyPods) {
  EXPECT_TRUE(PolicyOf({{"ome.io/inferenceservice", ""}}).only_faulty_pods);
  EXPECT_TRUE(PolicyOf({{"app", "mindie-ms-controller"}}).only_faulty_pods);
  EXPECT_TRUE(PolicyOf({{"app", "mindie-ms-coordinator"}}).only_faulty_pods);
  EXPECT_FALSE(PolicyOf({{"app", "mindie-ms-server"}}).only_faulty_pods);
  EXPECT_TRUE(PolicyOf({}, {{"huawei.com/recover_policy_path", "pod"}}).only_faulty_pods);
  for (const char* path : {"job", "pod,job", "", "Pod"}) {
    EXPECT_FALSE(PolicyOf({}, {{"huawei.com/recover_policy_path", path}}).only_faulty_pods) << path;
  }
}

// Labels of the PodGroup and of all pods are merged, and values that differ match nothing (trap
// 32): one pod of another spelling turns fault handling of the whole job into one that fails.
TEST(FaultPolicy, LabelsThatDifferMatchNothing) {
  JobMetadata metadata;
  metadata.AddLabels({{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}});
  metadata.AddLabels({{"fault-scheduling", "FORCE"}});
  EXPECT_EQ(metadata.Policy(true).fault_scheduling, FaultScheduling::kForce)
      << "the case is no matter";
  metadata.AddLabels({{"fault-scheduling", "grace"}, {"pod-rescheduling", "off"}});
  EXPECT_EQ(metadata.Policy(true).fault_scheduling, FaultScheduling::kUnknown);
  EXPECT_EQ(metadata.Policy(true).written, "force|grace");
  EXPECT_FALSE(metadata.Policy(true).pod_rescheduling);
}

TEST(FaultPolicy, ThePodGroupsAnnotationsWin) {
  JobMetadata metadata;
  metadata.AddAnnotations({{"huawei.com/recover_policy_path", "job"}});
  metadata.AddPodAnnotations({{"huawei.com/recover_policy_path", "pod"}});
  EXPECT_FALSE(metadata.Policy(true).only_faulty_pods);
}

// --- one task ------------------------------------------------------------------------------------

struct Cluster {
  faults::FaultsByNode nodes;
  std::set<std::string, std::less<>> not_ready;

  std::string TypeOf(const Task& task, const FaultPolicy& policy = {}) const {
    return std::string(FaultTypeName(Classify(task, policy, {nodes, not_ready})));
  }
};

Task On(const std::string& node, const std::string& chip = "") {
  Task task{.pod = "p", .node = node};
  if (!chip.empty()) task.chips = {chip};
  return task;
}

TEST(Classify, TheFirstThatIsSo) {
  Cluster cluster;
  cluster.nodes["noded"].machine.status = NodeStatus::kUnhealthy;
  cluster.nodes["switch"].switches.status = NodeStatus::kUnhealthy;
  cluster.nodes["pre"].machine.status = NodeStatus::kPreSeparate;
  cluster.nodes["chips"].devices.unhealthy = {"Ascend910-3"};
  cluster.nodes["chips"].devices.network_unhealthy = {"Ascend910-4"};
  cluster.nodes["chips"].devices.recovering = {"Ascend910-5"};
  cluster.nodes["slow"].devices.faults = {{"Ascend910-6", FaultLevel::kSubHealth, {}, {}}};
  cluster.nodes["slow-switch"].switches.status = NodeStatus::kSubHealthy;
  cluster.not_ready = {"lost", "noded"};
  const FaultPolicy plain = PolicyOf({{"fault-scheduling", "force"}});
  const FaultPolicy retries = PolicyOf({{"fault-scheduling", "force"}, {"fault-retry-times", "3"}});
  const FaultPolicy exits =
      PolicyOf({{"fault-scheduling", "force"}, {"subHealthyStrategy", "graceExit"}});
  EXPECT_EQ(cluster.TypeOf(On("")), "Healthy") << "not placed";
  EXPECT_EQ(cluster.TypeOf(On("other", "Ascend910-3")), "Healthy");
  EXPECT_EQ(cluster.TypeOf(On("noded")), "NodeUnhealthy") << "also without NPUs";
  EXPECT_EQ(cluster.TypeOf(On("switch")), "NodeUnhealthy");
  // PreSeparate is not a fault of what runs, nor is a network (trap 30).
  EXPECT_EQ(cluster.TypeOf(On("pre", "Ascend910-0")), "Healthy");
  EXPECT_EQ(cluster.TypeOf(On("chips", "Ascend910-3")), "CardUnhealthy");
  EXPECT_EQ(cluster.TypeOf(On("chips", "Ascend910-4")), "Healthy");
  EXPECT_EQ(cluster.TypeOf(On("chips", "Ascend910-5")), "Healthy");
  EXPECT_EQ(cluster.TypeOf(On("chips")), "Healthy") << "its chips are not known";
  EXPECT_EQ(cluster.TypeOf(On("lost", "Ascend910-0")), "NodeUnhealthy");
  // A failed pod is seen only where retries are counted (trap 25), whatever their number is.
  Task failed = On("other");
  failed.failed = true;
  EXPECT_EQ(cluster.TypeOf(failed, plain), "Healthy");
  EXPECT_EQ(cluster.TypeOf(failed, retries), "pod-failed");
  EXPECT_EQ(cluster.TypeOf(failed, PolicyOf({{"fault-retry-times", "-1"}})), "pod-failed");
  Task related = On("other");
  related.fault_type = "Separate";
  EXPECT_EQ(cluster.TypeOf(related), "RelationFault");
  related.failed = true;
  EXPECT_EQ(cluster.TypeOf(related, retries), "pod-failed");
  Task slow = On("other");
  slow.fault_type = "SubHealth";
  for (const Task& task : {On("slow", "Ascend910-6"), On("slow-switch"), slow}) {
    EXPECT_EQ(cluster.TypeOf(task, plain), "Healthy") << task.node;
    EXPECT_EQ(cluster.TypeOf(task, exits), "SubHealthFault") << task.node;
  }
  EXPECT_EQ(cluster.TypeOf(On("slow", "Ascend910-7"), exits), "Healthy") << "another chip";
  // A pod is switched only where another one waits for its place.
  const FaultPolicy switches = PolicyOf({{"subHealthyStrategy", "hotSwitch"}});
  EXPECT_EQ(cluster.TypeOf(slow, switches), "Healthy");
  slow.may_be_switched = true;
  EXPECT_EQ(cluster.TypeOf(slow, switches), "SubHealthFault");
}

TEST(ReasonOf, HardwareBeforeFailedPods) {
  using enum FaultType;
  EXPECT_EQ(ReasonOf({}), kHealthy);
  EXPECT_EQ(ReasonOf({kHealthy, kPodFailed}), kPodFailed);
  EXPECT_EQ(ReasonOf({kPodFailed, kSubHealthFault}), kSubHealthFault);
  EXPECT_EQ(ReasonOf({kPodFailed, kCardUnhealthy}), kCardUnhealthy);
  EXPECT_EQ(ReasonOf({kSubHealthFault, kRelationFault}), kRelationFault);
}

// --- a job ---------------------------------------------------------------------------------------

// Four pods "p0".."p3" with ranks, two to a logical super pod; the second one of them is faulty.
struct FourPods {
  std::vector<Task> tasks;
  std::vector<FaultType> types = std::vector<FaultType>(4, FaultType::kHealthy);

  explicit FourPods(FaultType type = FaultType::kCardUnhealthy, size_t faulty = 1) {
    for (int i = 0; i < 4; ++i) {
      tasks.push_back({.pod = "p" + std::to_string(i),
                       .node = "n" + std::to_string(i),
                       .chips = {"Ascend910-0"},
                       .rank = std::to_string(i)});
    }
    types[faulty] = type;
  }
  FourPods& InSuperPods() {
    for (size_t i = 0; i < tasks.size(); ++i) tasks[i].super_pod = static_cast<int64_t>(i / 2);
    return *this;
  }

  std::string Does(const Map& labels, Escalation escalation = Escalation::kFaultyPods,
                   const Map& annotations = {}, std::optional<int64_t> left = {}) const {
    const Response response =
        Respond(tasks, types, PolicyOf(labels, annotations), left, escalation);
    constexpr const char* kSteps[] = {"nothing", "delete", "evict", "annotate", "fails"};
    std::string text = kSteps[static_cast<int>(response.step)];
    for (const size_t i : response.tasks) text += " " + tasks[i].pod;
    return text;
  }
};

constexpr auto kFirst = Escalation::kFaultyPods;
constexpr auto kWider = Escalation::kSuperPods;
constexpr auto kAll = Escalation::kWholeJob;

TEST(Respond, ByFaultScheduling) {
  const FourPods job;
  EXPECT_EQ(job.Does({}), "nothing");
  EXPECT_EQ(job.Does({{"fault-scheduling", "off"}}), "nothing");
  EXPECT_EQ(job.Does({{"fault-scheduling", "Force"}}), "fails");
  EXPECT_EQ(job.Does({{"fault-scheduling", "force"}}), "delete p0 p1 p2 p3");
  EXPECT_EQ(job.Does({{"fault-scheduling", "grace"}}), "evict p0 p1 p2 p3");
  EXPECT_EQ(job.Does({{"fault-scheduling", "external-force"}}), "annotate p1");
  EXPECT_EQ(job.Does({{"fault-scheduling", "external-grace"}}), "annotate p1");
  EXPECT_EQ(job.Does({{"fault-scheduling", "force"}}, kFirst, {{"ProcessRecoverStrategy", "x"}}),
            "nothing");
  EXPECT_EQ(FourPods(FaultType::kHealthy).Does({{"fault-scheduling", "force"}}), "nothing");
}

// Only a failed pod uses up retries (trap 25); external-* does not ask for them.
TEST(Respond, RetriesAreForFailedPodsAlone) {
  const Map force = {{"fault-scheduling", "force"}, {"fault-retry-times", "2"}};
  const FourPods failed(FaultType::kPodFailed);
  EXPECT_EQ(failed.Does(force), "delete p0 p1 p2 p3");
  EXPECT_EQ(failed.Does(force, kFirst, {}, 1), "delete p0 p1 p2 p3");
  EXPECT_EQ(failed.Does(force, kFirst, {}, 0), "fails");
  EXPECT_EQ(failed.Does({{"fault-scheduling", "force"}, {"fault-retry-times", "-1"}}), "fails");
  EXPECT_EQ(failed.Does({{"fault-scheduling", "external-force"}}), "annotate p1");
  EXPECT_EQ(FourPods().Does(force, kFirst, {}, 0), "delete p0 p1 p2 p3");
}

TEST(Respond, TheScopeOfEachMode) {
  const Map pods = {{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}};
  const Map recover = {{"fault-scheduling", "force"}, {"process-recover-enable", "on"}};
  const Map limited = {{"fault-scheduling", "force"}, {"ome.io/inferenceservice", "chat"}};
  const FourPods plain;
  EXPECT_EQ(plain.Does(pods, kFirst), "delete p1");
  EXPECT_EQ(plain.Does(pods, kWider), "delete p1") << "it has no super pods";
  EXPECT_EQ(plain.Does(pods, kAll), "delete p0 p1 p2 p3");
  for (const auto escalation : {kFirst, kWider, kAll}) {
    EXPECT_EQ(plain.Does(recover, escalation), "delete p1");
    // Never more, whatever the documents say of a fallback (trap 27).
    EXPECT_EQ(plain.Does(limited, escalation), "delete p1");
  }
  const FourPods super_pods = FourPods(FaultType::kCardUnhealthy, 3).InSuperPods();
  EXPECT_EQ(super_pods.Does(pods, kFirst), "delete p3");
  EXPECT_EQ(super_pods.Does(pods, kWider), "delete p2 p3");
  EXPECT_EQ(super_pods.Does(pods, kAll), "delete p0 p1 p2 p3");
  const Map both = {
      {"fault-scheduling", "force"}, {"pod-rescheduling", "on"}, {"process-recover-enable", "on"}};
  EXPECT_EQ(super_pods.Does(both, kWider), "delete p3");
}

// Trap 28: also when a wider scope reaches it, and not for a replica of type worker.
TEST(Respond, AFaultOfRankZeroTakesTheWholeJob) {
  const Map pods = {{"fault-scheduling", "grace"}, {"pod-rescheduling", "on"}};
  FourPods first(FaultType::kCardUnhealthy, 0);
  EXPECT_EQ(first.Does(pods), "evict p0 p1 p2 p3");
  EXPECT_EQ(first.Does({{"fault-scheduling", "grace"}, {"app", "mindie-ms-controller"}}),
            "evict p0");
  first.tasks[0].is_worker = true;
  EXPECT_EQ(first.Does(pods), "evict p0");
  FourPods second = FourPods(FaultType::kCardUnhealthy, 1).InSuperPods();
  EXPECT_EQ(second.Does(pods, kFirst), "evict p1");
  EXPECT_EQ(second.Does(pods, kWider), "evict p0 p1 p2 p3");
}

// A launcher needs no chips of its own to be the master, if its job has some; policy
// chip8-node8-ra64-sp does not ask for the replica type.
TEST(Respond, WhoTheMasterIsDependsOnTheJob) {
  const Map racks = {{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}};
  const Map super_pods = {{"huawei.com/schedule_policy", "chip8-node8-sp"}};
  struct Case {
    bool job_asks_for_npus;
    Map annotations;
    const char* rank;
    bool is_worker;
    bool has_chips;
    bool is_master;
  };
  const Case cases[] = {
      {true, {}, "0", false, true, true},         {true, {}, "0", false, false, true},
      {true, {}, "0", true, true, false},         {true, {}, "1", false, true, false},
      {true, {}, "", false, true, false},         {false, {}, "0", false, false, false},
      {true, super_pods, "0", true, true, false}, {true, racks, "0", true, true, true},
      {true, racks, "0", false, false, true},     {true, racks, "1", false, true, false},
      {false, racks, "0", false, false, false},
  };
  for (const Case& each : cases) {
    JobMetadata metadata;
    metadata.AddAnnotations(each.annotations);
    Task task{.rank = each.rank, .is_worker = each.is_worker};
    if (each.has_chips) task.chips = {"Ascend910-0"};
    EXPECT_EQ(IsMaster(task, metadata.Policy(each.job_asks_for_npus)), each.is_master)
        << each.job_asks_for_npus << each.rank << each.is_worker << each.has_chips;
  }
}

// Two ranks to a block of 16 chips, and only where the policy makes such blocks.
TEST(Respond, ARackBlockIsMadeOfRanks) {
  const Map pods = {{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}};
  const Map racks = {{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "16"}};
  FourPods fourth(FaultType::kCardUnhealthy, 3);
  EXPECT_EQ(fourth.Does(pods, kFirst, racks), "delete p3");
  EXPECT_EQ(fourth.Does(pods, Escalation::kRacks, racks), "delete p2 p3");
  EXPECT_EQ(fourth.Does(pods, Escalation::kRacks, {{"ra-block", "16"}}), "delete p3");
  fourth.tasks[3].rank.clear();
  EXPECT_EQ(fourth.Does(pods, Escalation::kRacks, racks), "delete p3") << "it has no rank";
  const FourPods second(FaultType::kCardUnhealthy, 1);
  EXPECT_EQ(second.Does(pods, Escalation::kRacks, racks), "delete p0 p1 p2 p3") << "rank 0";
}

// With this policy alone a job that recovers its processes loses more than its faulty pods, and
// never more than their rack blocks.
TEST(Respond, AJobThatRecoversItsProcessesWidensToItsRackBlocks) {
  const Map recover = {{"fault-scheduling", "force"}, {"process-recover-enable", "on"}};
  const Map both = {
      {"fault-scheduling", "force"}, {"process-recover-enable", "on"}, {"pod-rescheduling", "on"}};
  const Map racks = {{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"}, {"ra-block", "16"}};
  const FourPods fourth = FourPods(FaultType::kCardUnhealthy, 3).InSuperPods();
  for (const Map& labels : {recover, both}) {
    EXPECT_EQ(fourth.Does(labels, kFirst, racks), "delete p3");
    for (const auto escalation : {Escalation::kRacks, kWider, kAll}) {
      EXPECT_EQ(fourth.Does(labels, escalation, racks), "delete p2 p3");
    }
    EXPECT_EQ(fourth.Does(labels, kAll, {{"ra-block", "16"}}), "delete p3") << "another policy";
    EXPECT_EQ(FourPods().Does(labels, Escalation::kRacks, racks), "delete p0 p1 p2 p3")
        << "rank 0 is in the block";
  }
  Map limited = recover;
  limited["huawei.com/recover_policy_path"] = "pod";
  limited["app"] = "mindie-ms-controller";
  EXPECT_EQ(fourth.Does(limited, kAll, racks), "delete p3");
}

// Those of level1 of schedule_policy multilevel; wider levels are the whole job.
TEST(Respond, ABlockOfTheFirstLevelIsASuperPod) {
  const Map pods = {{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}};
  const Map levels = {{"huawei.com/schedule_policy", "multilevel"},
                      {"huawei.com/affinity-config", "level1=2,level2=4"}};
  FourPods fourth = FourPods(FaultType::kCardUnhealthy, 3);
  EXPECT_EQ(fourth.Does(pods, kFirst, levels), "delete p3");
  EXPECT_EQ(fourth.Does(pods, Escalation::kRacks, levels), "delete p3");
  EXPECT_EQ(fourth.Does(pods, kWider, levels), "delete p2 p3");
  EXPECT_EQ(fourth.Does(pods, kAll, levels), "delete p0 p1 p2 p3");
  fourth.tasks[3].rank.clear();
  EXPECT_EQ(fourth.Does(pods, kWider, levels), "delete p3") << "it has no rank";
  EXPECT_EQ(FourPods(FaultType::kCardUnhealthy, 1).Does(pods, kWider, levels), "delete p0 p1 p2 p3")
      << "rank 0";
}

// Trap 31: only if all faulty tasks are sub-health.
TEST(Respond, SubHealthByItsOwnStrategy) {
  const auto labels = [](const char* strategy) {
    return Map{{"fault-scheduling", "grace"},
               {"pod-rescheduling", "on"},
               {"subHealthyStrategy", strategy}};
  };
  FourPods job(FaultType::kSubHealthFault);
  EXPECT_EQ(job.Does(labels("forceExit")), "delete p1");
  EXPECT_EQ(job.Does(labels("hotSwitch")), "delete p1");
  EXPECT_EQ(job.Does(labels("graceExit")), "evict p1");
  job.types[2] = FaultType::kCardUnhealthy;
  EXPECT_EQ(job.Does(labels("forceExit")), "evict p1 p2");
}

// --- properties ----------------------------------------------------------------------------------

rc::Gen<FaultType> AnyType() {
  return rc::gen::element(FaultType::kHealthy, FaultType::kHealthy, FaultType::kNodeUnhealthy,
                          FaultType::kCardUnhealthy, FaultType::kPodFailed,
                          FaultType::kRelationFault, FaultType::kSubHealthFault);
}

RC_GTEST_PROP(Respond, KeepsItsBounds, ()) {
  FourPods job;
  for (FaultType& type : job.types) type = *AnyType();
  if (*rc::gen::arbitrary<bool>()) job.InSuperPods();
  FaultPolicy policy;
  policy.fault_scheduling =
      *rc::gen::element(FaultScheduling::kOff, FaultScheduling::kForce, FaultScheduling::kGrace,
                        FaultScheduling::kExternal, FaultScheduling::kUnknown);
  policy.pod_rescheduling = *rc::gen::arbitrary<bool>();
  policy.process_recover = *rc::gen::arbitrary<bool>();
  policy.only_faulty_pods = *rc::gen::arbitrary<bool>();
  policy.retries = *rc::gen::inRange<int64_t>(-1, 3);
  const auto at = [&](Escalation escalation) {
    return Respond(job.tasks, job.types, policy, std::nullopt, escalation);
  };
  const auto faulty =
      static_cast<size_t>(std::count_if(job.types.begin(), job.types.end(), [](FaultType type) {
        return type != FaultType::kHealthy;
      }));
  Response before;
  for (const auto escalation : {kFirst, kWider, kAll}) {
    const Response now = at(escalation);
    RC_ASSERT(!now.why.empty());
    if (faulty == 0) RC_ASSERT(now.step == Step::kNothing);
    if (now.step == Step::kNothing || now.step == Step::kFails) RC_ASSERT(now.tasks.empty());
    if (policy.only_faulty_pods) RC_ASSERT(now.tasks.size() <= faulty);
    // What goes at first goes with a wider scope too, and what is faulty always.
    RC_ASSERT(std::includes(now.tasks.begin(), now.tasks.end(), before.tasks.begin(),
                            before.tasks.end()));
    if (!now.tasks.empty()) RC_ASSERT(now.tasks.size() >= faulty);
    before = now;
  }
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
