#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "watcher/scaling_cluster.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using ::mindgate::testing::Eventually;
namespace resources = kube::resources;

const Names kAll = {"p0", "p1", "d0"};

struct ScalingControllerTest : ::testing::Test {
  Cluster cluster;
  Replica watcher{cluster};

  void SubmitAll() {
    cluster.PutRule(kTwoShapes);
    cluster.Submit("p0", "g0");
    cluster.Submit("p1", "g0");
    cluster.Submit("d0", "g1");
  }
  std::vector<std::string> Reasons() {
    watcher.recorder.Flush(std::chrono::seconds(30));
    std::vector<std::string> reasons;
    const auto page = watcher.client.List(resources::kEvents, "ns");
    for (const Json& event : page->items) {
      reasons.push_back(event["regarding"]["name"].get<std::string>() + " " +
                        event["reason"].get<std::string>() + ": " +
                        event["note"].get<std::string>());
    }
    std::sort(reasons.begin(), reasons.end());
    return reasons;
  }
  // What is done is reported afterwards: who has seen the one may come too early for the other.
  template <typename Matcher>
  void ExpectReported(const Matcher& matcher) {
    std::vector<std::string> reasons;
    Eventually([&] {
      reasons = Reasons();
      return ::testing::Value(reasons, matcher);
    });
    EXPECT_THAT(reasons, matcher);
  }
};

TEST_F(ScalingControllerTest, TheMinimalShapeFirstAndTheLargestInTheEnd) {
  SubmitAll();
  watcher.Start();
  ASSERT_TRUE(cluster.WaitOpen({"p0", "d0"}, kAll));
  cluster.SetPhase("p0", "Running");
  cluster.SetPhase("d0", "Running");
  ASSERT_TRUE(cluster.WaitOpen(kAll, kAll));
  ExpectReported(::testing::IsSupersetOf<std::string>(
      {"d0 InstanceGranted: shape 2 of 2 wants 1 of g1, and none runs or starts",
       "p0 InstanceGranted: shape 2 of 2 wants 1 of g0, and none runs or starts",
       "p1 InstanceGranted: shape 1 of 2 wants 2 of g0, and 1 runs",
       "p1 InstanceHeld: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 of "
       "1 run) and g1 (0 of 1 run)"}));
}

TEST_F(ScalingControllerTest, OthersGatesStay) {
  cluster.PutRule(kOneShape);
  Json pod = Cluster::Pod("p0", "g0");
  pod["spec"]["schedulingGates"] = {{{"name", "other"}}, {{"name", "mindgate.io/elastic-scaling"}}};
  cluster.server.Put(resources::kPods, pod);
  watcher.Start();
  ASSERT_TRUE(Eventually([&] { return cluster.server.Count({.method = "PATCH"}) == 1; }));
  ASSERT_TRUE(Eventually([&] {
    return cluster.server.Find(resources::kPods, "ns", "p0")["spec"]["schedulingGates"] ==
           Json({{{"name", "other"}}});
  }));
}

TEST_F(ScalingControllerTest, WithoutARuleAllWaitAndAnEventReportsWhy) {
  cluster.Submit("p0", "g0");
  watcher.Start();
  ASSERT_TRUE(Eventually([&] { return !watcher.entries().empty(); }));
  ExpectReported(
      ::testing::ElementsAre("p0 ScalingRuleUnusable: there is no ConfigMap \"rule\" with the key "
                             "elastic_scaling.json in namespace ns"));
  cluster.PutRule("{");
  ASSERT_TRUE(Eventually([&] { return watcher.entries().size() == 2; }));
  EXPECT_THAT(watcher.entries().back().record.reason, ::testing::HasSubstr("line 1, column 2"));
  EXPECT_FALSE(cluster.IsOpen("p0"));
  cluster.PutRule(kOneShape);
  EXPECT_TRUE(cluster.WaitOpen({"p0"}, {"p0"}));
}

