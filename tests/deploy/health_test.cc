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

// D31: the start script of the example runtimes ends with 0 when a rank crashed.
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

// D37: what is not there yet is no reason to stop.
TEST_F(HealthTest, NothingButTheStore) {
  Deploy(kOmeConfig);
  server.Remove(resources::kInferenceServices, "llm", "chat");
  EXPECT_EQ(Of("llm", "chat").framework, Framework::kOme);
  EXPECT_FALSE(Value(LookAtHealth(client, "llm", "nobody", {})).has_value());
}

}  // namespace
}  // namespace mindgate::deploy
