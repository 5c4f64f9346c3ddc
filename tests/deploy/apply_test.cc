#include "deploy/apply.h"

#include <gmock/gmock.h>

#include <functional>
#include <tuple>

#include "deploy/cluster_fixture.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using kube::testing::StatusAnswer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using ApplyTest = ClusterTest;

Json OwnersOf(const Json& object) {
  const Json* owners = json::FindPath(object, {"metadata", "ownerReferences"});
  return owners == nullptr ? Json() : *owners;
}

// Engine and decoder resolve the store's address once, when they start.
TEST_F(ApplyTest, TheStoreIsReadyBeforeTheRestBegins) {
  const ApplyResult result = Deploy(kOmeConfig);
  EXPECT_EQ(result.outcome, Outcome::kDone) << result.message;
  EXPECT_THAT(steps,
              ElementsAre("Deployment chat-mf-store created", "Service chat-mf-store created",
                          "waiting for Deployment chat-mf-store", "InferenceService chat created"));
}

// Deleting the InferenceService with kubectl deletes the store as well.
TEST_F(ApplyTest, TheCustomResourceOwnsTheRest) {
  Deploy(kOmeConfig);
  const Json service = server.Find(resources::kInferenceServices, "llm", "chat");
  const Json owners = Json::array({{{"apiVersion", "ome.io/v1beta1"},
                                    {"kind", "InferenceService"},
                                    {"name", "chat"},
                                    {"uid", UidOf(service)}}});
  EXPECT_EQ(OwnersOf(server.Find(kube::resources::kDeployments, "llm", "chat-mf-store")), owners);
  EXPECT_EQ(OwnersOf(server.Find(kube::resources::kServices, "llm", "chat-mf-store")), owners);
}

TEST_F(ApplyTest, ASecondRunWritesNothing) {
  for (const auto& [config, ns] : {std::pair(kOmeConfig, "llm"), std::pair(kAibrixConfig, "llm"),
                                   std::pair(kMindieConfig, "mindie")}) {
    Deploy(config);
    server.ForgetRequests();
    const ApplyResult again = Deploy(config);
    EXPECT_EQ(again.outcome, Outcome::kDone) << again.message;
    EXPECT_EQ(again.written, 0u);
    EXPECT_THAT(Writes(), IsEmpty()) << config;
  }
}

// Ascend Operator fills rank tables: deploying again must not empty them.
TEST_F(ApplyTest, WhatControllersWroteIntoSeedsStays) {
  Deploy(kMindieConfig);
  Json table = server.Find(kube::resources::kConfigMaps, "mindie", "rings-config-motor-p0");
  table["data"]["hccl.json"] = R"({"status":"completed"})";
  server.Put(kube::resources::kConfigMaps, table);
  server.ForgetRequests();
  Deploy(kMindieConfig);
  EXPECT_THAT(Writes(), IsEmpty());
  EXPECT_EQ(server.Find(kube::resources::kConfigMaps, "mindie",
                        "rings-config-motor-p0")["data"]["hccl.json"],
            R"({"status":"completed"})");
}

// A merge patch would leave the old runner beside leader and worker.
TEST_F(ApplyTest, WhatTheConfigurationNoLongerNamesIsRemoved) {
  Deploy(kOmeConfig);
  Deploy(With(kOmeConfig, "  decoder:\n", "  decoder:\n    pod_num: 2\n"));
  const Json spec = server.Find(resources::kInferenceServices, "llm", "chat")["spec"]["decoder"];
  EXPECT_TRUE(spec.contains("leader"));
  EXPECT_TRUE(spec.contains("worker"));
  EXPECT_FALSE(spec.contains("runner"));
  EXPECT_FALSE(spec.contains("annotations"));
}

