#include "deploy/remove.h"

#include <gmock/gmock.h>

#include "deploy/cluster_fixture.h"

namespace mindgate::deploy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A cluster whose garbage collector ends what waits for it, and whose pods go one by one.
struct RemoveTest : ClusterTest {
  bool deletes = true;

  void Play() override {
    mindgate::testing::PlayDeployments(server, "llm", "chat");
    if (!deletes) return;
    for (const auto& [resource, name] :
         {std::pair(resources::kInferenceServices, "chat"),
          std::pair(kube::resources::kDeployments, "chat-mf-store")}) {
      const Json object = server.Find(resource, "llm", name);
      if (object.is_object() && object["metadata"].contains("deletionTimestamp")) {
        server.Remove(resource, "llm", name);
      }
    }
    if (server.Find(kube::resources::kDeployments, "llm", "chat-mf-store").is_null()) {
      server.Remove(kube::resources::kPods, "llm", "chat-mf-store-0");
    }
    if (server.Find(resources::kInferenceServices, "llm", "chat").is_null()) {
      server.Remove(kube::resources::kPods, "llm", "chat-engine-0");
    }
  }
  void PutPod() {
    server.Put(
        kube::resources::kPods,
        mindgate::testing::PodOf("llm", "chat-engine-0",
                                 {{"ome.io/inferenceservice", "chat"}, {"component", "engine"}}));
  }
};

TEST_F(RemoveTest, DeletesWhatBelongsToTheApplicationAndWaits) {
  Deploy(kOmeConfig);
  Deploy(kAibrixConfig);
  PutPod();
  steps.clear();
  const ApplyResult result = Delete("llm", "chat");
  EXPECT_EQ(result.outcome, Outcome::kDone) << result.message;
  EXPECT_THAT(steps,
              ElementsAre("InferenceService chat deleted", "Deployment chat-mf-store deleted",
                          "Service chat-mf-store deleted",
                          "waiting for InferenceService chat (finalizers: "
                          "foregroundDeletion), Deployment chat-mf-store (finalizers: "
                          "foregroundDeletion), Pod chat-engine-0, Pod chat-mf-store-0"));
  EXPECT_THAT(Titles(), IsEmpty());
  EXPECT_FALSE(server.Find(resources::kStormServices, "llm", "q").is_null());
}

TEST_F(RemoveTest, DeletingTwiceIsFine) {
  Deploy(kOmeConfig);
  Delete("llm", "chat");
  const ApplyResult again = Delete("llm", "chat");
  EXPECT_EQ(again.outcome, Outcome::kDone);
  EXPECT_EQ(again.written, 0u);
}

// D4: whatever SERVING_FRAMEWORK is, the framework is read from the objects.
TEST_F(RemoveTest, TheFrameworkIsFoundByLabel) {
  Deploy(kAibrixConfig);
  Deploy(kMindieConfig);
  EXPECT_EQ(Value(PlanRemoval(client, "llm", "q", false, {})).framework, Framework::kAibrix);
  const RemovalPlan plan = Value(PlanRemoval(client, "mindie", "motor", false, {}));
  EXPECT_EQ(plan.framework, Framework::kMindie);
  EXPECT_EQ(plan.objects.size(), 11u);
}

// D34: labels can be copied, who applied an object cannot.
TEST_F(RemoveTest, ObjectsOfOthersStay) {
  Deploy(kOmeConfig);
  server.Put(kube::resources::kServices, {{"metadata",
                                           {{"namespace", "llm"},
                                            {"name", "mine"},
                                            {"labels",
                                             {{"app.kubernetes.io/managed-by", "mindgate-deploy"},
                                              {"app.kubernetes.io/instance", "chat"}}}}}});
  EXPECT_THAT(Value(PlanRemoval(client, "llm", "chat", false, {})).foreign,
              ElementsAre("Service mine"));
  Delete("llm", "chat");
  EXPECT_FALSE(server.Find(kube::resources::kServices, "llm", "mine").is_null());
}

TEST_F(RemoveTest, TheStoreCanStay) {
  Deploy(kOmeConfig);
  steps.clear();
  EXPECT_EQ(Delete("llm", "chat", {.keep_store = true}).outcome, Outcome::kDone);
  EXPECT_EQ(steps[0], "Deployment chat-mf-store kept");
  const Json store = server.Find(kube::resources::kDeployments, "llm", "chat-mf-store");
  EXPECT_FALSE(store["metadata"].contains("ownerReferences"));
  // The next deployment takes it over again.
  EXPECT_EQ(Deploy(kOmeConfig).outcome, Outcome::kDone);
  EXPECT_TRUE(
      server.Find(kube::resources::kDeployments, "llm", "chat-mf-store")["metadata"].contains(
          "ownerReferences"));
}

// D36: what hangs is named, with its finalizers.
TEST_F(RemoveTest, WhatDoesNotGoIsNamed) {
  Deploy(kOmeConfig);
  deletes = false;
  server.Put(kube::resources::kPodGroups, {{"metadata",
                                            {{"namespace", "llm"},
                                             {"name", "podgroup-1"},
                                             {"finalizers", {"example.com/hold"}},
                                             {"labels", {{"ome.io/inferenceservice", "chat"}}}}}});
  const ApplyResult result = Delete("llm", "chat", {.timeout = std::chrono::seconds(10)});
  EXPECT_EQ(result.outcome, Outcome::kTimedOut);
  EXPECT_THAT(result.message, HasSubstr("not gone within 10 s: InferenceService chat (finalizers: "
                                        "foregroundDeletion)"));
  EXPECT_THAT(result.message, HasSubstr("PodGroup podgroup-1 (finalizers: example.com/hold)"));
}

TEST_F(RemoveTest, ADryRunDeletesNothing) {
  Deploy(kOmeConfig);
  server.ForgetRequests();
  steps.clear();
  Delete("llm", "chat", {.dry_run = true});
  EXPECT_EQ(Titles().size(), 3u);
  EXPECT_EQ(steps[0], "InferenceService chat would be deleted");
}

}  // namespace
}  // namespace mindgate::deploy
