#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "watcher/rescheduling_cluster.h"
#include "watcher/rescheduling_direct.h"

// Faults, and what the controller does about them on an API server.
namespace mindgate::watcher::rescheduling {
namespace {

using kube::testing::StatusAnswer;
using kube::testing::When;
using mindgate::testing::Eventually;
using schemas::ReschedulingMode;
namespace resources = kube::resources;

std::string WriteUid(const Json& pod) { return pod["metadata"]["uid"].get<std::string>(); }

TEST(Rescheduling, AJobGoesWhenAChipOfItFails) {
  Cluster cluster;
  cluster.PutJob("train", kForceLabel);
  cluster.PutJob("other", kForceLabel, 2);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.ReportChips({{"n3", "Ascend910-0"}});
  EXPECT_TRUE(Eventually([&] { return cluster.Pods("train").empty(); }));
  EXPECT_EQ(cluster.Pods("other"), (PodNames{"other-0", "other-1"}));
  EXPECT_TRUE(replica.WaitReported("train", "restarted"));
  EXPECT_EQ(
      replica.LastReason("train"),
      "CardUnhealthy: train-0, train-1, train-2, train-3 deleted, as fault-scheduling is force");
}

// A job of four pods that needs three, on four nodes with an NPU each.
TEST(Rescheduling, HealthyPodsStayWhereNotAllFindAPlaceAgain) {
  for (const bool has_spare_node : {false, true}) {
    Cluster cluster;
    cluster.PutJob("train", kForceLabel);
    cluster.PutGroup("train", kForceLabel, 3);
    if (has_spare_node) cluster.PutNode("n4", true);
    for (int i = 0; i < (has_spare_node ? 5 : 4); ++i) {
      Json node = cluster.server.Find(resources::kNodes, "", "n" + std::to_string(i));
      for (const char* list : {"allocatable", "capacity"}) {
        node["status"][list] = {{"huawei.com/Ascend910", "1"}};
      }
      cluster.server.Put(resources::kNodes, node);
    }
    Replica replica(cluster);
    replica.settings.only_where_room = schemas::EnforcementMode::kEnforce;
    ASSERT_TRUE(replica.Start());
    cluster.ReportChips({{"n3", "Ascend910-0"}});
    ASSERT_TRUE(replica.WaitReported("train", "restarted"));
    EXPECT_EQ(cluster.Pods("train"),
              has_spare_node ? PodNames() : (PodNames{"train-0", "train-1", "train-2"}));
    EXPECT_EQ(replica.LastReason("train"),
              has_spare_node ? "CardUnhealthy: train-0, train-1, train-2, train-3 deleted, as "
                               "fault-scheduling is force"
                             : "CardUnhealthy: train-3 deleted, as fault-scheduling is force; its "
                               "other pods keep running, as there is no room for 4 pods with 1 NPU "
                               "each");
  }
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
  EXPECT_EQ(cluster.Pods("train"), (PodNames{"train-0", "train-1", "train-2"}));
}

// Without ClusterD, whose Node has the serial number is read from the Nodes, whenever it comes.
TEST(Rescheduling, APublicFaultMayNameTheServer) {
  Cluster cluster;
  cluster.server.Remove(resources::kConfigMaps, "mindx-dl", "cluster-info-device-0");
  cluster.PutJob("train", kPodLabels);
  const auto put_serial = [&](const std::string& node, const std::string& serial) {
    Json object = cluster.server.Find(resources::kNodes, "", node);
    object["metadata"]["annotations"] = {{"product-serial-number", serial}};
    cluster.server.Put(resources::kNodes, object);
  };
  put_serial("n2", "2102312");
  const Json fault = {
      {"faultId", "fault-01"},
      {"faultCode", "220001001"},
      {"faultTime", 1767225600000},
      {"assertion", "occur"},
      {"influence",
       {{{"nodeSN", "2102312"}, {"deviceIds", {0}}}, {{"nodeSN", "2102311"}, {"deviceIds", {0}}}}}};
  cluster.server.Put(resources::kConfigMaps,
                     {{"metadata",
                       {{"namespace", "kube-system"},
                        {"name", "ccae"},
                        {"labels", {{"mc-consumer-publicfault", "true"}}}}},
                      {"data", {{"PublicFault", Json({{"faults", {fault}}}).dump()}}}});
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  ASSERT_TRUE(Eventually(
      [&] { return cluster.Pods("train") == PodNames{"train-0", "train-1", "train-3"}; }));
  put_serial("n1", "2102311");
  EXPECT_TRUE(Eventually([&] { return cluster.Pods("train") == PodNames{"train-0", "train-3"}; }));
}

// Codes of level SeparateNPU of storage and of nodes, which MindCluster has since 26.1.
TEST(Rescheduling, APublicFaultThatSeparatesRestartsItsPodsWithoutClusterD) {
  Cluster cluster;
  cluster.server.Remove(resources::kConfigMaps, "mindx-dl", "cluster-info-device-0");
  cluster.PutJob("train", kPodLabels);
  const auto fault = [](const char* id, const char* code, const char* node) {
    return Json{{"faultId", id},
                {"faultCode", code},
                {"faultTime", 1767225600000},
                {"assertion", "occur"},
                {"influence", {{{"nodeName", node}, {"deviceIds", {0}}}}}};
  };
  const Json message = {
      {"faults",
       {fault("fault-01", "020001001", "n1"), fault("fault-02", "120001003", "n2"),
        // PreSeparateNPU: what runs is left alone.
        fault("fault-03", "110001022", "n3")}}};
  cluster.server.Put(resources::kConfigMaps, {{"metadata",
                                               {{"namespace", "kube-system"},
                                                {"name", "storage"},
                                                {"labels", {{"mc-consumer-publicfault", "true"}}}}},
                                              {"data", {{"PublicFault", message.dump()}}}});
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  EXPECT_TRUE(Eventually([&] { return cluster.Pods("train") == PodNames{"train-0", "train-3"}; }));
}

TEST(Rescheduling, ANodeThatIsGoneIsAsOneThatIsNotReady) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.server.Remove(resources::kNodes, "", "n1");
  EXPECT_TRUE(Eventually(
      [&] { return cluster.Pods("train") == PodNames{"train-0", "train-2", "train-3"}; }));
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
  EXPECT_TRUE(replica.WaitReported("train", "restarted"));
  EXPECT_EQ(replica.Reported("train"), std::vector<std::string>{"restarted"});
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
  EXPECT_TRUE(replica.WaitReported("infer", "pods marked"));
}

// Also not by a leader that finds the mark there.
TEST(Rescheduling, WhatIsMarkedIsNotReportedAsLeftAlone) {
  Direct direct;
  direct.cluster.PutJob("infer", {{"fault-scheduling", "external-force"}});
  direct.cluster.PutNode("n3", false);
  for (int i = 0; i < 2; ++i) direct.Reconcile("infer", {"n3"});
  direct.Restart();
  direct.Reconcile("infer", {"n3"});
  ASSERT_EQ(direct.decisions.records.size(), 1U) << direct.decisions.last();
  EXPECT_EQ(direct.decisions.records.front().kind, DecisionKind::kPodsMarked);
  EXPECT_EQ(direct.cluster.server.Count({.method = "PATCH", .target_part = "/pods/"}), 1U);
}

// --- modes ---------------------------------------------------------------------------------------

TEST(ReschedulingModes, ObserveReportsAndWritesNothing) {
  for (const bool dry_run : {false, true}) {
    Cluster cluster;
    cluster.PutJob("train", kForceLabel);
    Replica replica(cluster, dry_run);
    if (!dry_run) replica.settings.mode = ReschedulingMode::kObserve;
    ASSERT_TRUE(replica.Start());
    cluster.PutNode("n3", false);
    EXPECT_TRUE(replica.WaitReported("train", "would be restarted"));
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
  ASSERT_TRUE(replica.WaitReported("train", "restart waits"));
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
                   {{{"LogFileFormatTime", "I0101 00:00:35"},
                     {"RescheduleTimeStamp", 1767225635},  // 35 s after the test begins
                     {"ReasonOfTask", Json::array()}}}}}}})
              .dump()}}}});
  Replica replica(cluster);
  replica.settings.mode = ReschedulingMode::kTakeover;
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  ASSERT_TRUE(replica.WaitReported("train", "restart waits"));
  cluster.clock.Advance(std::chrono::seconds(40));
  cluster.server.Put(resources::kPods, cluster.Pod("train-0"));  // a change
  EXPECT_TRUE(cluster.server.WaitForRequests({.target_part = "job-reschedule-reason"}, 1));
  EXPECT_TRUE(Eventually([&] {
    return replica.LastReason("train") == "Volcano has time to act until 2026-01-01T00:01:05Z";
  }));
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
  cluster.clock.Advance(std::chrono::seconds(60));
  cluster.server.Put(resources::kPods, cluster.Pod("train-0"));
  EXPECT_TRUE(Eventually([&] { return cluster.Pod("train-3").is_null(); }));
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
  EXPECT_TRUE(Eventually([&] { return cluster.Pods("train") == PodNames{"train-0", "train-1"}; }));
}

