#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "watcher/rescheduling_cluster.h"

// Faults, and what the controller does about them on an API server.
namespace mindgate::watcher::rescheduling {
namespace {

using kube::testing::StatusAnswer;
using kube::testing::When;
using mindgate::testing::Eventually;
using schemas::ReschedulingMode;
namespace resources = kube::resources;

const Json kForceLabel = {{"fault-scheduling", "force"}};
const Json kPodLabels = {{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}};
const When kDeletes = {.method = "DELETE", .target_part = "/pods/"};

std::string WriteUid(const Json& pod) { return pod["metadata"]["uid"].get<std::string>(); }

TEST(Rescheduling, AJobGoesWhenAChipOfItFails) {
  Cluster cluster;
  cluster.PutJob("train", kForceLabel);
  cluster.PutJob("other", kForceLabel, 2);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.ReportChips({{"n3", "Ascend910-0"}});
  EXPECT_TRUE(Eventually([&] { return cluster.Pods("train").empty(); }));
  EXPECT_EQ(cluster.Pods("other"), (Names{"other-0", "other-1"}));
  EXPECT_TRUE(replica.WaitTold("train", "restarted"));
  EXPECT_EQ(
      replica.LastReason("train"),
      "CardUnhealthy: train-0, train-1, train-2, train-3 deleted, as fault-scheduling is force");
}

// Grace period 0 and the pod's uid: no other pod of that name is met.
TEST(Rescheduling, ADeletionNamesThePodAndWaitsForNobody) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  const std::string uid = WriteUid(cluster.Pod("train-3"));
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  ASSERT_TRUE(Eventually([&] { return cluster.server.Count(kDeletes) > 0; }));
  const Json body = Json::parse(cluster.server.Requests(kDeletes).front().body);
  EXPECT_EQ(body["gracePeriodSeconds"], 0);
  EXPECT_EQ(body["preconditions"]["uid"], uid);
  EXPECT_EQ(cluster.Pods("train"), (Names{"train-0", "train-1", "train-2"}));
}

TEST(Rescheduling, ANodeThatIsGoneIsAsOneThatIsNotReady) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.server.Remove(resources::kNodes, "", "n1");
  EXPECT_TRUE(
      Eventually([&] { return cluster.Pods("train") == Names{"train-0", "train-2", "train-3"}; }));
}

TEST(Rescheduling, AFailedPodIsReplacedAndItsRetryWrittenDownFirst) {
  Cluster cluster;
  Json labels = kPodLabels;
  labels["fault-retry-times"] = "3";
  cluster.PutJob("train", labels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  Json pod = cluster.Pod("train-2");
  pod["status"]["phase"] = "Failed";
  cluster.server.Put(resources::kPods, pod);
  ASSERT_TRUE(Eventually([&] { return cluster.Pod("train-2").is_null(); }));
  const Json job = cluster.Kept()["jobs"][0];
  EXPECT_EQ(job["podGroup"], "train");
  EXPECT_EQ(job["retriesUsed"], 1);
  EXPECT_EQ(job["restart"]["reason"], "pod-failed");
}

// What cannot be written down is not done: the next leader would not know of it.
TEST(Rescheduling, NothingIsDoneBeforeItIsWrittenDown) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.server.Forbid("patch", "configmaps");
  cluster.PutNode("n3", false);
  const When writes = {.method = "PATCH", .target_part = "mindgate-rescheduling"};
  ASSERT_TRUE(cluster.server.WaitForRequests(writes, 2));
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
  cluster.server.AllowAll();
  EXPECT_TRUE(Eventually([&] { return cluster.Pod("train-3").is_null(); }));
}

TEST(Rescheduling, ADeletionThatFailsIsTriedAgain) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  cluster.server.AnswerNext(2, kDeletes, StatusAnswer(500, "InternalError", "no"));
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  EXPECT_TRUE(Eventually([&] { return cluster.Pod("train-3").is_null(); }));
  EXPECT_TRUE(replica.WaitTold("train", "restarted"));
  EXPECT_EQ(replica.Told("train"), std::vector<std::string>{"restarted"});
}

