#include "audit/audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "audit/collections.h"
#include "json/decode.h"
#include "kube/resource.h"
#include "schemas/site_kinds.h"
#include "support/small_cluster.h"
#include "support/workloads.h"

namespace mindgate::audit {
namespace {

using ::mindgate::testing::Json;
using ::mindgate::testing::NpuContainer;
using ::mindgate::testing::SmallCluster;
using schemas::Kind;

// A cluster whose objects are given one by one.
class StoredCluster {
 public:
  StoredCluster& Put(Json object) {
    documents_.push_back(std::make_unique<json::Document>(object));
    objects_.push_back(&documents_.back()->root());
    return *this;
  }

  Audit Run(AuditOptions options = {}, const what_if::ClusterSnapshot* snapshot = nullptr,
            const schemas::Config& config = {}) const {
    SnapshotObjects source(objects_, options.ns);
    return audit::Run(source, snapshot, config, options);
  }

 private:
  std::vector<std::unique_ptr<json::Document>> documents_;
  std::vector<const json::Value*> objects_;
};

Json OwnedBy(Json object, const char* api_version, const char* kind, const char* name) {
  object["metadata"]["ownerReferences"] = {{{"apiVersion", api_version},
                                            {"kind", kind},
                                            {"name", name},
                                            {"uid", "u"},
                                            {"controller", true}}};
  return object;
}

Json Named(Json object, const std::string& name, const std::string& ns = "infer") {
  object["metadata"]["name"] = name;
  object["metadata"]["namespace"] = ns;
  return object;
}

Json Chat(const std::string& fault_scheduling = "force", const std::string& name = "chat") {
  return Named(::mindgate::testing::Workload(Kind::kDeployment,
                                             {.container = NpuContainer(),
                                              .labels = {{"fault-scheduling", fault_scheduling}}}),
               name);
}

// "Deployment infer/chat deployment npus: denied, MG050 denied, MG051 warning".
std::vector<std::string> Texts(const Audit& audit) {
  std::vector<std::string> texts;
  for (const Workload& workload : audit.workloads) {
    std::string text = workload.Title() + " " + workload.framework +
                       (workload.npus ? " npus" : "") + ": " +
                       std::string(admission::OutcomeName(workload.evaluated.outcome));
    for (const offline::ReportedFinding& finding : workload.evaluated.findings) {
      text += ", " + finding.id + " " + std::string(offline::FindingLevelName(finding.level));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(AuditTest, EvaluatesEachWorkloadOnceByItsTopmostOwner) {
  StoredCluster cluster;
  cluster.Put(Chat("forced"));
  const Json pod = ::mindgate::testing::Workload(
      Kind::kPod, {.container = NpuContainer(), .labels = {{"fault-scheduling", "forced"}}});
  Json set = ::mindgate::testing::Workload(
      Kind::kReplicaSet, {.container = NpuContainer(), .labels = {{"fault-scheduling", "forced"}}});
  cluster.Put(OwnedBy(Named(set, "chat-7d"), "apps/v1", "Deployment", "chat"));
  cluster.Put(OwnedBy(Named(pod, "chat-7d-x"), "apps/v1", "ReplicaSet", "chat-7d"));
  // Its controller is not one that mindgate knows: its pods are evaluated, one for all.
  for (const char* name : {"ray-a", "ray-b"}) {
    cluster.Put(OwnedBy(Named(pod, name), "ray.io/v1", "RayCluster", "ray"));
  }
  cluster.Put(Named(pod, "bare"));
  const Audit audit = cluster.Run();
  EXPECT_EQ(Texts(audit),
            (std::vector<std::string>{"Deployment infer/chat deployment npus: denied, MG050 denied",
                                      "Pod infer/bare pod npus: denied, MG050 denied",
                                      "RayCluster infer/ray pod npus: denied, MG050 denied"}));
  EXPECT_EQ(audit.counts.denied, 3u);
  EXPECT_EQ(audit.unread, std::vector<std::string>());
  EXPECT_FALSE(audit.supposed);
}

// The object is evaluated, and not its pods.
TEST(AuditTest, EvaluatesKindsOfTheSite) {
  const Json cluster_of_ray = {
      {"apiVersion", "ray.io/v1"},
      {"kind", "RayCluster"},
      {"metadata", {{"name", "ray"}, {"namespace", "infer"}}},
      {"spec",
       {{"headGroupSpec",
         {{"template",
           {{"metadata", {{"labels", {{"fault-scheduling", "forced"}}}}},
            {"spec", {{"containers", Json::array({NpuContainer()})}}}}}}}}}};
  StoredCluster cluster;
  cluster.Put(cluster_of_ray);
  const Json pod = ::mindgate::testing::Workload(
      Kind::kPod, {.container = NpuContainer(), .labels = {{"fault-scheduling", "forced"}}});
  cluster.Put(OwnedBy(Named(pod, "ray-head"), "ray.io/v1", "RayCluster", "ray"));
  schemas::Config config;
  config.kinds = schemas::SiteKinds(schemas::ShippedKindsNamed("ray"));
  const std::vector<std::string> evaluated = {
      "RayCluster infer/ray pod npus: denied, MG050 denied"};
  EXPECT_EQ(Texts(cluster.Run({}, nullptr, config)), evaluated);
  const auto of = [&](const char* kind) {
    return Texts(cluster.Run({.kinds = KindsNamed(kind, config.kinds)}, nullptr, config));
  };
  EXPECT_EQ(of("rayclusters"), evaluated);
  EXPECT_EQ(of("rayjobs"), std::vector<std::string>{});
  EXPECT_EQ(of("pods"), std::vector<std::string>{});
}

TEST(AuditTest, LeavesOutWhatHasEndedAndWhatHasNoNpus) {
  StoredCluster cluster;
  Json web = ::mindgate::testing::Workload(Kind::kDeployment,
                                           {.container = ::mindgate::testing::CpuContainer()});
  cluster.Put(Named(web, "web"));
  Json job = ::mindgate::testing::Workload(
      Kind::kJob, {.container = NpuContainer(), .labels = {{"fault-scheduling", "forced"}}});
  job["status"] = {{"conditions", {{{"type", "Complete"}, {"status", "True"}}}}};
  cluster.Put(Named(job, "done"));
  cluster.Put(Chat());
  const Audit audit = cluster.Run();
  EXPECT_EQ(Texts(audit),
            std::vector<std::string>{"Deployment infer/chat deployment npus: admitted"});
  EXPECT_EQ(audit.ended, 1u);
  EXPECT_EQ(audit.counts.admitted, 2u);
  EXPECT_GT(audit.workloads[0].evaluated.changes, 0u) << "what admission would inject";
}

TEST(AuditTest, KeepsToNamespaceKindsAndLabels) {
  StoredCluster cluster;
  Json labelled = Chat("forced", "labelled");
  labelled["metadata"]["labels"] = {{"team", "search"}};
  cluster.Put(Chat("forced")).Put(Named(Chat("forced"), "chat", "other")).Put(labelled);
  cluster.Put(Named(::mindgate::testing::Workload(
                        Kind::kStatefulSet,
                        {.container = NpuContainer(), .labels = {{"fault-scheduling", "forced"}}}),
                    "set"));
  const auto titles = [&](const AuditOptions& options) {
    std::vector<std::string> all;
    for (const Workload& workload : cluster.Run(options).workloads) all.push_back(workload.Title());
    return all;
  };
  using List = std::vector<std::string>;
  EXPECT_EQ(titles({}), (List{"Deployment infer/chat", "Deployment infer/labelled",
                              "StatefulSet infer/set", "Deployment other/chat"}));
  EXPECT_EQ(titles({.ns = "other"}), List{"Deployment other/chat"});
  EXPECT_EQ(titles({.kinds = KindsNamed("statefulsets")}), List{"StatefulSet infer/set"});
  EXPECT_EQ(titles({.selector = *kube::ParseLabelSelector("team=search")}),
            List{"Deployment infer/labelled"});
}

// A rule reads other objects as it does in `apply`: here the autoscaler of a Deployment.
TEST(AuditTest, KnowsTheObjectsBesideTheOneThatItEvaluates) {
  Json chat = Chat();
  chat["spec"]["template"]["metadata"]["annotations"] = {{"huawei.com/schedule_minAvailable", "4"}};
  const Json autoscaler = {
      {"apiVersion", "autoscaling/v2"},
      {"kind", "HorizontalPodAutoscaler"},
      {"metadata", {{"name", "chat"}, {"namespace", "infer"}}},
      {"spec",
       {{"scaleTargetRef", {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "chat"}}},
        {"minReplicas", 1},
        {"maxReplicas", 8}}}};
  const auto ids = [](const Audit& audit) {
    std::vector<std::string> all;
    for (const auto& finding : audit.workloads.at(0).evaluated.findings) all.push_back(finding.id);
    return all;
  };
  EXPECT_EQ(ids(StoredCluster().Put(chat).Run()), (std::vector<std::string>{"MG076", "MG077"}));
  EXPECT_EQ(ids(StoredCluster().Put(chat).Put(autoscaler).Run()),
            (std::vector<std::string>{"MG076", "MG077", "MG195"}));
}

// `strict`, modes of rules, exceptions and namespaces count as on the cluster.
TEST(AuditTest, UsesTheConfiguration) {
  schemas::Config config;
  config.rules["MG050"] = schemas::Mode::kAudit;
  StoredCluster cluster;
  cluster.Put(Chat("forced"));
  const Audit audit = cluster.Run({}, nullptr, config);
  EXPECT_EQ(Texts(audit), std::vector<std::string>{
                              "Deployment infer/chat deployment npus: admitted, MG050 audit"});
  // A namespace may switch injection off.
  cluster.Put(
      {{"apiVersion", "v1"},
       {"kind", "Namespace"},
       {"metadata", {{"name", "infer"}, {"labels", {{"mindgate.io/inject", "disabled"}}}}}});
  EXPECT_EQ(cluster.Run({}, nullptr, config).workloads[0].evaluated.changes, 0u);
}

TEST(AuditTest, SupposesTheLossOfWhatEachWorkloadRunsOn) {
  SmallCluster running;
  running.Node("n0").Node("n1");
  const Json force = {{"fault-scheduling", "force"}, {"pod-template-hash", "7d"}};
  running.Group("pg", "ReplicaSet/chat-7d", 1, force);
  running.Pod({"chat-7d-x", "n0", "0-7", "pg", "ReplicaSet/chat-7d", force});
  const what_if::ClusterSnapshot snapshot = running.Snapshot();
  StoredCluster cluster;
  cluster.Put(Chat()).Put(Chat("force", "idle"));
  const Audit audit = cluster.Run({}, &snapshot);
  ASSERT_EQ(audit.workloads.size(), 2u);
  EXPECT_TRUE(audit.supposed);
  const Workload& chat = audit.workloads[0];
  EXPECT_EQ(chat.Title(), "Deployment infer/chat");
  ASSERT_TRUE(chat.losses.card && chat.losses.node);
  EXPECT_EQ(RecoveryName(chat.losses.card->recovery), "recovers");
  EXPECT_EQ(chat.losses.card->loss, "n0/Ascend910-0");
  EXPECT_EQ(chat.losses.npus, 8);
  EXPECT_FALSE(audit.workloads[1].losses.card) << "it runs nowhere";
}

// A collection that cannot be read is named, and what can be is audited.
TEST(AuditTest, NamesWhatItMayNotRead) {
  class Partly final : public ObjectSource {
   public:
    explicit Partly(const json::Value& object) : object_(object) {}
    kube::Answer<void> ForEach(const kube::Resource& resource,
                               const kube::Listing& listing) override {
      if (resource.kind == "Deployment") {
        // The first attempt does not count.
        listing.started();
        listing.item(object_);
        listing.started();
        listing.item(object_);
        return {};
      }
      if (resource.kind == "StatefulSet") {
        return kube::Failed(kube::Reason::kForbidden, "statefulsets.apps is forbidden");
      }
      return kube::Failed(kube::Reason::kNotFound, "no such kind");
    }

   private:
    const json::Value& object_;
  };
  const json::Document chat(Chat("forced"));
  Partly source(chat.root());
  const Audit audit = audit::Run(source, nullptr, {}, {});
  EXPECT_EQ(audit.unread,
            std::vector<std::string>{"statefulsets.apps: statefulsets.apps is forbidden"});
  EXPECT_EQ(audit.workloads.size(), 1u);
  EXPECT_EQ(audit.counts.denied, 1u);
}

}  // namespace
}  // namespace mindgate::audit
