#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "watcher/rescheduling_direct.h"

// What has changed between a decision and the step that cannot be undone.
namespace mindgate::watcher::rescheduling {
namespace {

using mindgate::testing::Eventually;
namespace resources = kube::resources;

// The watch is late: the pod was replaced by somebody else.
TEST(ReschedulingFreshLook, APodThatWasReplacedIsNotDeleted) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  const auto gate = cluster.server.Hold({.method = "GET", .target_part = "/pods/train-3"});
  cluster.PutNode("n3", false);
  ASSERT_TRUE(gate->WaitUntilHeld());
  cluster.server.Remove(resources::kPods, kNs, "train-3");
  cluster.PutPod("train", "train-3", "n2", kPodLabels);
  const uint64_t looks = replica.controller.counts().looks;
  gate->Release();
  EXPECT_TRUE(Eventually([&] { return replica.controller.counts().looks > looks; }));
  EXPECT_FALSE(cluster.Pod("train-3").is_null());
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
  EXPECT_EQ(cluster.Kept().dump().find("restart"), std::string::npos) << cluster.Kept();
}

// The plugin acts in the same moment: that is no failure, and nothing is told of it.
TEST(ReschedulingFreshLook, APodThatSomebodyElseDeletesIsDone) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  const auto gate = cluster.server.Hold(kDeletes);
  cluster.PutNode("n3", false);
  ASSERT_TRUE(gate->WaitUntilHeld());
  cluster.server.Remove(resources::kPods, kNs, "train-3");
  cluster.PutPod("train", "train-3", "n2", kPodLabels);
  gate->Release();
  EXPECT_TRUE(Eventually([&] { return replica.controller.counts().restarts == 1; }));
  EXPECT_FALSE(cluster.Pod("train-3").is_null());
  EXPECT_EQ(replica.controller.counts().failed, 0U);
  EXPECT_EQ(replica.Told("train"), std::vector<std::string>());
}

// The chip may be healthy again: the watch of the reports is late.
TEST(ReschedulingFreshLook, NothingGoesByAReportThatIsOutdated) {
  Direct direct;
  direct.cluster.PutJob("train", kPodLabels);
  direct.reported["n3"].devices.unhealthy = {"Ascend910-0"};
  const auto version = [&] {
    return direct.cluster.server
        .Find(resources::kConfigMaps, "mindx-dl",
              "cluster-info-device-0")["metadata"]["resourceVersion"]
        .get<std::string>();
  };
  using Reports = std::vector<faults::ReportVersion>;
  direct.reports["n3"] = Reports{{"mindx-dl", "cluster-info-device-0", version()}};
  direct.cluster.ReportChips({{"n2", "Ascend910-1"}});
  const ReconcileResult late = direct.Look("train", {});
  EXPECT_EQ(direct.Deletes(), 0U);
  EXPECT_EQ(late.requeue_after, std::chrono::seconds(1));
  EXPECT_FALSE(late.failed);
  direct.reports["n3"] = std::nullopt;  // told since the decision
  EXPECT_EQ(direct.Look("train", {}).requeue_after, std::chrono::seconds(1));
  EXPECT_EQ(direct.Deletes(), 0U);
  direct.reports["n3"] = Reports{{"mindx-dl", "cluster-info-device-0", version()}};
  direct.cluster.server.ForgetRequests();
  direct.Look("train", {});
  EXPECT_EQ(direct.Deletes(), 1U) << direct.told.last();
  EXPECT_EQ(direct.cluster.server.Count({.target_part = "/namespaces/mindx-dl/configmaps?"}), 1U)
      << "asked for once, and by its name";
}