// Fewer replicas leave no Services behind.
TEST_F(ApplyTest, SurplusObjectsAreDeleted) {
  const std::string larger = With(kAibrixConfig, "  prefill:\n", "  prefill:\n    replicas: 2\n");
  Deploy(larger);
  EXPECT_FALSE(server.Find(kube::resources::kServices, "llm", "q-prefill-1").is_null());
  steps.clear();
  Deploy(kAibrixConfig, {.prune = false});
  EXPECT_FALSE(server.Find(kube::resources::kServices, "llm", "q-prefill-1").is_null());
  Deploy(kAibrixConfig);
  EXPECT_TRUE(server.Find(kube::resources::kServices, "llm", "q-prefill-1").is_null());
  EXPECT_THAT(steps, ElementsAre("StormService q changed",
                                 "Service q-prefill-1 deleted: it is no longer part of the "
                                 "application"));
}

// Scaling in removes the instance that the configuration no longer has, by its name.
TEST_F(ApplyTest, MindieScalesInByTheJobsThatExist) {
  Deploy(kMindieConfig);
  steps.clear();
  Deploy(With(kMindieConfig, "instances: 2", "instances: 1"));
  EXPECT_THAT(steps,
              ElementsAre("ConfigMap motor-scaling-rule changed",
                          "AscendJob motor-p1 deleted: it is no longer part of the application",
                          "ConfigMap rings-config-motor-p1 deleted: it is no longer part of the "
                          "application"));
}

// Objects of others are refused, by label and by who applied them.
TEST_F(ApplyTest, ObjectsOfOthersAreLeftAlone) {
  server.Put(kube::resources::kServices, {{"metadata",
                                           {{"namespace", "llm"},
                                            {"name", "chat-mf-store"},
                                            {"labels",
                                             {{"app.kubernetes.io/managed-by", "mindgate-deploy"},
                                              {"app.kubernetes.io/instance", "chat"}}}}}});
  const Plan plan = PlanOf(kOmeConfig);
  ASSERT_EQ(plan.blockers.size(), 1u);
  EXPECT_EQ(plan.blockers[0].what,
            "Service chat-mf-store in namespace llm exists already and is not of application chat");
  EXPECT_THAT(PlanOf(kOmeConfig, {.force = true}).blockers, IsEmpty());
}

// Deletions are tried like all else, before anything is written.
TEST_F(ApplyTest, DeletionsThatAreNotAllowedAreObstacles) {
  Deploy(kMindieConfig);
  server.Forbid("delete", "ascendjobs");
  const auto texts = [](const Plan& plan) {
    std::vector<std::string> whats;
    for (const Problem& each : plan.blockers) whats.push_back(each.what);
    return whats;
  };
  const std::string fewer = With(kMindieConfig, "instances: 2", "instances: 1");
  server.ForgetRequests();
  EXPECT_THAT(texts(PlanOf(fewer)),
              ElementsAre(HasSubstr("AscendJob motor-p1 cannot be deleted: ")));
  EXPECT_THAT(texts(PlanOf(fewer, {.prune = false})), IsEmpty());
  EXPECT_THAT(texts(PlanOf(With(kMindieConfig, "mindie:1.0.0", "mindie:1.0.1"), {.replace = true})),
              ::testing::SizeIs(5));
  EXPECT_THAT(Writes(), IsEmpty());
}

// What cannot be deployed is not tried, but objects of others are found.
TEST_F(ApplyTest, WithoutTryingOnlyWhatIsInTheWayIsFound) {
  server.Put(kube::resources::kServices,
             {{"metadata", {{"namespace", "llm"}, {"name", "q-router"}}}});
  server.ForgetRequests();
  const Plan plan = PlanOf(kAibrixConfig, {.try_out = false});
  ASSERT_EQ(plan.blockers.size(), 1u);
  EXPECT_EQ(plan.blockers[0].what,
            "Service q-router in namespace llm exists already and is not of application q");
  EXPECT_EQ(server.Count({.method = "PATCH"}), 0u);
}

TEST_F(ApplyTest, FieldsOfOthersAreConflicts) {
  Deploy(kOmeConfig);
  Value(client.MergePatch(resources::kInferenceServices, "llm", "chat",
                          {{"spec", {{"engine", {{"minReplicas", 5}}}}}}));
  EXPECT_THAT(PlanOf(kOmeConfig).blockers, ::testing::SizeIs(1));
  Deploy(kOmeConfig, {.force = true}, {.force = true});
  EXPECT_EQ(
      server.Find(resources::kInferenceServices, "llm", "chat")["spec"]["engine"]["minReplicas"],
      1);
}

