#include "watcher/rescheduling/policy.h"

#include <gtest/gtest.h>

#include <utility>

#include "watcher/rescheduling_policies.h"

// What the labels and annotations of a job become.
namespace mindgate::watcher::rescheduling {
namespace {

// Any value but the five is worse than off, "" among them.
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

// The default is ignore, whatever else is written.
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

}  // namespace
}  // namespace mindgate::watcher::rescheduling
