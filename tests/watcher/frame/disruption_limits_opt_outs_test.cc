#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "watcher/rescheduling_direct.h"

// What keeps the controller from acting, before a restart begins and while one is under way.
namespace mindgate::watcher::rescheduling {
namespace {

using mindgate::testing::Eventually;
namespace resources = kube::resources;

TEST(ReschedulingBrakes, ANamespaceThatIsDisabled) {
  Cluster cluster;
  cluster.server.Put(
      resources::kNamespaces,
      {{"metadata", {{"name", kNs}, {"annotations", {{"mindgate.io/rescheduling", "disabled"}}}}}});
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.PutNode("n3", false);
  EXPECT_TRUE(replica.WaitReported("train", "restart waits"));
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
  EXPECT_TRUE(replica.WaitReported("train", "not restarted"));
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
  EXPECT_TRUE(replica.WaitReported("train", "restart waits"));
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

// --- a restart that is under way -----------------------------------------------------------------

const Json kGraceLabel = {{"fault-scheduling", "grace"}};

void Pause(Cluster& cluster) {
  cluster.server.Put(resources::kLeases,
                     {{"metadata",
                       {{"namespace", "mindgate-system"},
                        {"name", "mindgate-watcher"},
                        {"annotations", {{"mindgate.io/pause-rescheduling", "true"}}}}}});
}

void Exclude(Cluster& cluster) {
  cluster.server.Put(
      resources::kNamespaces,
      {{"metadata", {{"name", kNs}, {"annotations", {{"mindgate.io/rescheduling", "disabled"}}}}}});
}

// Its pods were asked to end, and none does; before they are forced, somebody stops it.
struct Begun : Direct {
  Begun() {
    cluster.PutJob("train", kGraceLabel);
    cluster.PutNode("n3", false);
    Reconcile("train", {"n3"});
    deleted = Deletes();
    cluster.clock.Advance(std::chrono::seconds(1000));
  }
  size_t deleted = 0;
};

TEST(ReschedulingBrakes, EachOfThemAlsoHoldsARestartThatIsUnderWay) {
  struct Case {
    const char* name;
    std::function<void(Begun&)> hold;
    std::string stopped;
    std::string reported;
  };
  const Case cases[] = {
      {"none", [](Begun&) {}, "",
       "restarted: NodeUnhealthy: train-0, train-1, train-2, train-3 deleted, as its pods did not "
       "end "
       "within graceOverTime"},
      {"pause", [](Begun& begun) { Pause(begun.cluster); }, "",
       "restart waits: its pods did not end within graceOverTime; it waits, because Lease "
       "mindgate-system/mindgate-watcher has the annotation mindgate.io/pause-rescheduling"},
      {"namespace", [](Begun& begun) { Exclude(begun.cluster); }, "",
       "restart waits: its pods did not end within graceOverTime; it waits, because "
       "mindgate.io/rescheduling is disabled on namespace serving"},
      {"storm", [](Begun&) {}, "a storm",
       "restart waits: its pods did not end within graceOverTime; it waits, because a storm"},
  };
  for (const Case& c : cases) {
    Begun begun;
    ASSERT_EQ(begun.deleted, 4U) << c.name;
    c.hold(begun);
    begun.Reconcile("train", {"n3"}, c.stopped);
    EXPECT_EQ(begun.decisions.last(), c.reported) << c.name;
    EXPECT_EQ(begun.Deletes(), begun.deleted + (c.reported.starts_with("restarted") ? 4 : 0))
        << c.name;
  }
}

// Somebody else may have acted: without the records one cannot know.
TEST(ReschedulingBrakes, TakeoverWaitsForRecordsThatCannotBeRead) {
  Direct direct;
  direct.settings.mode = schemas::ReschedulingMode::kTakeover;
  direct.cluster.PutJob("train", kForceLabel);
  direct.cluster.PutNode("n3", false);
  direct.Reconcile("train", {"n3"});
  direct.cluster.clock.Advance(std::chrono::minutes(1));
  direct.cluster.server.Put(
      resources::kConfigMaps,
      {{"metadata", {{"namespace", "mindx-dl"}, {"name", "job-reschedule-reason"}}}});
  direct.cluster.server.AnswerNext(1, {.method = "GET", .target_part = "job-reschedule-reason"},
                                   kube::testing::StatusAnswer(500, "InternalError", "no"));
  EXPECT_TRUE(direct.Reconcile("train", {"n3"}).failed);
  EXPECT_EQ(direct.Deletes(), 0U);
  EXPECT_NE(direct.decisions.last().find("restart waits"), std::string::npos)
      << direct.decisions.last();
  EXPECT_NE(direct.decisions.last().find("mindx-dl/job-reschedule-reason"), std::string::npos)
      << direct.decisions.last();
  direct.Reconcile("train", {"n3"});
  EXPECT_EQ(direct.Deletes(), 4U);
}

// The annotation of the object that people know, where the PodGroup is a detail.
TEST(ReschedulingBrakes, AnOwnerThatIsDisabled) {
  for (const bool disabled : {true, false}) {
    Direct direct;
    direct.cluster.PutJob("train", kForceLabel);
    direct.cluster.PutNode("n3", false);
    Json group = direct.Group("train");
    group["metadata"]["ownerReferences"] = {{{"apiVersion", "apps/v1"},
                                             {"kind", "ReplicaSet"},
                                             {"name", "chat-1"},
                                             {"uid", "uid-chat-1"},
                                             {"controller", true}}};
    direct.cluster.server.Put(resources::kPodGroups, group);
    direct.cluster.server.Register({.resource = resources::kReplicaSets});
    direct.cluster.server.Put(resources::kReplicaSets, {{"metadata",
                                                         {{"namespace", kNs},
                                                          {"name", "chat-1"},
                                                          {"uid", "uid-chat-1"},
                                                          {"ownerReferences",
                                                           {{{"apiVersion", "apps/v1"},
                                                             {"kind", "Deployment"},
                                                             {"name", "chat"},
                                                             {"uid", "uid-chat"},
                                                             {"controller", true}}}}}}});
    Json chat = {{"metadata", {{"namespace", kNs}, {"name", "chat"}, {"uid", "uid-chat"}}}};
    if (disabled) chat["metadata"]["annotations"] = {{"mindgate.io/rescheduling", "disabled"}};
    direct.cluster.server.Put(resources::kDeployments, chat);
    direct.Reconcile("train", {"n3"});
    EXPECT_EQ(direct.Deletes(), disabled ? 0U : 4U);
    if (!disabled) continue;
    EXPECT_EQ(direct.decisions.last(),
              "restart waits: fault-scheduling is force; it waits, because "
              "mindgate.io/rescheduling is disabled on Deployment chat");
  }
}

TEST(ReschedulingBrakes, ADaemonSetOrReplicationControllerThatIsDisabled) {
  const kube::Resource kinds[] = {
      {"apps", "v1", "daemonsets", "DaemonSet", true},
      {"", "v1", "replicationcontrollers", "ReplicationController", true}};
  for (const kube::Resource& kind : kinds) {
    SCOPED_TRACE(kind.kind);
    Direct direct;
    direct.cluster.PutJob("train", kForceLabel);
    direct.cluster.PutNode("n3", false);
    Json group = direct.Group("train");
    group["metadata"]["ownerReferences"] = {
        {{"apiVersion", kind.group.empty() ? "v1" : kind.group + "/v1"},
         {"kind", kind.kind},
         {"name", "agents"},
         {"uid", "uid-agents"},
         {"controller", true}}};
    direct.cluster.server.Put(resources::kPodGroups, group);
    direct.cluster.server.Register({.resource = kind});
    direct.cluster.server.Put(kind, {{"metadata",
                                      {{"namespace", kNs},
                                       {"name", "agents"},
                                       {"uid", "uid-agents"},
                                       {"labels", {{"mindgate.io/rescheduling", "disabled"}}}}}});
    direct.Reconcile("train", {"n3"});
    EXPECT_EQ(direct.Deletes(), 0U);
    EXPECT_EQ(direct.decisions.last(),
              "restart waits: fault-scheduling is force; it waits, because "
              "mindgate.io/rescheduling is disabled on " +
                  kind.kind + " agents");
  }
}

// The API server takes any text as the version of an owner. It must not steer a read elsewhere.
TEST(ReschedulingBrakes, AnOwnerWithAVersionThatIsNoneIsNotRead) {
  Direct direct;
  direct.cluster.PutJob("train", kForceLabel);
  direct.cluster.PutNode("n3", false);
  Json group = direct.Group("train");
  group["metadata"]["ownerReferences"] = {
      {{"apiVersion", "v1%2Fnamespaces%2Fserving%2Fconfigmaps?x="},
       {"kind", "Pod"},
       {"name", "x"},
       {"uid", "u"},
       {"controller", true}}};
  direct.cluster.server.Put(resources::kPodGroups, group);
  direct.Reconcile("train", {"n3"});
  EXPECT_EQ(direct.Deletes(), 4U) << direct.decisions.last();
  for (const char* part : {"%2F", "configmaps?x="}) {
    EXPECT_EQ(direct.cluster.server.Count({.method = "GET", .target_part = part}), 0U) << part;
  }
}

// Without permission to read owners, PodGroup, pods and namespace are what counts.
TEST(ReschedulingBrakes, AnOwnerThatMayNotBeReadHoldsNothing) {
  Direct direct;
  direct.cluster.PutJob("train", kForceLabel);
  direct.cluster.PutNode("n3", false);
  direct.cluster.server.Forbid("get", "jobs");
  direct.Reconcile("train", {"n3"});
  EXPECT_EQ(direct.Deletes(), 4U) << direct.decisions.last();
}

// A controller that deletes the Node objects of many nodes is such a mistake as well.
TEST(ReschedulingBrakes, ManyNodesThatAreGoneAreAStorm) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  cluster.server.Forbid("delete", "pods");  // so that the first fault is still there
  for (const char* node : {"n1", "n2", "n3"}) cluster.server.Remove(resources::kNodes, "", node);
  EXPECT_TRUE(Eventually([&] {
    return replica.LastReason("train").find(
               "3 of 4 nodes are faulty, which is more than maxFaultyNodes (60 %)") !=
           std::string::npos;
  })) << replica.LastReason("train");
}

// Reports stay when a node is removed from the cluster.
TEST(ReschedulingBrakes, ReportsOfNodesThatWereRemovedAreNoStorm) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels, 1);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  for (const char* node : {"n1", "n2", "n3"}) cluster.server.Remove(resources::kNodes, "", node);
  cluster.ReportChips(
      {{"n0", "Ascend910-0"}, {"n1", "Ascend910-0"}, {"n2", "Ascend910-0"}, {"n3", "Ascend910-0"}});
  EXPECT_TRUE(Eventually([&] {
    cluster.clock.Advance(std::chrono::seconds(31));  // the report may come before the Nodes go
    return cluster.Pods("train").empty();
  })) << replica.LastReason("train");
}