// The operator reads a job once.
TEST_F(ApplyTest, AChangedJobMustBeSubmittedAgain) {
  Deploy(kMindieConfig);
  const std::string changed = With(kMindieConfig, "mindie:1.0.0", "mindie:1.0.1");
  const Plan plan = PlanOf(changed);
  ASSERT_EQ(plan.blockers.size(), 5u);  // every job
  EXPECT_EQ(plan.blockers[0].what,
            "AscendJob motor-coordinator is submitted already, and Ascend Operator does not read "
            "its changes");
  const std::string uid = UidOf(server.Find(resources::kAscendJobs, "mindie", "motor-p0"));
  steps.clear();
  sleeper.Then([this] {
    clock.Advance(kPollTime);
    // The garbage collector is done.
    for (const char* name :
         {"motor-coordinator", "motor-controller", "motor-p0", "motor-p1", "motor-d0"}) {
      const Json job = server.Find(resources::kAscendJobs, "mindie", name);
      if (job.is_object() && job["metadata"].contains("deletionTimestamp")) {
        server.Remove(resources::kAscendJobs, "mindie", name);
      }
    }
  });
  const ApplyResult result = Deploy(changed, {}, {.replace = true});
  EXPECT_EQ(result.outcome, Outcome::kDone) << result.message;
  EXPECT_NE(UidOf(server.Find(resources::kAscendJobs, "mindie", "motor-p0")), uid);
  EXPECT_EQ(steps[0], "AscendJob motor-coordinator deleted, to be submitted again");
  EXPECT_EQ(steps[1], "AscendJob motor-coordinator submitted again");
}

// Labels and annotations as well: its PodGroup has copied them.
TEST_F(ApplyTest, AJobWhoseMetadataChangesMustBeSubmittedAgain) {
  const auto blocked = [this](std::string_view text) {
    std::vector<std::string> titles;
    for (const Problem& each : PlanOf(text).blockers) {
      titles.push_back(each.what.substr(0, each.what.find(" is submitted already")));
    }
    return titles;
  };
  const auto with_annotations = [](const char* map) {
    return With(kMindieConfig, "  decode:\n",
                std::string("  decode:\n    annotations: ") + map + "\n");
  };
  Deploy(with_annotations("{a: b, c: d}"));
  EXPECT_THAT(blocked(with_annotations("{c: d, a: b}")), IsEmpty());
  for (const char* map : {"{a: b}", "{a: b, c: e}", "{a: b, c: d, e: f}"}) {
    EXPECT_THAT(blocked(with_annotations(map)), ElementsAre("AscendJob motor-d0")) << map;
  }
  const std::string retries = With(with_annotations("{a: b, c: d}"), "  prefill:\n",
                                   "  fault_retry_times: 7\n  prefill:\n");
  EXPECT_THAT(blocked(retries),
              ElementsAre("AscendJob motor-p0", "AscendJob motor-p1", "AscendJob motor-d0"));
  const Plan plan = PlanOf(retries, {.replace = true});
  EXPECT_THAT(plan.blockers, IsEmpty());
  for (const PlannedObject& each : plan.objects) {
    const bool is_server = each.Title().starts_with("AscendJob motor-p") ||
                           each.Title().starts_with("AscendJob motor-d");
    EXPECT_EQ(each.replace, is_server) << each.Title();
  }
}

