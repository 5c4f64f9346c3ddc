// What the scaling controller writes when the pods that it knows are old, a call fails half-way, or
// the Lease is lost in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "json/decode.h"
#include "schemas/names.h"
#include "watcher/scaling_cluster.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Json;
using kube::testing::HttpResponse;
using kube::testing::StatusAnswer;
using ::mindgate::testing::Eventually;
using ::testing::ElementsAre;
namespace resources = kube::resources;

Json RefusedSince(const char* time) {
  return {{"phase", "Pending"},
          {"conditions",
           {{{"type", "PodScheduled"},
             {"status", "False"},
             {"reason", "Unschedulable"},
             {"lastTransitionTime", time}}}}};
}

// p0 and p1 run, where p1 is two pods of one AscendJob; d0 is needed and finds no room.
struct ScalingWritesTest : ::testing::Test {
  Cluster cluster;
  Replica watcher{cluster};

  void Put(const std::string& name, const std::string& group, const Json& spec, const Json& status,
           const std::string& job = "") {
    Json pod = Cluster::Pod(name, group);
    pod["spec"] = spec;
    pod["status"] = status;
    if (!job.empty()) {
      pod["metadata"]["ownerReferences"] = {{{"apiVersion", "mindxdl.gitee.com/v1"},
                                             {"kind", "AscendJob"},
                                             {"name", job},
                                             {"uid", "uid-" + job},
                                             {"controller", true}}};
    }
    cluster.server.Put(resources::kPods, pod);
  }
  void PutAll(const Json& spec_of_d0, const Json& status_of_d0) {
    cluster.PutRule(kTwoShapes);
    // The least ready one is given up.
    const Json ready = {{"phase", "Running"},
                        {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}};
    Put("p0", "g0", {{"nodeName", "n"}}, ready);
    for (const char* pod : {"p1-0", "p1-1"}) {
      Put(pod, "g0", {{"nodeName", "n"}}, {{"phase", "Running"}}, "p1");
    }
    Put("d0", "g1", spec_of_d0, status_of_d0);
  }
  bool Goes(const std::string& name) {
    const Json pod = cluster.server.Find(resources::kPods, "ns", name);
    return !pod.is_object() || pod["metadata"].contains("deletionTimestamp");
  }
  size_t Deletes() { return cluster.server.Count({.method = "DELETE"}); }
  // One more decision, of the service as it is now.
  void DecideAgain() {
    const uint64_t before = watcher.controller.counts().decisions;
    watcher.controller.EnqueueAll();
    ASSERT_TRUE(Eventually([&] { return watcher.controller.counts().decisions > before; }));
  }
  // Until the instance is given up: what the watcher has not seen yet counts from later on.
  bool GivenUpInTime() {
    return Eventually([&] {
      cluster.clock.Advance(std::chrono::seconds(61));
      watcher.controller.EnqueueAll();
      return Deletes() > 0;
    });
  }
  std::vector<std::string> Reported() {
    std::vector<std::string> reported;
    for (const auto& entry : watcher.entries()) {
      reported.push_back(entry.record.about[2].second + " " +
                         std::string(WordsOf(entry.record.kind).word));
    }
    return reported;
  }
};

// A gated pod has the condition from its first moment, and the time of it stays.
TEST_F(ScalingWritesTest, TimeBehindTheGateIsNotTimeWithoutRoom) {
  PutAll({{"schedulingGates", {{{"name", schemas::kScalingGate}}}}},
         RefusedSince("2026-01-01T00:00:00Z"));
  cluster.clock.Advance(std::chrono::hours(1));
  watcher.Start();
  ASSERT_TRUE(cluster.WaitOpen({"d0"}, {"d0"}));
  ASSERT_TRUE(Eventually([&] {
    const auto statuses = watcher.controller.statuses().all();
    return statuses.size() == 1 && statuses[0].groups[1].starting == 1;
  }));
  DecideAgain();
  cluster.clock.Advance(std::chrono::seconds(40));
  DecideAgain();
  EXPECT_EQ(Deletes(), 0U) << "it had no room for less than rebalanceAfter";
  EXPECT_TRUE(GivenUpInTime());
}

