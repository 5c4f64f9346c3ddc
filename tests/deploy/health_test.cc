#include "deploy/health.h"

#include <gmock/gmock.h>

#include "deploy/cluster_fixture.h"

namespace mindgate::deploy {
namespace {

using ::mindgate::testing::PodOf;
using ::testing::ElementsAre;

struct HealthTest : ClusterTest {
  // "prefill 1/2: q-prefill-0 Running"
  std::vector<std::string> Components(const Health& health) {
    std::vector<std::string> texts;
    for (const ComponentState& each : health.components) {
      std::string text =
          each.name + " " + std::to_string(each.ready) + "/" + std::to_string(each.wanted);
      for (const PodState& pod : each.pods) {
        text +=
            ", " + pod.name + " " + pod.state + (pod.reason.empty() ? "" : " (" + pod.reason + ")");
      }
      texts.push_back(text);
    }
    return texts;
  }
  Health Of(const std::string& ns, const std::string& app) {
    const auto health = Value(LookAtHealth(client, ns, app, {}));
    if (health) return *health;
    ADD_FAILURE() << "no application " << app;
    return {};
  }
  void PutPod(Json pod) { server.Put(kube::resources::kPods, std::move(pod)); }
};

TEST_F(HealthTest, AnAibrixApplication) {
  Deploy(kAibrixConfig);
  const auto pod = [&](const std::string& role, const std::string& name, bool ready) {
    return PodOf("llm", name, {{"storm-service-name", "q"}, {"role-name", role}}, ready);
  };
  EXPECT_EQ(Of("llm", "q").verdict, Verdict::kProgressing);
  PutPod(pod("prefill", "q-prefill-0", true));
  PutPod(pod("decode", "q-decode-0-0", true));
  PutPod(pod("decode", "q-decode-0-1", true));
  PutPod(pod("routing", "q-routing-0", true));
  const Health health = Of("llm", "q");
  EXPECT_EQ(health.framework, Framework::kAibrix);
  EXPECT_EQ(health.verdict, Verdict::kHealthy);
  EXPECT_EQ(health.url, "http://q-router.llm.svc:8080");
  EXPECT_THAT(Components(health),
              ElementsAre("prefill 1/1, q-prefill-0 Running",
                          "decode 2/2, q-decode-0-0 Running, q-decode-0-1 Running",
                          "routing 1/1, q-routing-0 Running"));
}

TEST_F(HealthTest, AMindieApplication) {
  Deploy(kMindieConfig);
  const auto put = [&](const std::string& app, const std::string& name, bool ready) {
    PutPod(PodOf("mindie", name, {{"jobID", "motor"}, {"app", app}}, ready));
  };
  put("mindie-ms-controller", "motor-controller-master-0", true);
  put("mindie-ms-coordinator", "motor-coordinator-master-0", true);
  put("mindie-ms-server", "motor-p0-master-0", true);
  put("mindie-ms-server", "motor-d0-master-0", false);
  const Health health = Of("mindie", "motor");
  EXPECT_EQ(health.verdict, Verdict::kProgressing);
  EXPECT_EQ(health.why, "decode has 0/2 pods ready");
  EXPECT_EQ(health.url, "http://motor-coordinator-infer.mindie.svc:1025");
  EXPECT_THAT(Components(health), ElementsAre("controller 1/1, motor-controller-master-0 Running",
                                              "coordinator 1/1, motor-coordinator-master-0 Running",
                                              "decode 0/2, motor-d0-master-0 Pending",
                                              "prefill 1/4, motor-p0-master-0 Running"));
}

// The start script of the example runtimes ends with 0 when a rank crashed.
TEST_F(HealthTest, AServerThatSucceededHasFailed) {
  Deploy(kAibrixConfig);
  Json pod =
      PodOf("llm", "q-prefill-0", {{"storm-service-name", "q"}, {"role-name", "prefill"}}, false);
  pod["status"]["phase"] = "Succeeded";
  PutPod(pod);
  const Health health = Of("llm", "q");
  EXPECT_EQ(health.verdict, Verdict::kFailed);
  EXPECT_EQ(health.why, "pod q-prefill-0: the server ended with exit code 0");
}

// A ReplicaSet leaves an evicted pod where it is, and makes another one.
TEST_F(HealthTest, APodThatWasReplacedIsNotWhatIsWrong) {
  Deploy(kOmeConfig);
  mindgate::testing::PlayOme(server, "llm", "chat");
  Json pod = server.Find(kube::resources::kPods, "llm", "chat-engine-0");
  for (const Json& status :
       {Json{{"phase", "Failed"}, {"reason", "Evicted"}}, Json{{"phase", "Succeeded"}},
        Json{{"phase", "Failed"},
             {"containerStatuses",
              Json::array(
                  {{{"name", "main"}, {"state", {{"terminated", {{"reason", "Error"}}}}}}})}}}) {
    Json old = pod;
    old["metadata"]["name"] = "chat-engine-evicted";
    old["status"] = status;
    PutPod(pod);
    PutPod(old);
    EXPECT_EQ(Of("llm", "chat").why, "every pod is ready") << status;
    // The other one is not there yet.
    server.Remove(kube::resources::kPods, "llm", "chat-engine-0");
    const Health health = Of("llm", "chat");
    EXPECT_EQ(health.verdict, Verdict::kFailed) << status;
    EXPECT_THAT(health.why, ::testing::StartsWith("pod chat-engine-evicted: "));
  }
}

// One that may still run again is wrong, however many are ready.
TEST_F(HealthTest, APodThatMayRunAgainIsWhatIsWrong) {
  Deploy(kOmeConfig);
  mindgate::testing::PlayOme(server, "llm", "chat");
  Json more = server.Find(kube::resources::kPods, "llm", "chat-engine-0");
  more["metadata"]["name"] = "chat-engine-1";
  more["status"] = {{"phase", "Running"},
                    {"containerStatuses",
                     Json::array({{{"name", "main"},
                                   {"state", {{"waiting", {{"reason", "CrashLoopBackOff"}}}}}}})}};
  PutPod(more);
  EXPECT_EQ(Of("llm", "chat").verdict, Verdict::kDegraded);
}

TEST_F(HealthTest, WhyAPodIsNotPlaced) {
  Deploy(kAibrixConfig);
  Json pod =
      PodOf("llm", "q-prefill-0", {{"storm-service-name", "q"}, {"role-name", "prefill"}}, false);
  pod["spec"].erase("nodeName");
  pod["status"]["conditions"].push_back(
      {{"type", "PodScheduled"}, {"status", "False"}, {"message", "0/6 nodes are available"}});
  PutPod(pod);
  EXPECT_EQ(Of("llm", "q").why, "pod q-prefill-0: 0/6 nodes are available");
}

// What is not there is no reason to stop, and none to call the rest healthy.
TEST_F(HealthTest, NothingButTheStore) {
  Deploy(kOmeConfig);
  server.Remove(resources::kInferenceServices, "llm", "chat");
  const Health health = Of("llm", "chat");
  EXPECT_EQ(health.framework, Framework::kOme);
  EXPECT_EQ(health.verdict, Verdict::kFailed);
  EXPECT_EQ(health.why,
            "InferenceService chat does not exist: deploy the application again, or delete the "
            "rest");
  EXPECT_THAT(Components(health), ElementsAre("mf-store 1/1, chat-mf-store-0 Running"));
  EXPECT_FALSE(Value(LookAtHealth(client, "llm", "nobody", {})).has_value());
}

// The InferenceService is not there yet, and nothing is wrong.
TEST_F(HealthTest, TheFirstDeploymentWaitsForItsStore) {
  std::vector<Health> seen;
  sleeper.Then([&] {
    clock.Advance(kPollTime);
    seen.push_back(Of("llm", "chat"));
    if (seen.size() == 1) {
      PutPod(PodOf("llm", "chat-mf-store-0",
                   {{"ome.io/inferenceservice", "chat"}, {"component", "mf-store"}}, false));
    } else {
      Play();
    }
  });
  ASSERT_EQ(Deploy(kOmeConfig).outcome, Outcome::kDone);
  ASSERT_EQ(seen.size(), 2u);
  for (const Health& health : seen) {
    EXPECT_EQ(health.verdict, Verdict::kProgressing);
    EXPECT_EQ(health.why,
              "waiting for Deployment chat-mf-store: InferenceService chat is made when it is "
              "ready, unless its deployment has ended");
  }
  EXPECT_THAT(Components(seen[0]), ElementsAre("mf-store 0/1"));
  EXPECT_THAT(Components(seen[1]), ElementsAre("mf-store 0/1, chat-mf-store-0 Pending"));
}

// What is left of an application that was there, or of a deployment that ended, is not on its way.
TEST_F(HealthTest, AStoreAloneIsOnlyAwaitedBeforeItIsReadyAndOwned) {
  const char* const dead =
      "InferenceService chat does not exist: deploy the application again, or delete the rest";
  struct Case {
    const char* what;
    Json change;  // of the Deployment, a JSON merge patch
    Json pod;     // of its pod's status
    Verdict verdict;
    const char* why;
  };
  const Json unowned = {{"metadata", {{"ownerReferences", nullptr}}}};
  const auto unavailable = [](Json change) {
    change["status"] = {{"availableReplicas", 0}};
    return change;
  };
  Json applied_by_others = unavailable(unowned);
  applied_by_others["metadata"]["managedFields"] = nullptr;
  const Json waiting = {{"waiting", {{"reason", "ImagePullBackOff"}}}};
  for (const Case& each : {
           Case{"it is ready", unowned, {}, Verdict::kFailed, dead},
           {"its owner was deleted", unavailable(Json::object()), {}, Verdict::kFailed, dead},
           {"a pipeline applied it", applied_by_others, {}, Verdict::kFailed, dead},
           {"its pod cannot start",
            unavailable(unowned),
            {{"containerStatuses", Json::array({{{"state", waiting}}})}},
            Verdict::kFailed,
            "pod chat-mf-store-0: ImagePullBackOff"},
           {"it is on its way",
            unavailable(unowned),
            {{"phase", "Pending"}},
            Verdict::kProgressing,
            "waiting for Deployment chat-mf-store: InferenceService chat is made when it is "
            "ready, unless its deployment has ended"},
       }) {
    Deploy(kOmeConfig);
    server.Remove(resources::kInferenceServices, "llm", "chat");
    Json store = server.Find(kube::resources::kDeployments, "llm", "chat-mf-store");
    store.merge_patch(each.change);
    server.Put(kube::resources::kDeployments, store);
    Json pod =
        PodOf("llm", "chat-mf-store-0",
              {{"ome.io/inferenceservice", "chat"}, {"component", "mf-store"}}, each.pod.is_null());
    if (!each.pod.is_null()) pod["status"].merge_patch(each.pod);
    PutPod(pod);
    const Health health = Of("llm", "chat");
    EXPECT_EQ(VerdictName(health.verdict), VerdictName(each.verdict)) << each.what;
    EXPECT_EQ(health.why, each.why) << each.what;
    server.Remove(kube::resources::kDeployments, "llm", "chat-mf-store");
    server.Remove(kube::resources::kPods, "llm", "chat-mf-store-0");
  }
}

TEST_F(HealthTest, NothingIsHealthyWithoutItsMainObject) {
  Deploy(kAibrixConfig);
  server.Remove(resources::kStormServices, "llm", "q");
  EXPECT_EQ(Of("llm", "q").verdict, Verdict::kFailed);
  Deploy(kMindieConfig);
  server.Remove(resources::kAscendJobs, "mindie", "motor-d0");
  EXPECT_EQ(Of("mindie", "motor").why,
            "AscendJob motor-d0 does not exist: deploy the application again, or delete the rest");
}

TEST_F(HealthTest, AnEndingPodIsNotWhatIsWrong) {
  Deploy(kAibrixConfig);
  Json pod =
      PodOf("llm", "q-prefill-0", {{"storm-service-name", "q"}, {"role-name", "prefill"}}, false);
  pod["metadata"]["deletionTimestamp"] = "2025-01-01T00:00:00Z";
  pod["metadata"]["finalizers"] = {"a.b/c"};
  pod["status"]["phase"] = "Failed";
  PutPod(pod);
  const Health health = Of("llm", "q");
  EXPECT_EQ(health.verdict, Verdict::kProgressing);
  EXPECT_EQ(Components(health)[0], "prefill 0/1, q-prefill-0 Terminating");
}

TEST_F(HealthTest, AGateIsNotWhatIsWrong) {
  Deploy(kAibrixConfig);
  Json pod =
      PodOf("llm", "q-prefill-0", {{"storm-service-name", "q"}, {"role-name", "prefill"}}, false);
  pod["spec"].erase("nodeName");
  pod["spec"]["schedulingGates"] = {{{"name", "mindgate.io/scaling"}}};
  pod["status"]["conditions"].push_back({{"type", "PodScheduled"},
                                         {"status", "False"},
                                         {"message", "Scheduling is blocked due to non-empty"}});
  PutPod(pod);
  const Health health = Of("llm", "q");
  EXPECT_EQ(health.verdict, Verdict::kProgressing);
  EXPECT_EQ(Components(health)[0], "prefill 0/1, q-prefill-0 Gated");
}

// Pods of before stay ready while a rollout begins.
TEST_F(HealthTest, PodsOfTheConfigurationBeforeDoNotCount) {
  Deploy(kOmeConfig);
  mindgate::testing::PlayOme(server, "llm", "chat");
  ASSERT_EQ(Of("llm", "chat").verdict, Verdict::kHealthy);
  Json pod = server.Find(kube::resources::kPods, "llm", "chat-engine-0");
  const Json runner =
      server.Find(resources::kInferenceServices, "llm", "chat")["spec"]["engine"]["runner"];
  struct Case {
    const char* what;
    Json container;
    bool outdated;
  };
  const auto with = [&](const char* at, const Json& value) {
    Json container = runner;
    container[Json::json_pointer(at)] = value;
    return container;
  };
  Json more = runner;
  more["env"].push_back({{"name", "MODEL_PATH"}, {"value", "/mnt"}});
  for (const Case& each :
       {Case{"as it was rendered", runner, false},
        {"another image", with("/image", "r/s:0"), true},
        {"through a mirror", with("/image", "mirror.local/r/s:1"), false},
        {"another variable", with("/env/1/value", "4"), true},
        {"variables of OME", more, false},
        {"fewer NPUs", with("/resources/requests/huawei.com~1Ascend910", "4"), true}}) {
    pod["spec"]["containers"] = Json::array({each.container});
    PutPod(pod);
    const Health health = Of("llm", "chat");
    EXPECT_EQ(health.verdict, each.outdated ? Verdict::kProgressing : Verdict::kHealthy)
        << each.what;
    if (!each.outdated) continue;
    EXPECT_EQ(health.why, "engine has 0/1 pods ready; the others are of the configuration before");
  }
}

// A job was deleted and submitted again, and the pods of the first are still there.
TEST_F(HealthTest, PodsOfAnEarlierJobDoNotCount) {
  Deploy(kMindieConfig);
  Json pod =
      PodOf("mindie", "motor-p0-master-0", {{"jobID", "motor"}, {"app", "mindie-ms-server"}});
  const auto owned_by = [&pod](const std::string& uid) {
    pod["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "mindxdl.gitee.com/v1"},
                                                       {"kind", "AscendJob"},
                                                       {"name", "motor-p0"},
                                                       {"uid", uid}}});
    return pod;
  };
  PutPod(owned_by("of-before"));
  EXPECT_EQ(Components(Of("mindie", "motor"))[3], "prefill 0/4, motor-p0-master-0 Running");
  PutPod(owned_by(UidOf(server.Find(resources::kAscendJobs, "mindie", "motor-p0"))));
  EXPECT_EQ(Components(Of("mindie", "motor"))[3], "prefill 1/4, motor-p0-master-0 Running");
}