// Marks say nothing to Volcano: jobs of before, which lack one, are only changed. What others write
// is theirs.
TEST_F(ApplyTest, MarksAndMetadataOfOthersSubmitNoJobAgain) {
  Deploy(kMindieConfig);
  Json job = server.Find(resources::kAscendJobs, "mindie", "motor-d0");
  job["metadata"]["annotations"].erase("mindgate.io/application");
  job["metadata"]["annotations"]["theirs"] = "a";
  job["metadata"]["labels"]["theirs"] = "b";
  server.Put(resources::kAscendJobs, job);
  const ApplyResult result = Deploy(kMindieConfig);
  EXPECT_EQ(result.outcome, Outcome::kDone) << result.message;
  EXPECT_EQ(result.written, 1u);
  EXPECT_EQ(steps.back(), "AscendJob motor-d0 changed");
  job = server.Find(resources::kAscendJobs, "mindie", "motor-d0");
  EXPECT_EQ(job["metadata"]["annotations"]["mindgate.io/application"], "mindie/motor");
  EXPECT_EQ(job["metadata"]["labels"]["theirs"], "b");
}

TEST_F(ApplyTest, WaitsUntilEveryPodIsReady) {
  const ApplyResult result = Deploy(kOmeConfig, {.wait = true});
  EXPECT_EQ(result.outcome, Outcome::kDone) << result.message;
}

// Somebody deletes what is waited for: no pod is missing of what is gone.
TEST_F(ApplyTest, WaitingEndsWhenTheApplicationIsDeleted) {
  struct Case {
    const char* what;
    std::function<void(FakeApiServer&)> happens;
    const char* message;
  };
  const auto leave = [](FakeApiServer& api, const kube::Resource& resource, const char* name) {
    Json object = api.Find(resource, "llm", name);
    object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    object["metadata"]["finalizers"] = {"foregroundDeletion"};
    api.Put(resource, object);
  };
  for (const Case& each :
       {Case{"in the foreground", [&](auto& api) { leave(api, resources::kStormServices, "q"); },
             "StormService q is being deleted by somebody (finalizers: foregroundDeletion)"},
        {"at once", [](auto& api) { api.Remove(resources::kStormServices, "llm", "q"); },
         "StormService q is gone: somebody deleted it meanwhile"},
        {"and recreated",
         [](auto& api) {
           Json another = api.Find(resources::kStormServices, "llm", "q");
           another["metadata"]["uid"] = "another";
           api.Put(resources::kStormServices, another);
         },
         "StormService q is another one: somebody deleted it and made it again meanwhile"},
        {"a part of it", [&](auto& api) { leave(api, kube::resources::kServices, "q-router"); },
         "Service q-router is being deleted by somebody (finalizers: foregroundDeletion)"}}) {
    int pauses = 0;
    sleeper.Then([&] {
      clock.Advance(kPollTime);
      if (++pauses == 2) each.happens(server);
    });
    const ApplyResult result =
        Deploy(kAibrixConfig, {.wait = true, .timeout = std::chrono::seconds(60)});
    EXPECT_EQ(result.outcome, Outcome::kFailed) << each.what;
    EXPECT_EQ(result.message,
              std::string("the application does not become healthy: ") + each.message);
    server.Remove(resources::kStormServices, "llm", "q");
    server.Remove(kube::resources::kServices, "llm", "q-router");
  }
}

struct StuckTest : ClusterTest {
  void Play() override {
    mindgate::testing::PlayDeployments(server, "llm", "chat");
    if (server.Find(kube::resources::kPods, "llm", "chat-engine-0").is_object()) return;
    Json pod = mindgate::testing::PodOf(
        "llm", "chat-engine-0", {{"ome.io/inferenceservice", "chat"}, {"component", "engine"}},
        false);
    pod["status"]["containerStatuses"] = {
        {{"name", "main"}, {"state", {{"waiting", {{"reason", "ImagePullBackOff"}}}}}}};
    server.Put(kube::resources::kPods, pod);
  }
};

// A time limit, and nothing left behind.
TEST_F(StuckTest, RollsBackWhatDoesNotBecomeHealthy) {
  const ApplyResult result =
      Deploy(kOmeConfig, {.atomic = true, .timeout = std::chrono::seconds(20)});
  EXPECT_EQ(result.outcome, Outcome::kTimedOut);
  EXPECT_EQ(result.message,
            "the application was not healthy within 20 s: pod chat-engine-0: ImagePullBackOff");
  EXPECT_TRUE(result.rolled_back);
  EXPECT_THAT(Titles(), IsEmpty());
}

