#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "watcher/rescheduling/policy.h"
#include "watcher/rescheduling_policies.h"

// What MindCluster's plugin deletes of a job, by its policy and the faults of its pods.
namespace mindgate::watcher::rescheduling {
namespace {

using Map = JobMetadata::Map;

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

// Only a failed pod uses up retries; external-* does not ask for them.
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
    // Never more, whatever the documents say of a fallback.
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

// Also when a wider scope reaches it, and not for a replica of type worker.
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

// Only if all faulty tasks are sub-health.
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