TEST(ReschedulingFreshLook, AReportThatIsGoneOrUnreadableTakesNobody) {
  Direct direct;
  direct.cluster.PutJob("train", kPodLabels);
  direct.reported["n3"].devices.unhealthy = {"Ascend910-0"};
  direct.reports["n3"] =
      std::vector<faults::ReportVersion>{{"kube-system", "mindx-dl-deviceinfo-n3", "7"}};
  EXPECT_FALSE(direct.Look("train", {}).failed);
  EXPECT_EQ(direct.Deletes(), 0U);
  direct.cluster.server.Forbid("list", "configmaps");
  EXPECT_TRUE(direct.Look("train", {}).failed);
  EXPECT_EQ(direct.Deletes(), 0U);
  // It has no part in a fault of the pod itself.
  direct.reports["n2"] = direct.reports["n3"];
  direct.reported.clear();
  direct.Look("train", {"n2"});
  direct.cluster.PutNode("n2", false);
  direct.Look("train", {"n2"});
  EXPECT_EQ(direct.Deletes(), 1U) << direct.told.last();
}

// The watch of pods is ahead of the one of nodes: the pod runs on a node that has just joined.
TEST(ReschedulingFreshLook, ANodeThatOnlyTheWatchDoesNotKnowIsHealthy) {
  Direct direct;
  direct.cluster.PutJob("train", kForceLabel);
  const ReconcileResult result = direct.Look("train", {"n3"});
  EXPECT_EQ(direct.Deletes(), 0U);
  EXPECT_TRUE(result.requeue_after);
  direct.cluster.server.Remove(resources::kNodes, "", "n3");  // now it is gone indeed
  direct.Look("train", {"n3"});
  EXPECT_EQ(direct.cluster.Pods("train"), PodNames{});
}

// Of two nodes that the watch calls not Ready, one is Ready again: the pods there stay.
TEST(ReschedulingFreshLook, OnlyPodsOfNodesThatAreStillNotReadyGo) {
  Direct direct;
  direct.cluster.PutJob("train", kPodLabels);
  direct.cluster.PutNode("n3", false);
  direct.Look("train", {"n2", "n3"});
  EXPECT_EQ(direct.cluster.Pods("train"), (PodNames{"train-0", "train-1", "train-2"}));
}

// What cannot be read is not known to be faulty.
TEST(ReschedulingFreshLook, ANodeThatCannotBeReadHoldsTheRestart) {
  Direct direct;
  direct.cluster.PutJob("train", kPodLabels);
  direct.cluster.PutNode("n3", false);
  direct.cluster.server.Forbid("get", "nodes");
  EXPECT_TRUE(direct.Look("train", {"n3"}).failed);
  EXPECT_EQ(direct.Deletes(), 0U);
}

// A wider restart is about pods that did not come back: the watch may not have seen them yet.
TEST(ReschedulingFreshLook, AJobThatIsCompleteByNowIsNotRestartedWider) {
  Direct direct;
  direct.settings.escalate_after = std::chrono::seconds(6);
  direct.cluster.PutJob("train", kPodLabels);
  direct.cluster.PutNode("n3", false);
  direct.Look("train", {"n3"});
  ASSERT_EQ(direct.Deletes(), 1U);
  direct.cluster.PutPod("train", "train-3", "", kPodLabels);
  const Job late = direct.JobNow("train");
  direct.Look("train", late, {});
  direct.cluster.PutPod("train", "train-3", "n2", kPodLabels);
  direct.cluster.clock.Advance(std::chrono::seconds(30));
  direct.Look("train", late, {});
  EXPECT_EQ(direct.Deletes(), 1U);
}

// Its budget is for the restarts that happen.
TEST(ReschedulingFreshLook, ARestartThatIsNotBegunCostsNothing) {
  Direct direct;
  direct.settings.restarts_per_minute = 2;  // of which one namespace gets one
  direct.cluster.PutJob("train", kForceLabel);
  for (int i = 0; i < 5; ++i) direct.Look("train", {"n3"});
  direct.cluster.PutNode("n3", false);
  direct.cluster.server.Forbid("patch", "configmaps");
  for (int i = 0; i < 5; ++i) direct.Look("train", {"n3"});
  ASSERT_EQ(direct.Deletes(), 0U);
  direct.cluster.server.AllowAll();
  direct.Look("train", {"n3"});
  EXPECT_EQ(direct.Deletes(), 4U) << direct.told.last();
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