TEST_F(ScalingControllerTest, AnEditOfTheRuleWakesThoseThatWait) {
  SubmitAll();
  cluster.PutRule(kOneShape);
  watcher.Start();
  ASSERT_TRUE(cluster.WaitOpen({"p0", "d0"}, kAll));
  cluster.SetPhase("p0", "Running");
  cluster.SetPhase("d0", "Running");
  ASSERT_TRUE(Eventually([&] {
    const auto statuses = watcher.controller.statuses().all();
    return statuses.size() == 1 && statuses[0].reached == 0;
  }));
  EXPECT_FALSE(cluster.IsOpen("p1"));
  cluster.PutRule(kTwoShapes);
  EXPECT_TRUE(cluster.WaitOpen(kAll, kAll));
}

TEST_F(ScalingControllerTest, ObserveTouchesNothing) {
  SubmitAll();
  watcher.settings.mode = schemas::EnforcementMode::kObserve;
  watcher.Start();
  ASSERT_TRUE(Eventually([&] { return watcher.entries().size() == 3; }));
  EXPECT_EQ(cluster.server.Count({.method = "PATCH"}), 0U);
  EXPECT_EQ(cluster.Open(kAll), Names{});
  // Neither Events nor the journal nor what metrics are made of say that anything was done.
  ExpectReported(::testing::ElementsAre(
      "d0 InstanceWouldBeGranted: shape 2 of 2 wants 1 of g1, and none runs or starts",
      "p0 InstanceWouldBeGranted: shape 2 of 2 wants 1 of g0, and none runs or starts",
      "p1 InstanceWouldBeHeld: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 "
      "of "
      "1 run) and g1 (0 of 1 run)"));
  for (const auto& entry : watcher.entries()) EXPECT_FALSE(entry.record.enforced);
  const auto statuses = watcher.controller.statuses().all();
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_EQ(statuses[0].groups, (std::vector<GroupCount>{{"g0", 1, 0, 0, 2}, {"g1", 1, 0, 0, 1}}));
}

TEST_F(ScalingControllerTest, OnlyTheLeaderActs) {
  SubmitAll();
  watcher.leads = false;
  Replica other(cluster);
  watcher.Start();
  other.Start();
  ASSERT_TRUE(cluster.WaitOpen({"p0", "d0"}, kAll));
  EXPECT_EQ(watcher.controller.counts().decisions, 0U);
  EXPECT_EQ(cluster.server.Count({.method = "PATCH"}), 2U);
}

TEST_F(ScalingControllerTest, ALeaderThatTakesOverGrantsNothingTwice) {
  SubmitAll();
  watcher.Start();
  ASSERT_TRUE(cluster.WaitOpen({"p0", "d0"}, kAll));
  watcher.Stop();
  Replica other(cluster);
  other.Start();
  ASSERT_TRUE(Eventually([&] { return !other.controller.statuses().all().empty(); }));
  EXPECT_EQ(cluster.Open(kAll), (Names{"p0", "d0"}));
  cluster.SetPhase("p0", "Running");
  cluster.SetPhase("d0", "Running");
  EXPECT_TRUE(cluster.WaitOpen(kAll, kAll));
}

// One pod of an instance was opened when the leader ended: the instance is granted, all of it.
TEST_F(ScalingControllerTest, AGrantThatWasCutShortGoesOn) {
  cluster.PutRule(kOneShape);
  for (const char* name : {"p0-0", "p0-1", "p1-0"}) {
    Json pod = Cluster::Pod(name, "g0");
    pod["metadata"]["ownerReferences"] = {{{"apiVersion", "mindxdl.gitee.com/v1"},
                                           {"kind", "AscendJob"},
                                           {"name", std::string(name, 2)},
                                           {"uid", "u"},
                                           {"controller", true}}};
    if (std::string(name) == "p0-0") pod["spec"].erase("schedulingGates");
    cluster.server.Put(resources::kPods, pod);
  }
  watcher.Start();
  EXPECT_TRUE(cluster.WaitOpen({"p0-0", "p0-1"}, {"p0-0", "p0-1", "p1-0"}));
}