TEST_F(HealthTest, AControllerThatHasNotSeenTheChange) {
  Deploy(kAibrixConfig);
  for (const auto& [role, name] :
       {std::pair("prefill", "q-prefill-0"), std::pair("decode", "q-decode-0-0"),
        std::pair("decode", "q-decode-0-1"), std::pair("routing", "q-routing-0")}) {
    PutPod(PodOf("llm", name, {{"storm-service-name", "q"}, {"role-name", role}}));
  }
  ASSERT_EQ(Of("llm", "q").verdict, Verdict::kHealthy);
  Json service = server.Find(resources::kStormServices, "llm", "q");
  service["metadata"]["generation"] = 3;
  service["status"]["observedGeneration"] = 2;
  server.Put(resources::kStormServices, service);
  const Health health = Of("llm", "q");
  EXPECT_EQ(health.verdict, Verdict::kProgressing);
  EXPECT_EQ(health.why, "the controller of StormService q has not seen its last change yet");
}

// Nothing is wanted of what is being deleted, and nothing that is wanted is missing.
TEST_F(HealthTest, WhatIsBeingDeletedIsNotHealthy) {
  const auto leave = [this](const kube::Resource& resource, const std::string& ns,
                            const std::string& name) {
    Json object = server.Find(resource, ns, name);
    object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    object["metadata"]["finalizers"] = {"orchestration.aibrix.ai/hold", "foregroundDeletion"};
    server.Put(resource, object);
  };
  struct Case {
    const char* what;
    std::string_view config;
    kube::Resource resource;
    const char* ns;
    const char* app;
    const char* name;
    Verdict verdict;
  };
  for (const Case& each : {
           Case{"StormService", kAibrixConfig, resources::kStormServices, "llm", "q", "q",
                Verdict::kDeleting},
           {"InferenceService", kOmeConfig, resources::kInferenceServices, "llm", "chat", "chat",
            Verdict::kDeleting},
           {"AscendJob", kMindieConfig, resources::kAscendJobs, "mindie", "motor",
            "motor-controller", Verdict::kDeleting},
           // Its instances leave what is wanted, and their pods are still ready.
           {"AscendJob", kMindieConfig, resources::kAscendJobs, "mindie", "motor", "motor-p1",
            Verdict::kProgressing},
           {"Service", kAibrixConfig, kube::resources::kServices, "llm", "q", "q-router",
            Verdict::kProgressing},
       }) {
    for (const char* name : {"q", "chat"}) {
      server.Remove(resources::kStormServices, "llm", name);
      server.Remove(resources::kInferenceServices, "llm", name);
    }
    server.Remove(kube::resources::kServices, "llm", "q-router");
    server.Remove(resources::kAscendJobs, "mindie", "motor-controller");
    server.Remove(resources::kAscendJobs, "mindie", "motor-p1");
    Deploy(each.config);
    for (const auto& [labels, name] :
         {std::pair(Json{{"storm-service-name", "q"}, {"role-name", "prefill"}}, "q-prefill-0"),
          {{{"storm-service-name", "q"}, {"role-name", "decode"}}, "q-decode-0-0"},
          {{{"storm-service-name", "q"}, {"role-name", "decode"}}, "q-decode-0-1"},
          {{{"storm-service-name", "q"}, {"role-name", "routing"}}, "q-routing-0"}}) {
      PutPod(PodOf("llm", name, labels));
    }
    for (const auto& [app, name] : {std::pair("mindie-ms-controller", "motor-controller-master-0"),
                                    {"mindie-ms-coordinator", "motor-coordinator-master-0"},
                                    {"mindie-ms-server", "motor-p0-master-0"},
                                    {"mindie-ms-server", "motor-p0-worker-0"},
                                    {"mindie-ms-server", "motor-p1-master-0"},
                                    {"mindie-ms-server", "motor-p1-worker-0"},
                                    {"mindie-ms-server", "motor-d0-master-0"},
                                    {"mindie-ms-server", "motor-d0-worker-0"}}) {
      PutPod(PodOf("mindie", name, {{"jobID", "motor"}, {"app", app}}));
    }
    mindgate::testing::PlayControllers(server);
    ASSERT_EQ(Of(each.ns, each.app).why, "every pod is ready") << each.name;
    leave(each.resource, each.ns, each.name);
    const Health health = Of(each.ns, each.app);
    EXPECT_EQ(VerdictName(health.verdict), VerdictName(each.verdict)) << each.name;
    EXPECT_EQ(health.why, std::string(each.what) + " " + each.name +
                              " is being deleted (finalizers: orchestration.aibrix.ai/hold, "
                              "foregroundDeletion)");
  }
}

// The store goes after its InferenceService.
TEST_F(HealthTest, WhatIsLeftOfADeletionIsNotAwaited) {
  Deploy(kOmeConfig);
  server.Remove(resources::kInferenceServices, "llm", "chat");
  Json store = server.Find(kube::resources::kDeployments, "llm", "chat-mf-store");
  store["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  store["metadata"]["finalizers"] = {"foregroundDeletion"};
  server.Put(kube::resources::kDeployments, store);
  const Health health = Of("llm", "chat");
  EXPECT_EQ(health.verdict, Verdict::kDeleting);
  EXPECT_EQ(health.why,
            "Deployment chat-mf-store is being deleted (finalizers: foregroundDeletion)");
}

}  // namespace
}  // namespace mindgate::deploy