TEST_F(StuckTest, RollsBackToWhatWasThere) {
  ASSERT_EQ(Deploy(kOmeConfig).outcome, Outcome::kDone);
  const Json before = server.Find(resources::kInferenceServices, "llm", "chat")["spec"];
  const ApplyResult result =
      Deploy(With(kOmeConfig, "  decoder:\n", "  decoder:\n    pod_num: 2\n    labels: {a: b}\n"),
             {.atomic = true, .timeout = std::chrono::seconds(20)});
  EXPECT_EQ(result.outcome, Outcome::kTimedOut);
  EXPECT_TRUE(result.rolled_back);
  EXPECT_EQ(server.Find(resources::kInferenceServices, "llm", "chat")["spec"], before);
  server.ForgetRequests();
  Deploy(kOmeConfig);
  EXPECT_THAT(Writes(), IsEmpty());
}

TEST_F(ApplyTest, AFailureInTheMiddleIsUndone) {
  const Configuration configuration = Read(kOmeConfig);
  const Plan plan = PlanOf(kOmeConfig);
  ASSERT_THAT(plan.blockers, IsEmpty());
  server.AnswerNext(100, {.method = "PATCH", .target_part = "inferenceservices/chat"},
                    StatusAnswer(500, "InternalError", "etcd is full"));
  const ApplyResult result =
      CarryOut(client, sleeper, clock, configuration.application, plan, {.atomic = true},
               {.step = [this](const std::string& line) { steps.push_back(line); }}, {});
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("etcd is full"));
  EXPECT_THAT(Titles(), IsEmpty());
}

// Killed after any number of writes, a second run finishes what the first began.
TEST_F(ApplyTest, ASecondRunGoesOnWhereTheFirstEnded) {
  for (size_t writes = 1; writes <= 4; ++writes) {
    const Configuration configuration = Read(kOmeConfig);
    const Plan plan = PlanOf(kOmeConfig);
    std::stop_source stop;
    size_t seen = 0;
    CarryOut(client, sleeper, clock, configuration.application, plan, {},
             {.step =
                  [&](const std::string&) {
                    if (++seen == writes) stop.request_stop();
                  }},
             stop.get_token());
    Deploy(kOmeConfig);
    server.ForgetRequests();
    EXPECT_EQ(Deploy(kOmeConfig).written, 0u);
    EXPECT_THAT(Writes(), IsEmpty());
    EXPECT_EQ(Titles().size(), 3u);
    EXPECT_TRUE(
        OwnersOf(server.Find(kube::resources::kServices, "llm", "chat-mf-store")).is_array());
    for (const auto& [resource, name] : {std::pair(resources::kInferenceServices, "chat"),
                                         std::pair(kube::resources::kDeployments, "chat-mf-store"),
                                         std::pair(kube::resources::kServices, "chat-mf-store")}) {
      server.Remove(resource, "llm", name);
    }
  }
}

// Killed after any number of writes, `delete` leaves nothing.
TEST_F(ApplyTest, DeletingAfterAnInterruptionLeavesNothing) {
  for (const auto& [config, ns, app] :
       {std::tuple(kOmeConfig, "llm", "chat"), std::tuple(kAibrixConfig, "llm", "q"),
        std::tuple(kMindieConfig, "mindie", "motor")}) {
    for (size_t writes = 1; writes <= 6; ++writes) {
      const Configuration configuration = Read(config);
      const Plan plan = PlanOf(config);
      std::stop_source stop;
      size_t seen = 0;
      CarryOut(client, sleeper, clock, configuration.application, plan, {},
               {.step =
                    [&](const std::string&) {
                      if (++seen == writes) stop.request_stop();
                    }},
               stop.get_token());
      Delete(ns, app, {.wait = false});
      // The garbage collector finishes what is deleted in the foreground.
      for (const Json& object : Value(FindObjects(client, ns, app, {})).objects) {
        EXPECT_TRUE(object["metadata"].contains("deletionTimestamp")) << TitleOf(object);
        server.Remove(ResourceOf(object), NamespaceOf(object), NameOf(object));
      }
    }
  }
}