// --- observing -----------------------------------------------------------------------------------

// Whatever happens to nodes, chips, machines and pods, in whatever order.
TEST(ReschedulingProperties, WhoObservesNeverWrites) {
  for (const bool dry_run : {false, true}) {
    std::mt19937 random(dry_run ? 7 : 11);
    const auto pick = [&](int below) { return static_cast<int>(random() % below); };
    Cluster cluster;
    const Json policies[] = {
        kForceLabel, kPodLabels, kGraceLabel, {{"fault-scheduling", "external-grace"}}};
    for (int i = 0; i < 4; ++i) cluster.PutJob("job" + std::to_string(i), policies[i]);
    Replica replica(cluster, dry_run);
    replica.settings.isolate_nodes = true;
    replica.settings.max_faulty_nodes = 100;
    if (!dry_run) replica.settings.mode = schemas::ReschedulingMode::kObserve;
    ASSERT_TRUE(replica.Start());
    cluster.server.ForgetRequests();
    for (int step = 0; step < 100; ++step) {
      const std::string node = "n" + std::to_string(pick(4));
      switch (pick(4)) {
        case 0:
          cluster.PutNode(node, pick(2) == 0);
          break;
        case 1:
          cluster.server.Remove(resources::kNodes, "", node);
          break;
        case 2:
          cluster.ReportChips({{node, pick(2) == 0 ? "Ascend910-0" : ""}});
          break;
        default: {
          Json pod = cluster.Pod("job" + std::to_string(pick(4)) + "-" + std::to_string(pick(4)));
          pod["status"]["phase"] = pick(2) == 0 ? "Failed" : "Running";
          cluster.server.Put(resources::kPods, pod);
        }
      }
      cluster.clock.Advance(std::chrono::seconds(pick(60)));
    }
    cluster.ReportChips({{"n0", "Ascend910-0"}});
    EXPECT_TRUE(replica.WaitReported("job0", "would be restarted"));
    for (const auto& request : cluster.server.Requests()) {
      EXPECT_TRUE(request.method == "GET" || request.target.find("/events") != std::string::npos)
          << request.method << " " << request.target;
    }
  }
}

// Of a job that was deleted while the watches were not complete, nothing is remembered.
TEST(ReschedulingProperties, WhatWasReportedOfAJobIsForgottenWithIt) {
  Direct direct;
  direct.settings.mode = schemas::ReschedulingMode::kObserve;
  direct.cluster.PutJob("train", kForceLabel);
  for (int i = 0; i < 3; ++i) direct.Reconcile("train", {"n3"});
  EXPECT_EQ(direct.decisions.records.size(), 1U);
  direct.reconciler->Keep([](const JobKey& job) { return job.pod_group == "train"; });
  direct.Reconcile("train", {"n3"});
  EXPECT_EQ(direct.decisions.records.size(), 1U);
  direct.reconciler->Keep([](const JobKey&) { return false; });
  direct.Reconcile("train", {"n3"});
  EXPECT_EQ(direct.decisions.records.size(), 2U);
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
