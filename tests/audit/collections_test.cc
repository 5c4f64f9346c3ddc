#include "audit/collections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "schemas/site_kinds.h"

namespace mindgate::audit {
namespace {

using json::Json;
using schemas::Kind;

std::vector<std::string> NamesOf(const std::vector<const schemas::KindInfo*>& kinds) {
  std::vector<std::string> names;
  for (const schemas::KindInfo* info : kinds) {
    names.push_back(schemas::ApiVersionOf(*info) + " " + std::string(info->name));
  }
  return names;
}

schemas::SiteKinds Site() {
  std::vector<schemas::SiteKind> kinds = schemas::ShippedKindsNamed("ray");
  for (schemas::SiteKind& kind : schemas::ShippedKindsNamed("kserve")) {
    kinds.push_back(std::move(kind));
  }
  return schemas::SiteKinds(std::move(kinds));
}

TEST(Collections, AreNamedAsKubectlTakesThem) {
  const struct {
    const char* word;
    std::vector<std::string> want;
  } cases[] = {
      {"deployments", {"apps/v1 Deployment"}},
      {"Deployment", {"apps/v1 Deployment"}},
      {"deploy", {"apps/v1 Deployment"}},
      {"deployments.apps", {"apps/v1 Deployment"}},
      {"lws", {"leaderworkerset.x-k8s.io/v1 LeaderWorkerSet"}},
      {"jobs", {"batch.volcano.sh/v1alpha1 Job", "batch/v1 Job"}},
      {"jobs.batch", {"batch/v1 Job"}},
      {"jobs.batch.volcano.sh", {"batch.volcano.sh/v1alpha1 Job"}},
      {"vcjob", {"batch.volcano.sh/v1alpha1 Job"}},
      {"pods", {"v1 Pod"}},
      {"secrets", {}},
      {"", {}},
  };
  for (const auto& c : cases) EXPECT_EQ(NamesOf(KindsNamed(c.word)), c.want) << c.word;
}

// Some have the name of a built-in kind.
TEST(Collections, OfTheSiteAreNamedLikeTheOthers) {
  const schemas::SiteKinds site = Site();
  const struct {
    const char* word;
    std::vector<std::string> want;
  } cases[] = {
      {"rayclusters", {"ray.io/v1 RayCluster"}},
      {"RayJob", {"ray.io/v1 RayJob"}},
      {"rayservices.ray.io", {"ray.io/v1 RayService"}},
      {"rayservices.io", {}},
      {"inferenceservices",
       {"ome.io/v1beta1 InferenceService", "serving.kserve.io/v1beta1 InferenceService"}},
      {"inferenceservices.serving.kserve.io", {"serving.kserve.io/v1beta1 InferenceService"}},
      {"lws", {"leaderworkerset.x-k8s.io/v1 LeaderWorkerSet"}},
  };
  for (const auto& c : cases) EXPECT_EQ(NamesOf(KindsNamed(c.word, site)), c.want) << c.word;
  EXPECT_EQ(NamesOf(KindsNamed("rayclusters")), std::vector<std::string>{});
}

TEST(Collections, AnyNameOfAKindFindsIt) {
  const schemas::SiteKinds site = Site();
  const auto finds = [&site](std::string_view name, const schemas::KindInfo* info) {
    const auto found = KindsNamed(name, site);
    return std::find(found.begin(), found.end(), info) != found.end();
  };
  for (const schemas::KindInfo* info : schemas::AllKinds(site)) {
    EXPECT_TRUE(finds(info->plural, info)) << info->plural;
    EXPECT_TRUE(finds(info->name, info)) << info->name;
  }
  for (const std::string& name : KindNames(site)) {
    EXPECT_NE(KindsNamed(name, site).size(), 0u) << name;
  }
}

// A snapshot with workloads has all that an audit reads.
TEST(Collections, OfASnapshotHoldAllThatAnAuditReads) {
  std::set<std::string> all;
  const schemas::SiteKinds site = Site();
  for (const kube::Resource& resource : AllCollections(site)) {
    EXPECT_TRUE(all.insert(resource.plural + "." + resource.group).second) << resource.plural;
  }
  EXPECT_TRUE(all.contains("namespaces."));
  for (const ReferenceCollection& collection : ReferenceCollections()) {
    EXPECT_TRUE(all.contains(collection.resource.plural + "." + collection.resource.group))
        << collection.resource.plural;
  }
  for (const schemas::KindInfo* info : schemas::AllKinds(site)) {
    EXPECT_TRUE(all.contains(std::string(info->plural) + "." + std::string(info->group)))
        << info->name;
  }
}

TEST(Collections, LeaveOutWhatHasEnded) {
  const auto condition = [](const char* type, const char* status) {
    return Json{{"status", {{"conditions", {{{"type", type}, {"status", status}}}}}}};
  };
  const auto vcjob = [](const char* phase) {
    return Json{{"status", {{"state", {{"phase", phase}}}}}};
  };
  const struct {
    Kind kind;
    Json object;
    bool want;
  } cases[] = {
      {Kind::kPod, {{"status", {{"phase", "Succeeded"}}}}, true},
      {Kind::kPod, {{"status", {{"phase", "Failed"}}}}, true},
      {Kind::kPod, {{"status", {{"phase", "Running"}}}}, false},
      {Kind::kPod, Json::object(), false},
      {Kind::kJob, condition("Complete", "True"), true},
      {Kind::kJob, condition("Failed", "True"), true},
      {Kind::kJob, condition("Complete", "False"), false},
      {Kind::kJob, condition("Suspended", "True"), false},
      {Kind::kAscendJob, condition("Succeeded", "True"), true},
      {Kind::kAscendJob, condition("Running", "True"), false},
      {Kind::kVolcanoJob, vcjob("Completed"), true},
      {Kind::kVolcanoJob, vcjob("Aborted"), true},
      {Kind::kVolcanoJob, vcjob("Restarting"), false},
      {Kind::kDeployment, condition("Failed", "True"), false},
  };
  for (const auto& c : cases) {
    const json::Document object(c.object);
    EXPECT_EQ(HasEnded(c.kind, object.root()), c.want)
        << schemas::KindName(c.kind) << " " << c.object;
  }
}

TEST(Collections, OfConfigMapsKeepWhatRulesRead) {
  const auto config_map = [](const char* name, const Json& data) {
    return Json{{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata", {{"name", name}, {"namespace", "infer"}}},
                {"data", data}};
  };
  const struct {
    Json object;
    bool want;
  } cases[] = {
      {config_map("rule", {{"elastic_scaling.json", "{}"}}), true},
      {config_map("rings-config-train", {{"hccl.json", "{}"}}), true},
      {config_map("nginx", {{"nginx.conf", "..."}}), false},
      {{{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", {{"name", "web"}}}}, true},
      {{{"apiVersion", "autoscaling/v2"}, {"kind", "HorizontalPodAutoscaler"}}, true},
  };
  for (const auto& c : cases) {
    const json::Document object(c.object);
    EXPECT_EQ(IsReference(object.root()), c.want) << c.object;
  }
}

}  // namespace
}  // namespace mindgate::audit