// A watch can be a while behind; d0 was placed meanwhile.
TEST_F(ScalingWritesTest, NothingIsGivenUpOnPodsThatHaveChanged) {
  PutAll(Json::object(), RefusedSince("2026-01-01T00:00:00Z"));
  Json placed = cluster.server.Find(resources::kPods, "ns", "d0");
  placed["spec"]["nodeName"] = "n";
  HttpResponse answer;
  answer.body = placed.dump();
  cluster.server.AnswerNext(1000, {.method = "GET", .target_part = "/pods/d0"}, answer);
  watcher.Start();
  ASSERT_TRUE(Eventually([&] {
    cluster.clock.Advance(std::chrono::seconds(61));
    watcher.controller.EnqueueAll();
    return cluster.server.Count({.method = "GET", .target_part = "/pods/d0"}) >= 2;
  }));
  EXPECT_EQ(Deletes(), 0U);
  EXPECT_THAT(Reported(), ElementsAre()) << "what was not done is not reported";
}

TEST_F(ScalingWritesTest, AGiveUpThatFailedHalfWayIsFinishedFirst) {
  PutAll(Json::object(), RefusedSince("2026-01-01T00:00:00Z"));
  const kube::testing::When of_the_second{.method = "DELETE", .target_part = "/pods/p1-1"};
  cluster.server.AnswerNext(3, of_the_second, StatusAnswer(403, "Forbidden", "not now"));
  watcher.Start();
  ASSERT_TRUE(GivenUpInTime());
  ASSERT_TRUE(Eventually([&] { return cluster.server.Count(of_the_second) > 0; }));
  // What takes the place of the pod that went waits behind the gate.
  cluster.server.Remove(resources::kPods, "ns", "p1-0");
  Put("p1-0", "g0", {{"schedulingGates", {{{"name", schemas::kScalingGate}}}}}, {}, "p1");
  EXPECT_TRUE(Eventually([&] { return Goes("p1-1"); }));
  EXPECT_TRUE(Eventually([&] { return watcher.controller.counts().given_up == 1; }));
  EXPECT_TRUE(Eventually([&] { return !Reported().empty(); }));
  EXPECT_EQ(Reported().front(), "AscendJob/p1 given up");
  EXPECT_FALSE(cluster.IsOpen("p1-0")) << "it would run again at once";
}

// As an admission webhook of somebody else may answer: the pod is still there, and the same one.
TEST_F(ScalingWritesTest, AGiveUpThatMeetsAConflictIsFinishedToo) {
  PutAll(Json::object(), RefusedSince("2026-01-01T00:00:00Z"));
  const kube::testing::When of_the_second{.method = "DELETE", .target_part = "/pods/p1-1"};
  cluster.server.AnswerNext(1, of_the_second, StatusAnswer(409, "Conflict", "not now"));
  watcher.Start();
  ASSERT_TRUE(GivenUpInTime());
  EXPECT_TRUE(Eventually([&] { return Goes("p1-1"); }));
  EXPECT_TRUE(Eventually([&] { return watcher.controller.counts().given_up == 1; }));
}

TEST_F(ScalingWritesTest, AnOptOutKeepsWhatIsLeftOfAGiveUp) {
  PutAll(Json::object(), RefusedSince("2026-01-01T00:00:00Z"));
  const kube::testing::When of_the_second{.method = "DELETE", .target_part = "/pods/p1-1"};
  cluster.server.AnswerNext(1000, of_the_second, StatusAnswer(403, "Forbidden", "not now"));
  watcher.Start();
  ASSERT_TRUE(GivenUpInTime());
  ASSERT_TRUE(Eventually([&] { return cluster.server.Count(of_the_second) > 0; }));
  Json kept = cluster.server.Find(resources::kPods, "ns", "p1-1");
  kept["metadata"]["annotations"]["mindgate.io/rescheduling"] = "disabled";
  cluster.server.Put(resources::kPods, kept);
  DecideAgain();
  const size_t before = cluster.server.Count(of_the_second);
  DecideAgain();
  EXPECT_EQ(cluster.server.Count(of_the_second), before);
  EXPECT_EQ(watcher.controller.counts().given_up, 0U);
}