TEST_F(ScalingControllerTest, WhatTheApiServerRefusesIsTriedAgain) {
  SubmitAll();
  cluster.server.AnswerNext(2, {.method = "PATCH"},
                            kube::testing::StatusAnswer(503, "ServiceUnavailable", "later"));
  watcher.Start();
  EXPECT_TRUE(cluster.WaitOpen({"p0", "d0"}, kAll));
  EXPECT_GE(watcher.controller.counts().failed, 1U);
}

// 429 to lists, watches and grants alike.
TEST_F(ScalingControllerTest, AnApiServerWithoutRoomForItGetsNoWrongGrant) {
  SubmitAll();
  const auto no_room = kube::testing::StatusAnswer(429, "TooManyRequests", "later", 1);
  cluster.server.AnswerNext(2, {.method = "GET", .target_part = "/pods?limit"}, no_room);
  cluster.server.AnswerNext(1, {.method = "GET", .target_part = "watch=true"}, no_room);
  cluster.server.AnswerNext(3, {.method = "PATCH"}, no_room);
  watcher.Start();
  ASSERT_TRUE(cluster.WaitOpen({"p0", "d0"}, kAll));
  cluster.SetPhase("p0", "Running");
  cluster.SetPhase("d0", "Running");
  EXPECT_TRUE(cluster.WaitOpen(kAll, kAll));
}

// The watch is late by more than the reservation: what the API server has answered is known.
TEST_F(ScalingControllerTest, AGrantThatWasAnsweredIsNotGivenTwice) {
  SubmitAll();
  const auto late = cluster.server.Hold({.method = "GET", .target_part = "/pods?watch=true"});
  watcher.Start();
  ASSERT_TRUE(late->WaitUntilHeld());
  ASSERT_TRUE(cluster.WaitOpen({"p0", "d0"}, kAll));
  ASSERT_TRUE(Eventually([&] { return watcher.controller.counts().granted == 2; }));
  cluster.clock.Advance(std::chrono::seconds(600));
  // The second of them begins when the first has done all that it wanted to.
  for (int look = 0; look < 2; ++look) {
    const uint64_t before = watcher.controller.counts().decisions;
    watcher.controller.EnqueueAll();
    ASSERT_TRUE(Eventually([&] { return watcher.controller.counts().decisions > before; }));
  }
  EXPECT_EQ(cluster.server.Count({.method = "PATCH"}), 2U);
  late->Release();
  cluster.SetPhase("p0", "Running");
  cluster.SetPhase("d0", "Running");
  EXPECT_TRUE(cluster.WaitOpen(kAll, kAll));
}

TEST_F(ScalingControllerTest, CutWatchesAndAnExpiredVersionGrantNothingWrong) {
  SubmitAll();
  watcher.Start();
  ASSERT_TRUE(cluster.WaitOpen({"p0", "d0"}, kAll));
  cluster.server.Compact();
  cluster.server.CutWatches(FakeApiServer::Cut::kMidLine);
  cluster.SetPhase("p0", "Running");
  cluster.SetPhase("d0", "Running");
  EXPECT_TRUE(cluster.WaitOpen(kAll, kAll));
  EXPECT_TRUE(Eventually([&] { return watcher.controller.counts().granted == 3; }));
}