TEST(Rescheduling, ExternalPlatformsGetAMarkAndNothingElse) {
  Cluster cluster;
  cluster.PutJob("infer", {{"fault-scheduling", "external-force"}});
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  EXPECT_TRUE(Eventually([&] {
    const Json annotations = cluster.Pod("infer-3")["metadata"]["annotations"];
    return annotations.value("huawei.com/pod-status", "") == "Unhealthy-NodeUnhealthy";
  }));
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
  EXPECT_TRUE(replica.WaitTold("infer", "pods marked"));
}

// --- modes ---------------------------------------------------------------------------------------

TEST(ReschedulingModes, ObserveTellsAndWritesNothing) {
  for (const bool dry_run : {false, true}) {
    Cluster cluster;
    cluster.PutJob("train", kForceLabel);
    Replica replica(cluster, dry_run);
    if (!dry_run) replica.settings.mode = ReschedulingMode::kObserve;
    ASSERT_TRUE(replica.Start());
    cluster.PutNode("n3", false);
    EXPECT_TRUE(replica.WaitTold("train", "would be restarted"));
    EXPECT_EQ(replica.LastReason("train"),
              "NodeUnhealthy: train-0, train-1, train-2, train-3 would be deleted, as "
              "fault-scheduling is force");
    for (const auto& request : cluster.server.Requests()) {
      EXPECT_TRUE(request.method == "GET" || request.target.find("/events") != std::string::npos)
          << request.method << " " << request.target;
    }
  }
}

TEST(ReschedulingModes, TakeoverWaitsForOthers) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  replica.settings.mode = ReschedulingMode::kTakeover;
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  ASSERT_TRUE(replica.WaitTold("train", "restart waits"));
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
  cluster.clock.Advance(std::chrono::seconds(31));
  cluster.server.Put(resources::kPods, cluster.Pod("train-0"));  // a change, so that it looks
  EXPECT_TRUE(Eventually([&] { return cluster.Pod("train-3").is_null(); }));
}

// The plugin's own record, which names the job, although nothing is seen of it yet.
TEST(ReschedulingModes, TakeoverReadsWhatTheSchedulerRecorded) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  cluster.server.Put(
      resources::kConfigMaps,
      {{"metadata", {{"namespace", "mindx-dl"}, {"name", "job-reschedule-reason"}}},
       {"data",
        {{"recent-reschedule-records",
          Json({{"serving/train",
                 {{"JobID", "serving/train"},
                  {"TotalRescheduleTimes", 1},
                  {"RescheduleRecords",
                   {{{"LogFileFormatTime", "I0101 00:01:00"},
                     {"RescheduleTimeStamp", 1767225660},  // a minute after the test begins
                     {"ReasonOfTask", Json::array()}}}}}}})
              .dump()}}}});
  Replica replica(cluster);
  replica.settings.mode = ReschedulingMode::kTakeover;
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  ASSERT_TRUE(replica.WaitTold("train", "restart waits"));
  cluster.clock.Advance(std::chrono::seconds(40));
  cluster.server.Put(resources::kPods, cluster.Pod("train-0"));  // a change
  EXPECT_TRUE(cluster.server.WaitForRequests({.target_part = "job-reschedule-reason"}, 1));
  EXPECT_TRUE(Eventually([&] {
    return replica.LastReason("train") == "Volcano has time to act until 2026-01-01T00:01:30Z";
  }));
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
  cluster.clock.Advance(std::chrono::seconds(60));
  cluster.server.Put(resources::kPods, cluster.Pod("train-0"));
  EXPECT_TRUE(Eventually([&] { return cluster.Pod("train-3").is_null(); }));
}

// --- what keeps it from acting -------------------------------------------------------------------