TEST_F(ScalingWritesTest, NoWriteFollowsTheLossOfTheLease) {
  PutAll(Json::object(), RefusedSince("2026-01-01T00:00:00Z"));
  const auto gate = cluster.server.Hold({.method = "DELETE"});
  watcher.Start();
  // A held request is not counted before it is carried out.
  ASSERT_TRUE(Eventually([&] {
    cluster.clock.Advance(std::chrono::seconds(61));
    watcher.controller.EnqueueAll();
    return cluster.server.Count({.method = "GET", .target_part = "/pods/d0"}) > 0;
  }));
  ASSERT_TRUE(gate->WaitUntilHeld());
  watcher.leads = false;
  gate->Release();
  watcher.Stop();
  EXPECT_EQ(Deletes(), 1U) << "the second pod of p1 stays";
}

// The client would wait for as long as the server asks, while another replica leads.
TEST_F(ScalingWritesTest, AWriteIsNotRepeatedWithoutADecision) {
  cluster.PutRule(kTwoShapes);
  cluster.Submit("p0", "g0");
  cluster.server.AnswerNext(1, {.method = "PATCH"},
                            StatusAnswer(429, "TooManyRequests", "later", 3600));
  watcher.Start();
  ASSERT_TRUE(Eventually([&] { return cluster.server.Count({.method = "PATCH"}) == 1; }));
  EXPECT_TRUE(Eventually([&] {
    cluster.clock.Advance(std::chrono::seconds(61));
    return cluster.IsOpen("p0");
  }));
  EXPECT_EQ(cluster.server.Count({.method = "PATCH"}), 2U);
}

// By a policy or a webhook of somebody else, which answers as if the gate were gone.
TEST_F(ScalingWritesTest, AGateThatMayNotBeOpenedIsNotGranted) {
  cluster.PutRule(kTwoShapes);
  cluster.Submit("p0", "g0");
  const kube::testing::When opens{.method = "PATCH", .target_part = "/pods/p0"};
  cluster.server.AnswerNext(2, opens, StatusAnswer(422, "Invalid", "denied by a policy"));
  const auto gate = cluster.server.Hold({.method = "GET", .target_part = "/pods/p0"});
  watcher.Start();
  ASSERT_TRUE(gate->WaitUntilHeld());
  EXPECT_EQ(watcher.controller.counts().failed, 0U) << "the pod may be another one by now";
  gate->Release();
  ASSERT_TRUE(Eventually([&] {
    cluster.clock.Advance(std::chrono::seconds(61));
    return watcher.controller.counts().failed == 2;
  }));
  EXPECT_FALSE(cluster.IsOpen("p0"));
  EXPECT_THAT(Reported(), ElementsAre()) << "what was not done is not reported";
  EXPECT_TRUE(Eventually([&] {
    cluster.clock.Advance(std::chrono::seconds(61));
    return cluster.IsOpen("p0") && !Reported().empty();
  }));
  EXPECT_EQ(Reported().front(), "Pod/p0 granted");
}

// Labels as infer-operator writes them: the set has the name of the role.
TEST(ScalingPods, InstancesOfTwoInferServicesAreTwo) {
  const auto instance = [](const char* service) {
    Json pod = Cluster::Pod("pod", "g0");
    Json& labels = pod["metadata"]["labels"];
    labels["infer.huawei.com/inferservice-name"] = service;
    labels["infer.huawei.com/instanceset-name"] = "prefill";
    labels["infer.huawei.com/instanceset-index"] = "0";
    return PodOf(json::Document(pod).root())->instance;
  };
  EXPECT_EQ(instance("chat-0"), "InstanceSet/chat-0-prefill-0");
  EXPECT_EQ(instance("chat-1"), "InstanceSet/chat-1-prefill-0");
}

}  // namespace
}  // namespace mindgate::watcher::scaling