// Killed between the decision and the last deletion: the faulty pod, which goes last, shows the
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
    ASSERT_TRUE(
        Eventually([&] { return cluster.Pods("train") == PodNames{"train-1", "train-2"}; }));
  }
  Replica second(cluster);
  second.since = Time(std::chrono::seconds(1));
  cluster.server.ForgetRequests();
  ASSERT_TRUE(second.Start());
  EXPECT_TRUE(
      cluster.server.WaitForRequests({.method = "DELETE", .target_part = "/pods/train-1"}, 1));
  EXPECT_EQ(cluster.Kept()["jobs"][0]["retriesUsed"], 1);
}

// One report calls all nodes broken: nothing follows from a part of it.
TEST(ReschedulingController, AllOfAReportIsCountedBeforeAnythingIsRestarted) {
  for (int round = 0; round < 10; ++round) {
    Cluster cluster;
    for (int i = 0; i < 8; ++i) cluster.PutJob("job-" + std::to_string(i), kForceLabel);
    Replica replica(cluster);
    ASSERT_TRUE(replica.Start());
    cluster.ReportChips({{"n0", "Ascend910-0"},
                         {"n1", "Ascend910-0"},
                         {"n2", "Ascend910-0"},
                         {"n3", "Ascend910-0"}});
    ASSERT_TRUE(replica.WaitReported("job-7", "restart waits"));
    EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
    EXPECT_EQ(replica.LastReason("job-7"),
              "fault-scheduling is force; it waits, because 4 of 4 nodes are faulty, which is more "
              "than maxFaultyNodes (60 %); ConfigMap mindx-dl/cluster-info-device-0 called 4 of "
              "them faulty at once");
  }
}

// Whoever may create pods may write any node into one, and a PodGroup beside it.
TEST(ReschedulingController, PodsOnNodesThatNeverWereStopNobody) {
  Cluster cluster;
  cluster.PutJob("train", kForceLabel);
  cluster.PutGroup("x", kForceLabel, 1);
  for (int i = 0; i < 60; ++i) {
    const std::string number = std::to_string(i);
    Json pod = {{"metadata",
                 {{"namespace", kNs},
                  {"name", "x-" + number},
                  {"annotations", {{"scheduling.k8s.io/group-name", "x"}}}}},
                {"spec", {{"nodeName", "no-such-node-" + number}}},
                {"status", {{"phase", "Pending"}}}};
    cluster.server.Put(kube::resources::kPods, std::move(pod));
  }
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  EXPECT_TRUE(mindgate::testing::Eventually([&] { return cluster.Pods("train").empty(); }))
      << replica.LastReason("train");
  EXPECT_FALSE(replica.IsStopped());
  EXPECT_FALSE(cluster.Pod("x-0").is_null()) << "it was never on a node that could be lost";
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