TEST(ReschedulingBrakes, ANamespaceThatIsDisabled) {
  Cluster cluster;
  cluster.server.Put(
      resources::kNamespaces,
      {{"metadata", {{"name", kNs}, {"annotations", {{"mindgate.io/rescheduling", "disabled"}}}}}});
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  EXPECT_TRUE(replica.WaitTold("train", "restart waits"));
  EXPECT_EQ(replica.LastReason("train"),
            "fault-scheduling is force; it waits, because mindgate.io/rescheduling is disabled on "
            "namespace serving");
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
}

TEST(ReschedulingBrakes, APodGroupThatIsDisabled) {
  Cluster cluster;
  Json labels = kPodLabels;
  labels["mindgate.io/rescheduling"] = "disabled";
  cluster.PutJob("train", labels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  EXPECT_TRUE(replica.WaitTold("train", "not restarted"));
  EXPECT_EQ(replica.LastReason("train"), "mindgate.io/rescheduling is disabled on its PodGroup");
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
}

TEST(ReschedulingBrakes, ALeaseWithThePauseAnnotation) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  cluster.server.Put(resources::kLeases,
                     {{"metadata",
                       {{"namespace", "mindgate-system"},
                        {"name", "mindgate-watcher"},
                        {"annotations", {{"mindgate.io/pause-rescheduling", "true"}}}}}});
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  EXPECT_TRUE(replica.WaitTold("train", "restart waits"));
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
}

// More than a storm of faults it is a mistake, such as a network that is split.
TEST(ReschedulingBrakes, AStormOfFaultsStopsEverything) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.server.Forbid("delete", "pods");  // so that the first fault is still there
  for (const char* node : {"n1", "n2", "n3"}) cluster.PutNode(node, false);
  EXPECT_TRUE(Eventually([&] {
    return replica.LastReason("train").find(
               "3 of 4 nodes are faulty, which is more than maxFaultyNodes (60 %)") !=
           std::string::npos;
  }));
  std::vector<prometheus::MetricFamily> families;
  replica.controller.AddMetrics(families);
  for (const auto& family : families) {
    if (family.name == "mindgate_rescheduling_stopped") {
      EXPECT_EQ(family.metric.front().gauge.value, 1);
    }
  }
}

TEST(ReschedulingBrakes, ANamespaceGetsItsShareOfRestartsAMinute) {
  Cluster cluster;
  for (const char* group : {"a", "b", "c"}) cluster.PutJob(group, kPodLabels);
  Replica replica(cluster);
  replica.settings.restarts_per_minute = 4;  // of which one namespace gets half
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  const auto left = [&] {
    return cluster.Pods("a").size() + cluster.Pods("b").size() + cluster.Pods("c").size();
  };
  EXPECT_TRUE(Eventually([&] { return left() == 10; }));
  EXPECT_TRUE(Eventually([&] {
    size_t waiting = 0;
    for (const char* group : {"a", "b", "c"}) {
      waiting += replica.LastReason(group).find("share of namespace serving") != std::string::npos;
    }
    return waiting == 1;
  }));
  EXPECT_EQ(left(), 10U);
}

// --- what has changed meanwhile ------------------------------------------------------------------

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
  EXPECT_TRUE(cluster.Kept().is_null());
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

// --- isolation of nodes --------------------------------------------------------------------------

void ReportMachine(Cluster& cluster, const char* status) {
  const Json node = {{"FaultDevList", Json::array()}, {"NodeStatus", status}};
  cluster.server.Put(
      resources::kConfigMaps,
      {{"metadata",
        {{"namespace", "mindx-dl"},
         {"name", "cluster-info-node-cm"},
         {"labels", {{"mx-consumer-volcano", "true"}}}}},
       {"data", {{"cluster-info-node-cm", Json({{"mindx-dl-nodeinfo-n1", node}}).dump()}}}});
}