TEST_F(ApplyTest, ASecondRunOfMindieGoesOnWhereTheFirstEnded) {
  for (size_t writes = 1; writes <= 12; ++writes) {
    const Configuration configuration = Read(kMindieConfig);
    const Plan plan = PlanOf(kMindieConfig);
    std::stop_source stop;
    size_t seen = 0;
    CarryOut(client, sleeper, clock, configuration.application, plan, {},
             {.step =
                  [&](const std::string&) {
                    if (++seen == writes) stop.request_stop();
                  }},
             stop.get_token());
    Deploy(kMindieConfig);
    server.ForgetRequests();
    EXPECT_EQ(Deploy(kMindieConfig).written, 0u);
    EXPECT_THAT(Writes(), IsEmpty());
    for (const Json& object : Value(FindObjects(client, "mindie", "motor", {})).objects) {
      server.Remove(ResourceOf(object), NamespaceOf(object), NameOf(object));
    }
  }
}

// Also the first time, when no object names the framework yet.
TEST_F(ApplyTest, TheRightsForTheKindsOfOneFrameworkAreEnough) {
  for (const char* kind : {"deployments", "configmaps", "inferenceservices", "ascendjobs"}) {
    server.Forbid("list", kind);
  }
  EXPECT_EQ(Deploy(kAibrixConfig).outcome, Outcome::kDone);
  EXPECT_EQ(Deploy(kAibrixConfig).written, 0u);
  const Configuration ome = Read(kOmeConfig);
  const auto plan = MakePlan(client, ome.application, Render(ome.application), {}, {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().reason, kube::Reason::kForbidden);
}

// Jobs that were deleted and not submitted again are submitted by the next run.
TEST_F(ApplyTest, ASecondRunSubmitsWhatAnInterruptedOneDeleted) {
  Deploy(kMindieConfig);
  const std::string changed = With(kMindieConfig, "mindie:1.0.0", "mindie:1.0.1");
  sleeper.Then([this] {
    clock.Advance(kPollTime);
    for (const Json& job : Value(client.ListObjects(resources::kAscendJobs, "mindie"))) {
      if (job["metadata"].contains("deletionTimestamp")) {
        server.Remove(resources::kAscendJobs, "mindie", NameOf(job));
      }
    }
  });
  const Configuration configuration = Read(changed);
  const Plan plan = PlanOf(changed, {.replace = true});
  std::stop_source stop;
  CarryOut(client, sleeper, clock, configuration.application, plan, {},
           {.step =
                [&](const std::string& line) {
                  if (line.starts_with("AscendJob motor-p0 deleted")) stop.request_stop();
                }},
           stop.get_token());
  sleeper.Sleep(kPollTime, {});
  EXPECT_TRUE(server.Find(resources::kAscendJobs, "mindie", "motor-p0").is_null());
  Deploy(changed, {}, {.replace = true});
  for (const char* name : {"motor-coordinator", "motor-controller", "motor-p0", "motor-d0"}) {
    const Json job = server.Find(resources::kAscendJobs, "mindie", name);
    EXPECT_EQ(job["spec"]["replicaSpecs"]["Master"]["template"]["spec"]["containers"][0]["image"],
              "mindie:1.0.1")
        << name;
  }
  server.ForgetRequests();
  EXPECT_EQ(Deploy(changed).written, 0u);
  EXPECT_THAT(Writes(), IsEmpty());
}

TEST_F(ApplyTest, TwoApplicationsSideBySide) {
  Deploy(kOmeConfig);
  Deploy(kAibrixConfig);
  Deploy(With(kAibrixConfig, "app_name: q\n", "app_name: r\n"));
  server.ForgetRequests();
  EXPECT_EQ(Deploy(kOmeConfig).written, 0u);
  EXPECT_EQ(Deploy(kAibrixConfig).written, 0u);
  EXPECT_THAT(Writes(), IsEmpty());
}

}  // namespace
}  // namespace mindgate::deploy
