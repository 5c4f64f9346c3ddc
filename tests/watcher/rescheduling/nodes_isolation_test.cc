#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "watcher/rescheduling_cluster.h"

// The taint of nodes that are unhealthy as a whole.
namespace mindgate::watcher::rescheduling {
namespace {

using mindgate::testing::Eventually;
namespace resources = kube::resources;

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

const Json kOurTaint = {{"key", "mindgate.io/faulty"}, {"effect", "NoSchedule"}};
const kube::testing::When kNodeWrites = {.method = "PATCH", .target_part = "/nodes/"};

void Taint(Cluster& cluster, const std::string& name) {
  Json node = cluster.server.Find(resources::kNodes, "", name);
  node["spec"]["taints"] = Json::array({kOurTaint});
  cluster.server.Put(resources::kNodes, node);
}

bool IsTainted(const Cluster& cluster, const std::string& name) {
  const Json node = cluster.server.Find(resources::kNodes, "", name);
  return node.contains("spec") && node["spec"].contains("taints") &&
         !node["spec"]["taints"].empty();
}

// Not even to take away what was left: observing is not writing.
TEST(ReschedulingIsolation, WhoObservesLeavesTaintsAsTheyAre) {
  for (const bool dry_run : {false, true}) {
    Cluster cluster;
    Taint(cluster, "n2");
    cluster.PutJob("train", kForceLabel);
    Replica replica(cluster, dry_run);
    replica.settings.isolate_nodes = true;
    if (!dry_run) replica.settings.mode = schemas::ReschedulingMode::kObserve;
    ASSERT_TRUE(replica.Start());
    ReportMachine(cluster, "UnHealthy");
    EXPECT_TRUE(replica.WaitReported("train", "would be restarted"));
    EXPECT_TRUE(replica.WaitReported("n1", "would be isolated"));
    EXPECT_TRUE(IsTainted(cluster, "n2"));
    EXPECT_EQ(cluster.server.Count(kNodeWrites), 0U);
  }
}

TEST(ReschedulingIsolation, SwitchedOffItGivesBackWhatItMayStillChange) {
  Cluster cluster;
  Taint(cluster, "n2");
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  EXPECT_TRUE(Eventually([&] { return !IsTainted(cluster, "n2"); }));
  EXPECT_TRUE(replica.WaitReported("n2", "no longer isolated"));
}

// The chart takes the permission away together with the option. No back-off asks again.
TEST(ReschedulingIsolation, WhatItMayNotChangeItReportsOnceWithTheCommand) {
  Cluster cluster;
  Taint(cluster, "n2");
  cluster.server.Forbid("patch", "nodes");
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  ASSERT_TRUE(cluster.server.WaitForRequests(kNodeWrites, 1));
  ASSERT_TRUE(Eventually([&] {
    return replica.Logged("kubectl taint nodes n2 mindgate.io/faulty:NoSchedule-") == 1;
  }));
  replica.controller.EnqueueAll();
  ASSERT_TRUE(cluster.server.WaitForRequests(kNodeWrites, 2));
  replica.Stop();
  EXPECT_EQ(replica.Logged("kubectl taint nodes n2 mindgate.io/faulty:NoSchedule-"), 1U);
}

// By a policy or a webhook of somebody else, which answers as a test of the version does.
TEST(ReschedulingIsolation, WhatAPolicyRefusesIsReportedAndTriedAgain) {
  for (const int code : {422, 409}) {
    SCOPED_TRACE(code);
    Cluster cluster;
    Taint(cluster, "n2");
    cluster.server.AnswerNext(
        1, kNodeWrites,
        kube::testing::StatusAnswer(code, code == 422 ? "Invalid" : "Conflict", "denied"));
    Replica replica(cluster);
    ASSERT_TRUE(replica.Start());
    EXPECT_TRUE(Eventually([&] {
      return replica.Logged("kubectl taint nodes n2 mindgate.io/faulty:NoSchedule-") == 1;
    }));
    EXPECT_TRUE(Eventually([&] {
      cluster.clock.Advance(std::chrono::seconds(61));
      return !IsTainted(cluster, "n2");
    }));
  }
}

// The kubelet writes its node, too.
TEST(ReschedulingIsolation, ANodeOfAnotherVersionIsReadAgain) {
  Cluster cluster;
  Taint(cluster, "n2");
  const auto gate = cluster.server.Hold(kNodeWrites);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  ASSERT_TRUE(gate->WaitUntilHeld());
  Taint(cluster, "n2");
  gate->Release();
  EXPECT_TRUE(Eventually([&] {
    cluster.clock.Advance(std::chrono::seconds(61));
    return !IsTainted(cluster, "n2");
  }));
  EXPECT_EQ(replica.Logged("kubectl taint nodes"), 0U);
}

// Each of the brakes holds: no node is taken from the scheduler by mistake.
TEST(ReschedulingIsolation, NoNodeIsIsolatedWhileABrakeHolds) {
  {
    Cluster cluster;
    Replica replica(cluster);
    replica.settings.isolate_nodes = true;
    ASSERT_TRUE(replica.Start());
    for (const char* node : {"n0", "n2", "n3"}) cluster.PutNode(node, false);
    ASSERT_TRUE(Eventually([&] { return replica.IsStopped(); }));
    ReportMachine(cluster, "UnHealthy");
    EXPECT_TRUE(replica.WaitReported("n1", "isolation waits"));
    EXPECT_EQ(cluster.server.Count(kNodeWrites), 0U);
  }
  Cluster cluster;
  cluster.server.Put(resources::kLeases,
                     {{"metadata",
                       {{"namespace", "mindgate-system"},
                        {"name", "mindgate-watcher"},
                        {"annotations", {{"mindgate.io/pause-rescheduling", "true"}}}}}});
  Replica replica(cluster);
  replica.settings.isolate_nodes = true;
  ASSERT_TRUE(replica.Start());
  ReportMachine(cluster, "UnHealthy");
  EXPECT_TRUE(replica.WaitReported("n1", "isolation waits"));
  EXPECT_EQ(cluster.server.Count(kNodeWrites), 0U);
}

TEST(ReschedulingIsolation, AnEventAndAMetricReportIt) {
  Cluster cluster;
  Json node = cluster.server.Find(resources::kNodes, "", "n1");
  node["spec"] = Json::object();
  cluster.server.Put(resources::kNodes, node);
  Replica replica(cluster);
  replica.settings.isolate_nodes = true;
  ASSERT_TRUE(replica.Start());
  ReportMachine(cluster, "UnHealthy");
  ASSERT_TRUE(replica.WaitReported("n1", "isolated"));
  EXPECT_EQ(replica.LastReason("n1"),
            "n1 got the taint mindgate.io/faulty:NoSchedule, as NodeD or a switch calls it "
            "UnHealthy");
  const auto record = replica.decisions.entries().back().record;
  EXPECT_EQ(record.regarding.kind, "Node");
  EXPECT_EQ(record.kind, DecisionKind::kNodeIsolated);
  ReportMachine(cluster, "Healthy");
  ASSERT_TRUE(replica.WaitReported("n1", "no longer isolated"));
  std::vector<prometheus::MetricFamily> families;
  replica.controller.AddMetrics(families);
  std::map<std::string, double> counts;
  for (const auto& family : families) {
    if (family.name != "mindgate_rescheduling_node_taints_total") continue;
    for (const auto& metric : family.metric) {
      counts[metric.label.front().value] = metric.counter.value;
    }
  }
  EXPECT_EQ(counts, (std::map<std::string, double>{{"added", 1}, {"removed", 1}}));
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
