#include "watcher/ended_servers/controller.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "json/decode.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/eventually.h"
#include "support/fake_clock.h"

// Pods of servers that have succeeded.
namespace mindgate::watcher::ended_servers {

// For messages of tests.
void PrintTo(const EndedServer& server, std::ostream* out) {
  *out << server.owner_kind << " " << server.owner << ", " << server.restart_policy;
}

namespace {

using json::Json;
using kube::testing::AccessTo;
using kube::testing::FakeApiServer;
using kube::testing::FakeSleeper;
using mindgate::testing::Eventually;
namespace resources = kube::resources;

Json Pod(const std::string& name, const std::string& phase, const std::string& api_version,
         const std::string& kind) {
  Json pod = {{"metadata", {{"namespace", "serving"}, {"name", name}, {"uid", "uid-" + name}}},
              {"spec", {{"restartPolicy", "Never"}}},
              {"status", {{"phase", phase}}}};
  if (!kind.empty()) {
    pod["metadata"]["ownerReferences"] = {
        {{"apiVersion", "v1"}, {"kind", "Queue"}, {"name", "q"}, {"uid", "q"}},
        {{"apiVersion", api_version},
         {"kind", kind},
         {"name", "chat"},
         {"uid", "1"},
         {"controller", true}}};
  }
  return pod;
}

TEST(EndedServer, IsDecidedByWhatMadeThePod) {
  const auto ended = [](const char* kind) {
    return std::optional(EndedServer{"serving", "p0", "uid-p0", kind, "chat", "Never"});
  };
  const Json mindie = {{"metadata", {{"labels", {{"app", "mindie-ms-server"}}}}}};
  const Json other_app = {{"metadata", {{"labels", {{"app", "resnet"}}}}}};
  struct Case {
    const char* name;
    const char* api_version;
    const char* kind;
    Json more;  // a merge patch of the pod
    std::optional<EndedServer> want;
  };
  const std::vector<Case> cases = {
      {"OME and everybody", "apps/v1", "ReplicaSet", {}, ended("ReplicaSet")},
      {"LeaderWorkerSet and infer-operator", "apps/v1", "StatefulSet", {}, ended("StatefulSet")},
      {"a pod of LWS itself",
       "leaderworkerset.x-k8s.io/v1",
       "LeaderWorkerSet",
       {},
       ended("LeaderWorkerSet")},
      {"infer-operator", "mindcluster.huawei.com/v1", "InstanceSet", {}, ended("InstanceSet")},
      {"OME", "ome.io/v1beta1", "InferenceService", {}, ended("InferenceService")},
      {"AIBrix", "orchestration.aibrix.ai/v1alpha1", "RoleSet", {}, ended("RoleSet")},
      {"AIBrix, several pods", "orchestration.aibrix.ai/v1alpha1", "PodSet", {}, ended("PodSet")},
      {"AIBrix, pooled",
       "orchestration.aibrix.ai/v1alpha1",
       "StormService",
       {},
       ended("StormService")},
      {"MindIE Motor", "mindxdl.gitee.com/v1", "AscendJob", mindie, ended("AscendJob")},
      {"an AscendJob that trains", "mindxdl.gitee.com/v1", "AscendJob", {}, {}},
      {"with a label app", "mindxdl.gitee.com/v1", "AscendJob", other_app, {}},
      {"a vcjob", "batch.volcano.sh/v1alpha1", "Job", mindie, {}},
      {"a Job", "batch/v1", "Job", {}, {}},
      {"another project's RoleSet", "example.com/v1", "RoleSet", {}, {}},
      {"a DaemonSet", "apps/v1", "DaemonSet", {}, {}},
      {"nobody made it", "", "", {}, {}},
      {"the owner does not control it",
       "apps/v1",
       "ReplicaSet",
       {{"metadata",
         {{"ownerReferences",
           {{{"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}, {"name", "chat"}}}}}}},
       {}},
      {"it was asked to end",
       "apps/v1",
       "ReplicaSet",
       {{"metadata", {{"deletionTimestamp", "2026-01-01T00:00:00Z"}}}},
       {}},
      {"it runs", "apps/v1", "ReplicaSet", {{"status", {{"phase", "Running"}}}}, {}},
      {"it failed", "apps/v1", "ReplicaSet", {{"status", {{"phase", "Failed"}}}}, {}},
      {"it is not a pod", "apps/v1", "ReplicaSet", {{"status", 1}, {"metadata", "x"}}, {}},
  };
  for (const Case& c : cases) {
    Json pod = Pod("p0", "Succeeded", c.api_version, c.kind);
    if (c.more.is_object()) pod.merge_patch(c.more);
    EXPECT_EQ(Read(json::Document(pod).root()), c.want) << c.name;
  }
}

TEST(EndedServer, IsExplained) {
  EXPECT_EQ(Explain({"serving", "p0", "1", "PodSet", "chat", "Never"}),
            "pod p0 of PodSet chat ended with exit code 0 (Succeeded), although a server does not "
            "end by itself. With restartPolicy Never nothing restarts it, and rescheduling sees no "
            "fault in it. Read its log, then delete the pod; let its start script end with the "
            "exit code of the process that failed");
  // That of an instance of one pod.
  EXPECT_EQ(Explain({"serving", "p0", "1", "RoleSet", "chat", "Never"}),
            "pod p0 of RoleSet chat ended with exit code 0 (Succeeded), although a server does not "
            "end by itself. AIBrix deletes it and makes it again, since podGroupSize is 1, and "
            "rescheduling sees no fault in it. Read its log while it is there; let its start "
            "script end with the exit code of the process that failed");
  EXPECT_EQ(Explain({"serving", "p0", "1", "ReplicaSet", "chat", "Always"}),
            "pod p0 of ReplicaSet chat ended with exit code 0 (Succeeded), although a server does "
            "not end by itself. Nothing restarts it in place, and rescheduling sees no fault in "
            "it. Read its log, then delete the pod; let its start script end with the exit code of "
            "the process that failed");
}

struct EndedServers : ::testing::Test {
  mindgate::testing::FakeClock clock;
  FakeApiServer server{{.clock = &clock}};
  log::Logger logger{log::Format::kText, log::Level::kInfo, clock, [](std::string_view) {}};
  FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};
  kube::Recorder recorder{
      client, sleeper, clock, {.controller = "mindgate.io/watcher", .instance = "a"}, 1};
  DecisionLog decisions{clock, logger, recorder};
  std::atomic<bool> leads = true;
  std::atomic<bool> is_wanted = true;
  Controller controller{client,
                        sleeper,
                        clock,
                        logger,
                        decisions,
                        {.enabled = [this] { return is_wanted.load(); },
                         .term = [this]() -> std::optional<Term> {
                           if (!leads) return std::nullopt;
                           return Term(clock.WallNow(), [this] { return leads.load(); }, {});
                         }}};
  std::jthread thread;  // last: it ends before what it uses

  void Start() {
    thread = std::jthread([this](const std::stop_token& stop) { controller.Run(stop); });
  }
  void Put(const std::string& name, const std::string& phase = "Succeeded",
           const char* api_version = "orchestration.aibrix.ai/v1alpha1",
           const char* kind = "RoleSet") {
    server.Put(resources::kPods, Pod(name, phase, api_version, kind));
  }
  std::vector<std::string> Reported() const {
    std::vector<std::string> pods;
    for (const auto& entry : decisions.entries()) {
      EXPECT_EQ(entry.record.kind, DecisionKind::kServerSucceeded);
      EXPECT_FALSE(entry.record.enforced);
      pods.push_back(entry.record.about.front().second);
    }
    return pods;
  }
  bool WaitReported(const std::vector<std::string>& pods) const {
    return Eventually([&] { return Reported() == pods; });
  }
  double Gauge() const {
    std::vector<prometheus::MetricFamily> families;
    controller.AddMetrics(families);
    EXPECT_EQ(families.front().name, "mindgate_servers_succeeded");
    return families.front().metric.front().gauge.value;
  }
};

TEST_F(EndedServers, AreReportedOnceAndNothingElseIsDone) {
  Put("p0");
  Put("trained", "Succeeded", "batch.volcano.sh/v1alpha1", "Job");
  Put("p1", "Running");
  Start();
  ASSERT_TRUE(WaitReported({"p0"}));
  controller.EnqueueAll();
  Put("p1");
  ASSERT_TRUE(WaitReported({"p0", "p1"}));
  EXPECT_EQ(Gauge(), 2);
  server.Remove(resources::kPods, "serving", "p0");
  EXPECT_TRUE(Eventually([&] { return Gauge() == 1; }));
  ASSERT_TRUE(recorder.Flush(std::chrono::seconds(30)));
  std::vector<std::string> events;
  const auto page = client.List(resources::kEvents, "serving");
  for (const Json& event : kube::testing::Value(page).items) {
    events.push_back(event.at("type").get<std::string>() + " " +
                     event.at("reason").get<std::string>() + " " +
                     event.at("regarding").at("uid").get<std::string>());
  }
  std::sort(events.begin(), events.end());
  EXPECT_EQ(events, (std::vector<std::string>{"Warning ServerSucceeded uid-p0",
                                              "Warning ServerSucceeded uid-p1"}));
  for (const char* method : {"PATCH", "PUT", "DELETE"}) {
    EXPECT_EQ(server.Count({.method = method, .target_part = "/pods"}), 0U) << method;
  }
}

// One of the same name is another pod.
TEST_F(EndedServers, AreReportedAgainWhenTheNextOneEnds) {
  Put("p0");
  Start();
  ASSERT_TRUE(WaitReported({"p0"}));
  server.Remove(resources::kPods, "serving", "p0");
  Json next = Pod("p0", "Succeeded", "apps/v1", "StatefulSet");
  next["metadata"]["uid"] = "another";
  server.Put(resources::kPods, next);
  EXPECT_TRUE(WaitReported({"p0", "p0"}));
}

TEST_F(EndedServers, AreReportedByTheLeaderAlone) {
  leads = false;
  Put("p0");
  Start();
  // Whoever follows has seen it when the next one comes.
  ASSERT_TRUE(server.WaitForWatches(1));
  EXPECT_EQ(Gauge(), 0);
  EXPECT_EQ(Reported(), std::vector<std::string>());
  leads = true;
  controller.EnqueueAll();
  EXPECT_TRUE(WaitReported({"p0"}));
}

TEST_F(EndedServers, AreNotReportedWhileItIsOff) {
  Put("p0");
  is_wanted = false;
  Start();
  ASSERT_TRUE(server.WaitForWatches(1));
  EXPECT_EQ(Gauge(), 0);
  is_wanted = true;
  controller.EnqueueAll();
  EXPECT_TRUE(WaitReported({"p0"}));
}

// A cluster keeps many pods of Jobs.
TEST_F(EndedServers, OfJobsAreNotEvenAskedFor) {
  Start();
  ASSERT_TRUE(server.WaitForWatches(1));
  for (const auto& request : server.Requests({.method = "GET", .target_part = "/pods?"})) {
    EXPECT_NE(request.target.find("fieldSelector=status.phase%3DSucceeded"), std::string::npos)
        << request.target;
    EXPECT_NE(request.target.find("labelSelector=%21batch.kubernetes.io%2Fjob-name"),
              std::string::npos)
        << request.target;
  }
}

}  // namespace
}  // namespace mindgate::watcher::ended_servers