TEST(ReschedulingIsolation, AnUnhealthyNodeHasOurTaintUntilItIsHealthy) {
  Cluster cluster;
  Json node = cluster.server.Find(resources::kNodes, "", "n1");
  const Json foreign = {{"key", "maintenance"}, {"effect", "NoExecute"}};
  node["spec"]["taints"] = Json::array({foreign});
  cluster.server.Put(resources::kNodes, node);
  const auto taints = [&] {
    return cluster.server.Find(resources::kNodes, "", "n1")["spec"]["taints"];
  };
  const Json ours = {{"key", "mindgate.io/faulty"}, {"effect", "NoSchedule"}};
  Replica replica(cluster);
  replica.settings.isolate_nodes = true;
  ASSERT_TRUE(replica.Start());
  ReportMachine(cluster, "UnHealthy");
  EXPECT_TRUE(Eventually([&] { return taints() == Json::array({foreign, ours}); }));
  ReportMachine(cluster, "Healthy");
  EXPECT_TRUE(Eventually([&] { return taints() == Json::array({foreign}); }));
}

// What a leader before left is taken away.
TEST(ReschedulingIsolation, ATaintThatIsNoLongerWantedIsTakenAway) {
  Cluster cluster;
  Json node = cluster.server.Find(resources::kNodes, "", "n2");
  node["spec"]["taints"] = {{{"key", "mindgate.io/faulty"}, {"effect", "NoSchedule"}}};
  cluster.server.Put(resources::kNodes, node);
  Replica replica(cluster);
  replica.settings.isolate_nodes = true;
  ASSERT_TRUE(replica.Start());
  EXPECT_TRUE(Eventually([&] {
    const Json now = cluster.server.Find(resources::kNodes, "", "n2");
    return !now["spec"].contains("taints") || now["spec"]["taints"].empty();
  }));
}

TEST(ReschedulingIsolation, NothingIsTaintedUnlessItIsAskedFor) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  ReportMachine(cluster, "UnHealthy");
  EXPECT_TRUE(Eventually([&] { return cluster.Pod("train-1").is_null(); }));
  EXPECT_EQ(cluster.server.Count({.method = "PATCH", .target_part = "/nodes/"}), 0U);
}

// --- leaders -------------------------------------------------------------------------------------

TEST(ReschedulingLeaders, WhoDoesNotLeadDoesNothing) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  replica.leads = false;
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  cluster.PutNode("n2", false);
  replica.leads = true;
  replica.controller.EnqueueAll();
  EXPECT_TRUE(Eventually([&] { return cluster.Pods("train") == Names{"train-0", "train-1"}; }));
}

// Killed between the decision and the last deletion: the faulty pod, which goes last, tells the
// next leader.
TEST(ReschedulingLeaders, TheNextLeaderFinishesWhatWasBegun) {
  Cluster cluster;
  Json labels = kForceLabel;
  labels["fault-retry-times"] = "1";
  cluster.PutJob("train", labels);
  cluster.clock.Advance(std::chrono::minutes(1));  // its pods are not new
  {
    Replica first(cluster);
    ASSERT_TRUE(first.Start());
    cluster.server.AnswerNext(1000, {.method = "DELETE", .target_part = "/pods/train-1"},
                              StatusAnswer(500, "InternalError", "no"));
    Json pod = cluster.Pod("train-2");
    pod["status"]["phase"] = "Failed";
    cluster.server.Put(resources::kPods, pod);
    ASSERT_TRUE(Eventually([&] { return cluster.Pods("train") == Names{"train-1", "train-2"}; }));
  }
  Replica second(cluster);
  second.since = Time(std::chrono::seconds(1));
  cluster.server.ForgetRequests();
  ASSERT_TRUE(second.Start());
  EXPECT_TRUE(
      cluster.server.WaitForRequests({.method = "DELETE", .target_part = "/pods/train-1"}, 1));
  EXPECT_EQ(cluster.Kept()["jobs"][0]["retriesUsed"], 1);
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
