#include <gmock/gmock.h>

#include <utility>

#include "deploy/cluster_fixture.h"
#include "deploy/health.h"

namespace mindgate::deploy {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

struct AppEventsTest : ClusterTest {
  int events = 0;

  void PutEvent(const std::string& time, const std::string& kind, const std::string& name,
                const std::string& note, const std::string& reporter = "other") {
    server.Put(kube::resources::kEvents,
               {{"metadata", {{"namespace", "llm"}, {"name", "e" + std::to_string(events++)}}},
                {"eventTime", "2026-01-01T00:00:" + time + ".000000Z"},
                {"type", "Warning"},
                {"reason", "Reported"},
                {"note", note},
                {"reportingController", reporter},
                {"regarding", {{"kind", kind}, {"name", name}}}});
  }
  void PutOf(const kube::Resource& resource, const std::string& name, const Json& labels,
             const Json& owner = nullptr) {
    Json object = {{"metadata", {{"namespace", "llm"}, {"name", name}, {"labels", labels}}}};
    if (owner.is_object()) object["metadata"]["ownerReferences"] = Json::array({owner});
    server.Put(resource, object);
  }
  std::vector<std::string> Reported() {
    const auto health = Value(LookAtHealth(client, "llm", "chat", {}));
    std::vector<std::string> reported;
    for (const EventState& event : health->events) {
      reported.push_back(event.about + ": " + event.message);
    }
    return reported;
  }
};

TEST_F(AppEventsTest, WhatControllersMadeInBetweenIsReported) {
  server.Register({.resource = resources::kLeaderWorkerSets, .custom = true});
  server.Register({.resource = resources::kPodSets, .custom = true});
  Deploy(kOmeConfig);
  const Json labels = {{"ome.io/inferenceservice", "chat"}};
  PutOf(kube::resources::kReplicaSets, "chat-engine-5d", labels);
  PutOf(resources::kLeaderWorkerSets, "chat-decoder", labels);
  const Json replica_set = server.Find(kube::resources::kReplicaSets, "llm", "chat-engine-5d");
  const Json owner = {
      {"kind", "ReplicaSet"}, {"name", "chat-engine-5d"}, {"uid", UidOf(replica_set)}};
  PutOf(kube::resources::kPodGroups, "podgroup-1", nullptr, owner);
  PutOf(kube::resources::kPodGroups, "podgroup-2", nullptr,
        {{"kind", "ReplicaSet"}, {"name", "other"}, {"uid", "other"}});
  Json pod = mindgate::testing::PodOf("llm", "chat-engine-5d-x", labels);
  pod["metadata"]["ownerReferences"] = Json::array({owner});
  pod["metadata"]["annotations"] = {{"scheduling.k8s.io/group-name", "podgroup-3"}};
  server.Put(kube::resources::kPods, pod);
  PutEvent("01", "ReplicaSet", "chat-engine-5d", "exceeded quota");
  PutEvent("02", "LeaderWorkerSet", "chat-decoder", "groups");
  PutEvent("03", "PodGroup", "podgroup-1", "2/3 tasks in gang unschedulable");
  PutEvent("04", "PodGroup", "podgroup-2", "of others");
  PutEvent("05", "PodGroup", "podgroup-3", "named by a pod");
  PutEvent("06", "Pod", "chat-engine-5d-x", "an instance is let in", "mindgate.io/watcher");
  PutEvent("07", "Pod", "chat-2-engine", "of others");
  EXPECT_THAT(Reported(), ElementsAre("ReplicaSet chat-engine-5d: exceeded quota",
                                      "LeaderWorkerSet chat-decoder: groups",
                                      "PodGroup podgroup-1: 2/3 tasks in gang unschedulable",
                                      "PodGroup podgroup-3: named by a pod",
                                      "Pod chat-engine-5d-x: an instance is let in"));
}

TEST_F(AppEventsTest, DecisionsAreNotDisplaced) {
  Deploy(kOmeConfig);
  PutEvent("00", "InferenceService", "chat", "decided", "mindgate.io/watcher");
  for (int i = 10; i < 40; ++i) {
    PutEvent(std::to_string(i), "InferenceService", "chat", std::to_string(i));
  }
  const auto reported = Reported();
  EXPECT_THAT(reported, SizeIs(11u));
  EXPECT_EQ(reported.front(), "InferenceService chat: decided");
  EXPECT_EQ(reported.back(), "InferenceService chat: 39");
}

}  // namespace
}  // namespace mindgate::deploy
