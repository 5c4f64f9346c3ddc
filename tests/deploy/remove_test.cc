#include "deploy/remove.h"

#include <gmock/gmock.h>

#include "deploy/cluster_fixture.h"

namespace mindgate::deploy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

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
    Json pod = mindgate::testing::PodOf(
        "llm", "chat-engine-0", {{"ome.io/inferenceservice", "chat"}, {"component", "engine"}});
    pod["metadata"]["ownerReferences"] = {
        {{"kind", "ReplicaSet"}, {"name", "chat-engine-5d"}, {"uid", "uid-of-replicaset"}}};
    server.Put(kube::resources::kPods, pod);
  }
  // Volcano's controller makes it, without labels (pg_controller_handler.go).
  void PutPodGroup(const std::string& name, const std::string& owner) {
    server.Put(kube::resources::kPodGroups,
               {{"metadata",
                 {{"namespace", "llm"},
                  {"name", name},
                  {"finalizers", {"example.com/hold"}},
                  {"ownerReferences",
                   {{{"kind", "ReplicaSet"}, {"name", "chat-engine-5d"}, {"uid", owner}}}}}}});
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

// Whatever SERVING_FRAMEWORK is, the framework is read from the objects.
TEST_F(RemoveTest, TheFrameworkIsFoundByLabel) {
  Deploy(kAibrixConfig);
  Deploy(kMindieConfig);
  EXPECT_EQ(Value(PlanRemoval(client, "llm", "q", false, {})).framework, Framework::kAibrix);
  const RemovalPlan plan = Value(PlanRemoval(client, "mindie", "motor", false, {}));
  EXPECT_EQ(plan.framework, Framework::kMindie);
  EXPECT_EQ(plan.objects.size(), 11u);
}

// Labels can be copied, who applied an object cannot.
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

// What hangs is named, with its finalizers.
TEST_F(RemoveTest, WhatDoesNotGoIsNamed) {
  Deploy(kOmeConfig);
  deletes = false;
  PutPod();
  PutPodGroup("podgroup-1", "uid-of-replicaset");
  PutPodGroup("podgroup-of-others", "uid-of-others");
  const ApplyResult result = Delete("llm", "chat", {.timeout = std::chrono::seconds(10)});
  EXPECT_EQ(result.outcome, Outcome::kTimedOut);
  EXPECT_THAT(result.message, HasSubstr("not gone within 10 s: InferenceService chat (finalizers: "
                                        "foregroundDeletion)"));
  EXPECT_THAT(result.message, HasSubstr("PodGroup podgroup-1 (finalizers: example.com/hold)"));
  EXPECT_THAT(result.message, Not(HasSubstr("podgroup-of-others")));
}

// LeaderWorkerSet makes PodGroups that leader pods own; the pods name them.
TEST_F(RemoveTest, PodGroupsThatPodsNameAreAwaitedIfSomethingDeletesThem) {
  Deploy(kOmeConfig);
  deletes = false;
  for (const char* name : {"chat-decoder-0-1", "made-by-hand"}) {
    Json pod = mindgate::testing::PodOf("llm", std::string("pod-of-") + name,
                                        {{"ome.io/inferenceservice", "chat"}});
    pod["metadata"]["annotations"] = {{"scheduling.k8s.io/group-name", name}};
    server.Put(kube::resources::kPods, pod);
  }
  PutPodGroup("chat-decoder-0-1", "uid-of-leader");
  server.Put(kube::resources::kPodGroups,
             {{"metadata", {{"namespace", "llm"}, {"name", "made-by-hand"}}}});
  const ApplyResult result = Delete("llm", "chat", {.timeout = std::chrono::seconds(10)});
  EXPECT_THAT(result.message, HasSubstr(" and 1 more"));
  EXPECT_THAT(steps.back(), HasSubstr("waiting for InferenceService chat"));
  for (const char* pod : {"pod-of-chat-decoder-0-1", "pod-of-made-by-hand", "chat-mf-store-0"}) {
    server.Remove(kube::resources::kPods, "llm", pod);
  }
}

// The objects went in the background, and the pods take their time.
TEST_F(RemoveTest, DeletingAgainWaitsForPodsThatAreStillTerminating) {
  PutPod();
  Json pod = server.Find(kube::resources::kPods, "llm", "chat-engine-0");
  pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  server.Put(kube::resources::kPods, pod);
  // One of somebody who uses OME without us.
  server.Put(kube::resources::kPods,
             mindgate::testing::PodOf("llm", "chat-other", {{"storm-service-name", "chat"}}));
  const ApplyResult result = Delete("llm", "chat");
  EXPECT_EQ(result.outcome, Outcome::kDone) << result.message;
  EXPECT_THAT(steps, ElementsAre("waiting for Pod chat-engine-0"));
}

TEST_F(RemoveTest, WaitingGoesOnWhenTheServerRestarts) {
  Deploy(kOmeConfig);
  PutPod();
  sleeper.Then([this] {
    clock.Advance(kPollTime);
    if (server.Find(kube::resources::kPods, "llm", "chat-engine-0").is_object()) {
      server.AnswerNext(1, {.method = "GET", .target_part = "/pods?"}, {.status = 503});
    }
    Play();
  });
  const ApplyResult result = Delete("llm", "chat");
  EXPECT_EQ(result.outcome, Outcome::kDone) << result.message;
}

// "llm" and "chat" of one application can begin the names of another one.
TEST_F(RemoveTest, PriorityClassesAreTakenByTheirWholeName) {
  const auto put = [this](const std::string& name, const Json& annotations) {
    server.Put(resources::kPriorityClasses,
               {{"metadata",
                 {{"name", name},
                  {"annotations", annotations},
                  {"managedFields", {{{"manager", "mindgate-deploy"}, {"operation", "Apply"}}}},
                  {"labels",
                   {{"app.kubernetes.io/managed-by", "mindgate-deploy"},
                    {"app.kubernetes.io/instance", "chat"}}}}},
                {"value", 1}});
  };
  put("llm-chat-prefill", nullptr);
  put("llm-chat-decode", {{"mindgate.io/application", "llm/chat"}});
  put("llm-chat-chat-prefill", nullptr);  // of chat in namespace llm-chat
  put("llm-chat-chat-decode", {{"mindgate.io/application", "llm-chat/chat"}});
  EXPECT_THAT(Titles(),
              ElementsAre("PriorityClass llm-chat-decode", "PriorityClass llm-chat-prefill"));
}

// `mindgate deploy --dry-run | kubectl apply -f -`, and Argo CD.
TEST_F(RemoveTest, ObjectsThatAPipelineAppliedAreOurs) {
  const auto put = [this](const std::string& name, const Json& annotations, const Json& owners) {
    server.Put(kube::resources::kServices, {{"metadata",
                                             {{"namespace", "llm"},
                                              {"name", name},
                                              {"annotations", annotations},
                                              {"ownerReferences", owners},
                                              {"labels",
                                               {{"app.kubernetes.io/managed-by", "mindgate-deploy"},
                                                {"app.kubernetes.io/instance", "chat"}}}}}});
  };
  const Json ours = {{"mindgate.io/application", "llm/chat"}};
  put("applied", ours, Json::array());
  put("copied", {{"mindgate.io/application", "test/chat"}}, Json::array());
  // OME copies labels and annotations to what it makes, which goes with its owner.
  put("made-by-ome", ours,
      {{{"kind", "InferenceService"}, {"name", "chat"}, {"uid", "1"}, {"controller", true}}});
  const RemovalPlan plan = Value(PlanRemoval(client, "llm", "chat", false, {}));
  EXPECT_THAT(plan.applied_by_others, ElementsAre("Service applied"));
  EXPECT_THAT(plan.foreign, ElementsAre("Service copied"));
  EXPECT_THAT(Titles(), ElementsAre("Service applied"));
}

// Kinds of frameworks that the user has nothing to do with.
TEST_F(RemoveTest, OnlyWhatTheFrameworkNeedsMustBeReadable) {
  const auto plan = [this] { return PlanRemoval(client, "llm", "chat", false, {}); };
  for (const char* kind : {"stormservices", "ascendjobs", "priorityclasses"}) {
    server.Forbid("list", kind);
  }
  ASSERT_TRUE(plan());
  EXPECT_THAT(plan()->unread, SizeIs(2u));  // nothing says that it is no application of AIBrix
  Deploy(kOmeConfig);
  ASSERT_TRUE(plan());
  EXPECT_THAT(plan()->objects, SizeIs(3u));
  EXPECT_THAT(plan()->unread, IsEmpty());
  server.Forbid("list", "deployments");
  ASSERT_FALSE(plan());
  EXPECT_EQ(plan().error().reason, kube::Reason::kForbidden);
  server.AllowAll();
  for (const char* kind : {"stormservices", "ascendjobs", "inferenceservices"}) {
    server.Forbid("list", kind);
  }
  EXPECT_FALSE(plan());
}

TEST_F(RemoveTest, PriorityClassesThatMayNotBeListedAreReported) {
  Deploy(kMindieConfig);
  server.Forbid("list", "priorityclasses");
  const RemovalPlan plan = Value(PlanRemoval(client, "mindie", "motor", false, {}));
  ASSERT_THAT(plan.unread, SizeIs(1u));
  EXPECT_EQ(plan.unread[0].kind, "PriorityClass");
}

TEST_F(RemoveTest, AMissingRightIsReportedAsSuch) {
  Deploy(kAibrixConfig);
  server.Forbid("delete", "stormservices");
  const ApplyResult result = Delete("llm", "q");
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_TRUE(result.forbidden);
  // Nothing goes before it is known what to wait for.
  server.AllowAll();
  server.Forbid("list", "pods");
  server.ForgetRequests();
  EXPECT_TRUE(Delete("llm", "q").forbidden);
  EXPECT_THAT(Writes(), IsEmpty());
}

TEST_F(RemoveTest, ADryRunDeletesNothing) {
  Deploy(kOmeConfig);
  server.ForgetRequests();
  steps.clear();
  Delete("llm", "chat", {.dry_run = true});
  EXPECT_EQ(Titles().size(), 3u);
  EXPECT_EQ(steps[0], "InferenceService chat would be deleted");
}

// As deploying does: an API server that restarts, or a webhook that is updated, is back soon.
TEST_F(RemoveTest, CallsThatAreNotAnsweredAreRetried) {
  using kube::testing::StatusAnswer;
  for (const auto& answer :
       {StatusAnswer(503, "ServiceUnavailable", "the server is starting"),
        StatusAnswer(429, "TooManyRequests", "too many requests"),
        StatusAnswer(500, "InternalError",
                     "Internal error occurred: failed calling webhook \"a.b\": no answer")}) {
    Deploy(kOmeConfig);
    steps.clear();
    server.AnswerNext(2, {.method = "DELETE", .target_part = "deployments/chat-mf-store"}, answer);
    const ApplyResult result = Delete("llm", "chat");
    EXPECT_EQ(result.outcome, Outcome::kDone) << result.message;
    EXPECT_THAT(steps[1], HasSubstr("trying again: "));
    EXPECT_THAT(result.left, IsEmpty());
  }
}

TEST_F(RemoveTest, WhatAFailureLeavesIsNamed) {
  Deploy(kOmeConfig);
  server.AnswerNext(1, {.method = "DELETE", .target_part = "deployments/chat-mf-store"},
                    kube::testing::StatusAnswer(403, "Forbidden", "a policy says no"));
  const ApplyResult result = Delete("llm", "chat");
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_EQ(result.written, 1u);
  EXPECT_THAT(result.left, ElementsAre("Deployment chat-mf-store", "Service chat-mf-store"));
}

}  // namespace
}  // namespace mindgate::deploy
