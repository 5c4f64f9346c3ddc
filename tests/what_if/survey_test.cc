// What a snapshot says of faults, and what they lead to: as the watcher counts them.
#include "what_if/survey.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/small_cluster.h"

namespace mindgate::what_if {
namespace {

using ::mindgate::testing::SmallCluster;
using watcher::rescheduling::FaultType;
using watcher::rescheduling::JobMetadata;
using watcher::rescheduling::MasterRule;

const JobMetadata::Map kForceLabels = {{"fault-scheduling", "force"}};
const JobMetadata::Map kPodLabels = {{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}};

// A snapshot keeps what decides about it.
TEST(SurveyTest, KnowsTheMasterOfAJob) {
  const json::Json racks = {{"huawei.com/schedule_policy", "chip8-node8-ra64-sp"},
                            {"ra-block", "16"}};
  const std::pair<json::Json, MasterRule> cases[] = {{json::Json::object(), MasterRule::kNoWorker},
                                                     {racks, MasterRule::kAnyReplica}};
  for (const auto& [annotations, want] : cases) {
    SmallCluster cluster;
    cluster.Node("n0", {{"status", {{"conditions", {{{"type", "Ready"}, {"status", "False"}}}}}}});
    cluster.Node("n1");
    cluster.Group("pg", "Job/train", 2, kPodLabels, annotations);
    cluster.Pod({.name = "launcher",
                 .node = "n0",
                 .group = "pg",
                 .owner = "Job/train",
                 .annotations = {{"hccl/rankIndex", "0"}}});
    cluster.Pod({.name = "worker", .node = "n1", .group = "pg", .owner = "Job/train", .npus = 8});
    cluster.pod_groups[0]["spec"]["minResources"] = {{"huawei.com/Ascend910", "8"}};
    const ClusterSnapshot snapshot = cluster.Snapshot();
    const Survey survey = SurveyOf(snapshot, FaultsIn(snapshot));
    ASSERT_EQ(survey.jobs.size(), 1U);
    EXPECT_EQ(survey.jobs[0].policy.master, want);
    EXPECT_EQ(survey.jobs[0].policy.rack_pods, want == MasterRule::kAnyReplica ? 2 : 0);
    EXPECT_EQ(survey.jobs[0].response.tasks, (std::vector<size_t>{0, 1}));
  }
}

TEST(SurveyTest, AVirtualNpuIsFaultyWithItsChip) {
  SmallCluster cluster;
  cluster.Node("n0");
  cluster.Devices("n0", {{"huawei.com/Ascend310P-Unhealthy", "Ascend310P-1"}});
  cluster.Group("pg", "ReplicaSet/chat-7d", 1, kForceLabels);
  for (const char* chip : {"1", "2"}) {
    cluster.Pod({.name = std::string("p") + chip,
                 .node = "n0",
                 .group = "pg",
                 .owner = "ReplicaSet/chat-7d",
                 .annotations = {
                     {"huawei.com/AscendReal", std::string("Ascend310P-1c-400-") + chip + "_0"}}});
  }
  const ClusterSnapshot snapshot = cluster.Snapshot();
  const Survey survey = SurveyOf(snapshot, FaultsIn(snapshot));
  ASSERT_EQ(survey.jobs.size(), 1U);
  EXPECT_EQ(survey.jobs[0].types,
            (std::vector<FaultType>{FaultType::kCardUnhealthy, FaultType::kHealthy}));
}

// NodeD writes a report only while something is wrong.
TEST(SurveyTest, ANodeWithoutAReportIsHealthyAndOneThatIsGoneIsNot) {
  SmallCluster cluster;
  cluster.Node("n0").Node(
      "n1", {{"status", {{"conditions", {{{"type", "Ready"}, {"status", "Unknown"}}}}}}});
  cluster.Group("pg", "Job/train", 2, {{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}});
  for (const char* number : {"0", "1", "2"}) {
    cluster.Pod({.name = std::string("w") + number,
                 .node = std::string("n") + number,
                 .chips = "0-7",
                 .group = "pg",
                 .owner = "Job/train"});
  }
  cluster.Pod({.name = "waits", .group = "pg", .owner = "Job/train", .npus = 8});
  // Its tenant wrote where it is; no scheduler did.
  cluster.Pod({.name = "free", .node = "n9", .status = {{"conditions", json::Json::array()}}});
  const ClusterSnapshot snapshot = cluster.Snapshot();
  const Survey survey = SurveyOf(snapshot, FaultsIn(snapshot));
  using NodeNames = std::set<std::string, std::less<>>;
  EXPECT_EQ(survey.not_ready, (NodeNames{"n1", "n2"}));
  EXPECT_EQ(survey.gone, (NodeNames{"n2"}));
  std::vector<std::string> on_faulty;
  for (const SurveyedPod& pod : survey.pods) on_faulty.push_back(pod.task.pod);
  EXPECT_EQ(on_faulty, (std::vector<std::string>{"w1", "w2"}));
  ASSERT_EQ(survey.jobs.size(), 1U);
  EXPECT_EQ(survey.jobs[0].response.tasks, (std::vector<size_t>{1, 2}));
}

}  // namespace
}  // namespace mindgate::what_if