// The fault story of MindCluster's documents: d0's node breaks and no spare one is there.
TEST_F(ScalingControllerTest, ASurplusInstanceIsGivenUpForOneThatIsNeeded) {
  SubmitAll();
  watcher.Start();
  ASSERT_TRUE(cluster.WaitOpen({"p0", "d0"}, kAll));
  for (const char* name : {"p0", "d0"}) cluster.SetPhase(name, "Running");
  ASSERT_TRUE(cluster.WaitOpen(kAll, kAll));
  Json p1 = cluster.server.Find(resources::kPods, "ns", "p1");
  p1["spec"]["nodeName"] = "n";
  p1["status"] = {{"phase", "Running"}};
  cluster.server.Put(resources::kPods, p1);
  cluster.server.Remove(resources::kPods, "ns", "d0");
  cluster.Submit("d1", "g1");
  ASSERT_TRUE(cluster.WaitOpen({"d1"}, {"d1"}));
  cluster.clock.Advance(std::chrono::seconds(400));
  Json d1 = cluster.server.Find(resources::kPods, "ns", "d1");
  d1["status"]["conditions"] = {{{"type", "PodScheduled"},
                                 {"status", "False"},
                                 {"reason", "Unschedulable"},
                                 {"lastTransitionTime", "2026-01-01T00:00:00Z"}}};
  cluster.server.Put(resources::kPods, d1);
  const auto goes = [&](const char* name) {
    return cluster.server.Find(resources::kPods, "ns", name)["metadata"].contains(
        "deletionTimestamp");
  };
  // Its time without room begins when the watcher sees the pod without its gate.
  EXPECT_TRUE(Eventually([&] {
    cluster.clock.Advance(std::chrono::seconds(61));
    watcher.controller.EnqueueAll();
    return goes("p1");
  }));
  EXPECT_FALSE(goes("p0"));
  EXPECT_TRUE(Eventually([&] { return watcher.controller.counts().given_up == 1; }));
}

// Two services that each would give up an instance, where one a minute may be.
TEST_F(ScalingControllerTest, TheWholeClusterLosesNoMoreThanItMay) {
  watcher.settings.give_ups_per_minute = 1;
  cluster.clock.Advance(std::chrono::hours(1));
  cluster.PutRule(kTwoShapes);
  for (const std::string job : {"a", "b"}) {
    const auto put = [&](const std::string& name, const std::string& group, const Json& status) {
      Json pod = Cluster::Pod(job + name, group);
      pod["metadata"]["labels"]["jobID"] = job;
      pod["spec"] = {{"nodeName", "n"}};
      pod["status"] = status;
      cluster.server.Put(resources::kPods, pod);
    };
    put("p0", "g0", {{"phase", "Running"}});
    put("p1", "g0", {{"phase", "Running"}});
    put("d0", "g1",
        {{"phase", "Pending"},
         {"conditions",
          {{{"type", "PodScheduled"},
            {"status", "False"},
            {"reason", "Unschedulable"},
            {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}}});
  }
  const auto gone = [&] {
    int count = 0;
    for (const char* name : {"ap0", "ap1", "bp0", "bp1"}) {
      const Json pod = cluster.server.Find(resources::kPods, "ns", name);
      if (!pod.is_object() || pod["metadata"].contains("deletionTimestamp")) ++count;
    }
    return count;
  };
  watcher.Start();
  // Time without room and the cool-down count from the moment when the watcher saw the pods of each
  // service; the first decisions may all be about one of them.
  ASSERT_TRUE(Eventually([&] { return watcher.controller.counts().decisions >= 2; }));
  const uint64_t decided = watcher.controller.counts().decisions;
  watcher.controller.EnqueueAll();
  ASSERT_TRUE(Eventually([&] { return watcher.controller.counts().decisions >= decided + 2; }));
  cluster.clock.Advance(std::chrono::seconds(301));
  watcher.controller.EnqueueAll();
  ASSERT_TRUE(Eventually([&] { return watcher.entries().size() == 2; }));
  ASSERT_TRUE(Eventually([&] { return watcher.controller.counts().given_up == 1; }));
  EXPECT_EQ(gone(), 1);
  std::set<std::string> reported;
  for (const auto& entry : watcher.entries()) reported.emplace(WordsOf(entry.record.kind).word);
  EXPECT_EQ(reported, (std::set<std::string>{"given up", "would be given up"}));
  ExpectReported(::testing::Contains(::testing::HasSubstr(
      "; it waits, because the share of namespace ns in giveUpsPerMinute (1) is used up")));
  cluster.clock.Advance(std::chrono::seconds(61));
  watcher.controller.EnqueueAll();
  EXPECT_TRUE(Eventually([&] { return gone() == 2; }));
}

}  // namespace
}  // namespace mindgate::watcher::scaling
