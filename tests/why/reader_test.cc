#include "why/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "audit/collections.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "schemas/site_kinds.h"
#include "why/reasons.h"

namespace mindgate::why {
namespace {

using json::Json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
namespace resources = kube::resources;

constexpr Time kReadAt{std::chrono::seconds(1'772'352'000)};  // 2026-03-01T08:00:00Z
const char* const kNpu = "huawei.com/Ascend910";

struct Reader : ::testing::Test {
  kube::testing::FakeApiServer server;
  kube::testing::FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper};
  schemas::SiteKinds site;  // none
  const kube::Resource queues{"scheduling.volcano.sh", "v1beta1", "queues", "Queue", false};

  Reader() {
    server.Register({.resource = resources::kPodGroups, .custom = true});
    server.Register({.resource = resources::kReplicaSets});
    server.Register({.resource = queues, .custom = true});
    server.Register({.resource = {"", "v1", "resourcequotas", "ResourceQuota", true}});
    server.Register(
        {.resource = {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true}});
    server.Put(resources::kNodes, {{"metadata", {{"name", "npu-0"}}},
                                   {"status",
                                    {{"allocatable", {{kNpu, "8"}}},
                                     {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
    PutObject(resources::kDeployments, "chat", {{"spec", {{"replicas", 2}}}});
    PutObject(resources::kReplicaSets, "chat-7d",
              {{"metadata",
                {{"ownerReferences", Json::array({OwnerRef(resources::kDeployments, "chat")})}}}});
    PutObject(resources::kReplicaSets, "other-9f", Json::object());
  }

  Json OwnerRef(const kube::Resource& resource, const std::string& name) {
    const Json owner = server.Find(resource, "infer", name);
    return {{"apiVersion", "apps/v1"},
            {"kind", resource.kind},
            {"name", name},
            {"uid", owner["metadata"]["uid"]},
            {"controller", true}};
  }
  void PutObject(const kube::Resource& resource, const std::string& name, const Json& more) {
    Json object = {{"metadata", {{"name", name}, {"namespace", "infer"}}}};
    object.merge_patch(more);
    server.Put(resource, object);
  }
  void PutPod(const std::string& name, const std::string& owner, const Json& more = {}) {
    Json pod = {
        {"metadata",
         {{"creationTimestamp", "2026-03-01T07:00:00Z"},
          {"annotations", {{"scheduling.k8s.io/group-name", "pg"}}},
          {"ownerReferences", Json::array({OwnerRef(resources::kReplicaSets, owner)})}}},
        {"spec",
         {{"schedulerName", "volcano"},
          {"containers", {{{"name", "main"}, {"resources", {{"limits", {{kNpu, "4"}}}}}}}}}},
        {"status", {{"phase", "Pending"}}}};
    if (!more.is_null()) pod.merge_patch(more);
    PutObject(resources::kPods, name, pod);
  }

  Facts Read(const std::string& kind, const std::string& name) {
    const auto subject = FindSubject(client, audit::KindsNamed(kind, site), site, "infer", name);
    if (!subject) {
      ADD_FAILURE() << subject.error().message;
      return {};
    }
    return ReadFacts(client, *subject, {.now = kReadAt});
  }
};

std::vector<std::string> PodsOf(const Facts& facts) {
  std::vector<std::string> names;
  for (const PodFacts& pod : facts.pods) names.push_back(pod.name);
  return names;
}

TEST_F(Reader, FollowsOwnersDownAndUp) {
  PutPod("chat-7d-a", "chat-7d");
  PutPod("chat-7d-b", "chat-7d");
  PutPod("other-9f-a", "other-9f");
  const Facts chat = Read("deployment", "chat");
  EXPECT_THAT(PodsOf(chat), ElementsAre("chat-7d-a", "chat-7d-b"));
  EXPECT_EQ(chat.wanted, 2);
  EXPECT_THAT(chat.made_by_it, ElementsAre("ReplicaSet/chat-7d"));
  EXPECT_THAT(chat.unread, IsEmpty());
  const Facts pod = Read("pod", "chat-7d-b");
  EXPECT_THAT(PodsOf(pod), ElementsAre("chat-7d-b"));
  EXPECT_THAT(pod.owners, ElementsAre("ReplicaSet/chat-7d", "Deployment/chat"));
  EXPECT_EQ(pod.pods[0].npus, 4);
  EXPECT_EQ(pod.pods[0].resource, kNpu);
}

// A RayJob makes a RayCluster, whose pods Ray makes.
TEST_F(Reader, FollowsOwnersOfKindsOfTheSite) {
  site = schemas::SiteKinds(schemas::ShippedKindsNamed("ray"));
  const auto resource = [this](std::string_view kind) {
    return audit::ResourceOf(*site.Find("ray.io", kind));
  };
  const auto owned_by = [&](std::string_view kind) {
    Json owner = OwnerRef(resource(kind), "train");
    owner["apiVersion"] = "ray.io/v1";
    return Json{{"metadata", {{"ownerReferences", Json::array({owner})}}}};
  };
  for (const char* kind : {"RayJob", "RayCluster"}) {
    server.Register({.resource = resource(kind), .custom = true});
  }
  server.Register({.resource = {"batch", "v1", "jobs", "Job", true}});
  PutObject(resource("RayJob"), "train",
            {{"metadata", {{"labels", {{"mindgate.io/rescheduling", "disabled"}}}}}});
  PutObject(resource("RayCluster"), "train", owned_by("RayJob"));
  PutPod("train-head", "chat-7d", owned_by("RayCluster"));
  PutPod("other-9f-a", "other-9f");
  for (const char* kind : {"rayjob", "rayclusters.ray.io"}) {
    EXPECT_THAT(PodsOf(Read(kind, "train")), ElementsAre("train-head")) << kind;
  }
  const Facts job = Read("rayjob", "train");
  EXPECT_EQ(job.kind, "RayJob");
  EXPECT_EQ(job.wanted, std::nullopt) << "its operator decides";
  EXPECT_THAT(job.made_by_it, ElementsAre("RayCluster/train"));
  EXPECT_THAT(job.unread, IsEmpty());
  const Facts pod = Read("pod", "train-head");
  EXPECT_THAT(pod.owners, ElementsAre("RayCluster/train", "RayJob/train"));
  EXPECT_EQ(pod.opted_out, "") << "the watcher does not read RayJobs";
  EXPECT_EQ(job.opted_out, "");
}

// A group of an LWS as its controllers make it, below an InferenceService of OME: the leaders'
// StatefulSet, the leader pod, the StatefulSet that it owns, and the workers (lws:
// pkg/controllers/{leaderworkerset,pod}_controller.go).
struct LwsReader : Reader {
  const kube::Resource service =
      audit::ResourceOf(schemas::InfoOf(schemas::Kind::kInferenceService));
  const kube::Resource lws = audit::ResourceOf(schemas::InfoOf(schemas::Kind::kLeaderWorkerSet));
  const kube::Resource sets = audit::ResourceOf(schemas::InfoOf(schemas::Kind::kStatefulSet));

  LwsReader() {
    server.Register({.resource = service, .custom = true});
    server.Register({.resource = lws, .custom = true});
    server.Register({.resource = sets});
    PutObject(service, "rank", {{"spec", {{"engine", {{"minReplicas", 1}}}}}});
    PutObject(lws, "rank",
              {{"metadata", OwnedBy(service, "rank")},
               {"spec", {{"replicas", 1}, {"leaderWorkerTemplate", {{"size", 3}}}}}});
    PutObject(sets, "rank", {{"metadata", OwnedBy(lws, "rank")}, {"spec", {{"replicas", 1}}}});
    PutReady("rank-0", "rank", "0");
    PutObject(sets, "rank-0",
              {{"metadata", OwnedBy(resources::kPods, "rank-0")}, {"spec", {{"replicas", 2}}}});
    PutReady("rank-0-1", "rank-0", "1");
    PutReady("rank-0-2", "rank-0", "2");
    PutPod("other-9f-a", "other-9f");
  }

  Json OwnedBy(const kube::Resource& resource, const std::string& name) {
    Json owner = OwnerRef(resource, name);
    owner["apiVersion"] = resource.api_version();
    return {{"ownerReferences", Json::array({owner})}};
  }
  void PutReady(const std::string& name, const std::string& set, const std::string& index) {
    Json metadata = OwnedBy(sets, set);
    metadata["labels"] = {{"leaderworkerset.sigs.k8s.io/name", "rank"},
                          {"leaderworkerset.sigs.k8s.io/group-index", "0"},
                          {"leaderworkerset.sigs.k8s.io/worker-index", index}};
    PutPod(name, "chat-7d",
           {{"metadata", metadata},
            {"spec", {{"nodeName", "npu-0"}}},
            {"status",
             {{"phase", "Running"}, {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
  }
};

TEST_F(LwsReader, FollowsTheLeadersOfALeaderWorkerSetToItsWorkers) {
  const Facts rank = Read("lws", "rank");
  EXPECT_THAT(PodsOf(rank), ElementsAre("rank-0", "rank-0-1", "rank-0-2"));
  EXPECT_EQ(rank.wanted, 3);
  EXPECT_THAT(rank.made_by_it, ElementsAre("StatefulSet/rank", "StatefulSet/rank-0"));
  EXPECT_THAT(rank.unread, IsEmpty());
  EXPECT_THAT(PodsOf(Read("isvc", "rank")), ElementsAre("rank-0", "rank-0-1", "rank-0-2"));
  EXPECT_THAT(PodsOf(Read("sts", "rank")), ElementsAre("rank-0")) << "it asks for leaders alone";
  EXPECT_THAT(Read("pod", "rank-0-1").owners,
              ElementsAre("StatefulSet/rank-0", "Pod/rank-0", "StatefulSet/rank",
                          "LeaderWorkerSet/rank", "InferenceService/rank"));
}

TEST_F(LwsReader, ALeaderWorkerSetWhosePodsAreReadyRuns) {
  PutObject(
      resources::kPodGroups, "pg",
      {{"metadata", OwnedBy(resources::kPods, "rank-0")}, {"status", {{"phase", "Running"}}}});
  const Facts rank = Read("lws", "rank");
  EXPECT_EQ(rank.groups.size(), 1u);
  EXPECT_TRUE(IsSettled(WhyIsIt(rank)));
  server.Remove(resources::kPods, "infer", "rank-0-2");
  EXPECT_FALSE(IsSettled(WhyIsIt(Read("lws", "rank"))));
}

TEST_F(Reader, ReadsGroupsQueuesQuotasClaimsAndEvents) {
  PutPod(
      "chat-7d-a", "chat-7d",
      {{"spec",
        {{"volumes", {{{"name", "v"}, {"persistentVolumeClaim", {{"claimName", "models"}}}}}}}}});
  PutPod("other-9f-a", "other-9f", {{"spec", {{"nodeName", "npu-0"}}}});
  PutObject(resources::kPodGroups, "pg",
            {{"metadata", {{"annotations", {{"huawei.com/schedule_minAvailable", "3"}}}}},
             {"spec", {{"minMember", 1}, {"queue", "small"}, {"minResources", {{kNpu, "16"}}}}},
             {"status",
              {{"phase", "Pending"},
               {"conditions",
                {{{"type", "Unschedulable"},
                  {"status", "True"},
                  {"reason", "NotEnoughResources"},
                  {"message", "queue is full"}}}}}}});
  server.Put(queues, {{"metadata", {{"name", "small"}}},
                      {"spec", {{"capability", {{kNpu, "8"}}}}},
                      {"status", {{"state", "Open"}, {"allocated", {{kNpu, "4"}}}}}});
  PutObject({"", "v1", "resourcequotas", "ResourceQuota", true}, "few",
            {{"status", {{"hard", {{"pods", "1"}}}, {"used", {{"pods", "1"}}}}}});
  PutObject(resources::kEvents, "e1",
            {{"reason", "FailedScheduling"},
             {"note", "0/1 nodes"},
             {"type", "Warning"},
             {"reportingController", "volcano"},
             {"eventTime", "2026-03-01T07:30:00.000000Z"},
             {"regarding", {{"kind", "Pod"}, {"name", "chat-7d-a"}}}});
  PutObject(resources::kEvents, "e2",
            {{"reason", "FailedScheduling"}, {"regarding", {{"kind", "Pod"}, {"name", "other"}}}});
  const Facts facts = Read("deployment", "chat");
  ASSERT_EQ(facts.groups.size(), 1u);
  const GroupFacts& group = facts.groups[0];
  EXPECT_EQ(group.k, 3);
  EXPECT_EQ(group.phase, "Pending");
  EXPECT_EQ(group.condition, "NotEnoughResources: queue is full");
  EXPECT_EQ(group.pods, 2) << "all that name it count, also those of others";
  EXPECT_EQ(group.placed, 1);
  ASSERT_EQ(facts.queues.size(), 1u);
  EXPECT_EQ(facts.queues[0].capability.at(kNpu), 8);
  EXPECT_EQ(facts.queues[0].allocated.at(kNpu), 4);
  ASSERT_EQ(facts.quotas.size(), 1u);
  EXPECT_EQ(facts.quotas[0].hard.at("pods"), 1);
  ASSERT_EQ(facts.claims.size(), 1u);
  EXPECT_FALSE(facts.claims[0].exists);
  ASSERT_EQ(facts.events.size(), 1u);
  EXPECT_EQ(facts.events[0].about, "Pod/chat-7d-a");
  EXPECT_EQ(facts.events[0].reporter, "volcano");
  ASSERT_EQ(facts.placements.size(), 1u);
  EXPECT_EQ(facts.placements[0].nodes[0].free, 4);
  EXPECT_EQ(facts.placements[0].nodes[0].why_not, "");
}

TEST_F(Reader, ReadsWhatTheWatcherDecidesAboutGatedPods) {
  const Json labels = {{"mind-cluster/scaling-rule", "rule"},
                       {"mind-cluster/group-name", "decode"},
                       {"jobID", "job"}};
  const Json gated = {{"metadata", {{"labels", labels}}},
                      {"spec", {{"schedulingGates", {{{"name", "mindgate.io/elastic-scaling"}}}}}}};
  PutPod("chat-7d-a", "chat-7d", gated);
  Facts facts = Read("deployment", "chat");
  ASSERT_EQ(facts.held.size(), 1u);
  EXPECT_FALSE(facts.held[0].rule_exists);
  PutObject(resources::kConfigMaps, "rule", {{"data", {{"elastic_scaling.json", "{"}}}});
  facts = Read("deployment", "chat");
  ASSERT_EQ(facts.held.size(), 1u);
  EXPECT_TRUE(facts.held[0].rule_exists);
  EXPECT_NE(facts.held[0].problem, "");
  EXPECT_THAT(facts.held[0].pods, ElementsAre("chat-7d-a"));
}

TEST_F(Reader, ReadsThePluginsRecordsAndItsCache) {
  PutPod("chat-7d-a", "chat-7d");
  PutObject(resources::kPodGroups, "pg", {{"spec", {{"minMember", 1}}}});
  server.Put(resources::kConfigMaps,
             {{"metadata", {{"namespace", "volcano-system"}, {"name", "vcjob-fault-npu-cm"}}},
              {"data",
               {{"remain-retry-times", R"({"infer/pg":{"UUID":"u","Times":2}})"},
                {"fault-node", R"([{"NodeName":"npu-0","UnhealthyNPU":["Ascend910-3"],
                                    "NodeHealthState":"CardUnhealthy"},
                                   {"NodeName":"npu-1","NodeHealthState":"Healthy"}, 7])"}}}});
  const Facts facts = Read("deployment", "chat");
  ASSERT_EQ(facts.groups.size(), 1u);
  EXPECT_EQ(facts.groups[0].retries_left, 2);
  ASSERT_EQ(facts.cached.size(), 1u);
  EXPECT_EQ(facts.cached[0].node, "npu-0");
  EXPECT_THAT(facts.cached[0].chips, ElementsAre("Ascend910-3"));
  EXPECT_FALSE(facts.cached[0].reported) << "no report names it";
}

// "kubectl describe job train" is about a Job of Kubernetes.
TEST_F(Reader, NamesKindsAsKubectlTakesThem) {
  const kube::Resource vcjobs = audit::ResourceOf(schemas::InfoOf(schemas::Kind::kVolcanoJob));
  server.Register({.resource = vcjobs, .custom = true});
  PutObject(vcjobs, "train", {{"spec", {{"tasks", {{{"replicas", 1}}}}}}});
  const Facts train = Read("vcjob", "train");
  EXPECT_EQ(train.resource, "jobs.batch.volcano.sh");
  EXPECT_EQ(WhyIsIt(train).reasons.front().fix,
            "kubectl describe jobs.batch.volcano.sh/train -n infer; run this command again in a "
            "minute, or with --wait");
  EXPECT_EQ(Read("deployment", "chat").resource, "deployment");
  PutObject(resources::kPodGroups, "pg", Json::object());
  EXPECT_EQ(Read("pg", "pg").resource, "podgroups.scheduling.volcano.sh");
}

TEST_F(Reader, NotesWhoOptsOut) {
  PutPod("chat-7d-a", "chat-7d");
  EXPECT_EQ(Read("pod", "chat-7d-a").opted_out, "");
  PutObject(resources::kDeployments, "chat",
            {{"metadata", {{"labels", {{"mindgate.io/rescheduling", "disabled"}}}}}});
  EXPECT_EQ(Read("pod", "chat-7d-a").opted_out,
            "mindgate.io/rescheduling: disabled on Deployment/chat");
}

TEST_F(Reader, GoesOnWithoutWhatMayNotBeRead) {
  PutPod("chat-7d-a", "chat-7d");
  for (const char* resource : {"events", "nodes", "podgroups", "resourcequotas", "namespaces"}) {
    server.Forbid("*", resource);
  }
  const Facts facts = Read("deployment", "chat");
  EXPECT_THAT(PodsOf(facts), ElementsAre("chat-7d-a"));
  EXPECT_THAT(facts.groups, IsEmpty());
  std::vector<std::string> unread;
  for (const UnreadFacts& one : facts.unread) unread.push_back(one.what);
  EXPECT_THAT(unread, ElementsAre("namespace infer", "PodGroups", "ResourceQuotas",
                                  "Events of namespace infer",
                                  "nodes, pods of all namespaces and fault reports"));
}

TEST_F(Reader, FindsNoSubjectAndNamesThere) {
  const auto kinds = audit::KindsNamed("deployments");
  const auto none = FindSubject(client, kinds, {}, "infer", "chta");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().reason, kube::Reason::kNotFound);
  EXPECT_THAT(NamesThere(client, kinds, "infer"), ElementsAre("chat"));
}

}  // namespace
}  // namespace mindgate::why
