#include "schemas/site_kinds.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/objects.h"

namespace mindgate::schemas {
namespace {

using testing::YamlDocument;

SiteKinds Ray() { return SiteKinds(ShippedKindsNamed("ray")); }

std::string NameOf(const KindInfo* info) {
  return info == nullptr ? "-" : std::string(info->group) + " " + std::string(info->name);
}

TEST(SiteKinds, AreFoundByGroupAndKindBesideTheBuiltInOnes) {
  const SiteKinds ray = Ray();
  struct Case {
    std::string object;
    std::string want;
    std::string without;  // where the site has no kinds
  };
  const std::vector<Case> cases = {
      {"{apiVersion: ray.io/v1, kind: RayCluster}", "ray.io RayCluster", "-"},
      {"{apiVersion: ray.io/v1alpha1, kind: RayCluster}", "ray.io RayCluster", "-"},
      {"{apiVersion: ray.io/v1, kind: RayCronJob}", "-", "-"},
      {"{apiVersion: other.io/v1, kind: RayCluster}", "-", "-"},
      {"{apiVersion: apps/v1, kind: Deployment}", "apps Deployment", "apps Deployment"},
      {"{kind: RayCluster}", "-", "-"},
      {"{apiVersion: ray.io/v1}", "-", "-"},
  };
  for (const Case& c : cases) {
    const json::Document object = YamlDocument(c.object);
    EXPECT_EQ(NameOf(FindKind(object.root(), ray)), c.want) << c.object;
    EXPECT_EQ(NameOf(FindKind(object.root(), SiteKinds())), c.without) << c.object;
  }
}

TEST(SiteKinds, ARowHasWhatABuiltInOneHas) {
  const SiteKinds ray = Ray();
  const KindInfo& service = *ray.Find("ray.io", "RayService");
  EXPECT_EQ(service.kind, Kind::kSite);
  EXPECT_EQ(service.version, "v1");
  EXPECT_EQ(service.plural, "rayservices");
  EXPECT_EQ(service.framework, Framework::kDeployment);
  EXPECT_TRUE(service.serves);
  EXPECT_FALSE(service.built_in);
  EXPECT_EQ(service.pod_metadata,
            "spec.rayClusterConfig.headGroupSpec.template.metadata.* or "
            "spec.rayClusterConfig.workerGroupSpecs[].template.metadata.*");
  EXPECT_EQ(service.unread_metadata.front(), "/metadata");

  const SiteKinds kserve(ShippedKindsNamed("kserve"));
  const KindInfo& inference = *kserve.Find("serving.kserve.io", "InferenceService");
  EXPECT_EQ(inference.pod_metadata, "spec.predictor.labels");
  EXPECT_EQ(inference.unread_metadata.front(), "") << "the pods get it";
}

TEST(SiteKinds, MakeWhatTheirRowStates) {
  std::vector<SiteKind> kinds = ShippedKindsNamed("ray");
  for (SiteKind& kind : ShippedKindsNamed("jobset")) kinds.push_back(std::move(kind));
  const SiteKinds site(std::move(kinds));
  struct Case {
    std::string group;
    std::string owner;
    const KindInfo& made;
    bool want;
  };
  const std::vector<Case> cases = {
      {"ray.io", "RayCluster", InfoOf(Kind::kPod), true},
      {"ray.io", "RayCluster", InfoOf(Kind::kJob), false},
      {"ray.io", "RayJob", InfoOf(Kind::kJob), true},
      {"ray.io", "RayJob", *site.Find("ray.io", "RayCluster"), true},
      {"ray.io", "RayJob", *site.Find("ray.io", "RayService"), false},
      {"ray.io", "RayJob", InfoOf(Kind::kPod), false},
      {"jobset.x-k8s.io", "JobSet", InfoOf(Kind::kJob), true},
      {"batch", "Job", InfoOf(Kind::kPod), true},
      {"batch", "Job", *site.Find("ray.io", "RayCluster"), false},
      {"trainer.kubeflow.org", "TrainJob", *site.Find("jobset.x-k8s.io", "JobSet"), false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Makes(c.group, c.owner, c.made, site), c.want) << c.owner << " " << c.made.name;
  }
}

TEST(SiteKinds, StandBehindTheBuiltInOnes) {
  const auto names = [](const SiteKinds& site) {
    std::vector<std::string> all;
    for (const KindInfo* info : AllKinds(site)) all.push_back(NameOf(info));
    return all;
  };
  std::vector<std::string> want = names(SiteKinds());
  EXPECT_EQ(want.size(), static_cast<size_t>(kKindCount));
  want.insert(want.end(), {"ray.io RayCluster", "ray.io RayJob", "ray.io RayService"});
  EXPECT_EQ(names(Ray()), want);
}

TEST(SiteKinds, SomeOfThemAreKept) {
  const SiteKinds ray = Ray();
  const SiteKinds kept = Only(ray, [](const KindInfo& info) { return info.name != "RayJob"; });
  EXPECT_EQ(kept.size(), 2u);
  EXPECT_EQ(NameOf(kept.Find("ray.io", "RayService")), "ray.io RayService");
  EXPECT_EQ(kept.Find("ray.io", "RayJob"), nullptr);
  EXPECT_EQ(Only(ray, [](const KindInfo&) { return true; }), ray);
  EXPECT_TRUE(Only(ray, [](const KindInfo&) { return false; }).empty());
}

TEST(SiteKinds, CopiesAreEqualAndShareTheirRows) {
  const SiteKinds ray = Ray();
  SiteKinds copy = ray;
  EXPECT_EQ(copy, ray);
  EXPECT_EQ(copy.Find("ray.io", "RayJob"), ray.Find("ray.io", "RayJob"));
  EXPECT_EQ(Ray(), ray) << "the same rows, read again";
  EXPECT_FALSE(SiteKinds() == ray);
  EXPECT_FALSE(SiteKinds(ShippedKindsNamed("jobset")) == ray);
  EXPECT_EQ(SiteKinds(std::vector<SiteKind>{}), SiteKinds());
}

}  // namespace
}  // namespace mindgate::schemas
