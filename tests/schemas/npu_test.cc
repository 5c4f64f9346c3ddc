#include "schemas/npu.h"

#include <gtest/gtest.h>

#include "schemas/workload.h"
#include "support/npu_manifests.h"
#include "support/objects.h"

namespace mindgate::schemas {
namespace {

std::string OwnerOf(std::string_view resource) {
  const ForeignSign* sign = SignOfResource(resource);
  return sign == nullptr ? "" : std::string(sign->owner);
}

TEST(ForeignNpus, Names) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"huawei.com/Ascend910A", "HAMi"},
      {"huawei.com/Ascend910B", "HAMi"},
      {"huawei.com/Ascend910B2", "HAMi"},
      {"huawei.com/Ascend910B3", "HAMi"},
      {"huawei.com/Ascend910B4", "HAMi"},
      {"huawei.com/Ascend910B4-1", "HAMi"},
      {"huawei.com/Ascend910C", "HAMi"},
      {"huawei.com/Ascend910B4-1-memory", "HAMi"},
      {"huawei.com/Ascend310P-memory", "HAMi"},
      {"huawei.com/Ascend310P-core", "HAMi"},
      {"huawei.com/ascend-1980", "CCE"},
      {"huawei.com/ascend-snt9b", "CCE"},
      {"huawei.com/ascend-310", "CCE"},
      {"huawei.com/Ascend910", ""},
      {"huawei.com/Ascend310P", ""},
      {"huawei.com/Ascend910-4c", ""},
      {"huawei.com/npu", ""},
      {"huawei.com/npu-core", ""},  // of MindCluster: the cores of a dynamic slice
      {"huawei.com/Ascend310P-VPro", ""},
      {"huawei.com/rdma", ""},
      {"huawei.com/shared-memory", ""},
      {"huawei.com/Ascend901", ""},
      {"Ascend910B3", ""},
      {"nvidia.com/Ascend910B3", ""},
  };
  for (const auto& [resource, owner] : rows) EXPECT_EQ(OwnerOf(resource), owner) << resource;
}

// Whose the NPUs of the first template are, and whether it counts as one that asks for NPUs.
std::string Whose(const std::string& yaml, const ViewOptions& options = {}) {
  const json::Document object = testing::YamlDocument(yaml);
  const auto view = BuildView(object.root(), nullptr, options);
  const PodTemplateView& pod = view->templates.front();
  if (pod.foreign == nullptr) return pod.RequestsNpus() ? "ours" : "none";
  EXPECT_FALSE(pod.RequestsNpus());
  EXPECT_TRUE(pod.chips.resource.empty());
  return pod.foreign->owner.empty() ? "of the site" : std::string(pod.foreign->owner);
}

std::string Of(std::string_view resource) {
  return testing::Deployment({.chips = "1", .resource = std::string(resource)});
}

TEST(ForeignNpus, Templates) {
  using testing::Deployment;
  EXPECT_EQ(Whose(Deployment({})), "ours");
  EXPECT_EQ(Whose(Of("huawei.com/Ascend910B3")), "HAMi");
  EXPECT_EQ(Whose(Of("huawei.com/rdma")), "none");
  EXPECT_EQ(Whose(Deployment({.chips = "0", .resource = "huawei.com/Ascend910B3"})), "none");
  EXPECT_EQ(Whose(Deployment({.scheduler = "hami-scheduler"})), "HAMi");
  EXPECT_EQ(Whose(Deployment({.annotations = "huawei.com/vnpu-mode: hami-core"})), "HAMi");
  EXPECT_EQ(Whose(testing::VolcanoJob("", {.resource = "huawei.com/Ascend910B3"}, {})), "HAMi");
  const std::string claims =
      "apiVersion: v1\nkind: Pod\nspec: {resourceClaims: [{name: c, "
      "resourceClaimTemplateName: ";
  const std::string containers = "}], containers: [{name: m, resources: {claims: [{name: c}]}}]}";
  EXPECT_EQ(Whose(claims + "single-NPU" + containers), "DRA");
  EXPECT_EQ(Whose(claims + "single-gpu" + containers), "none");
}

// What stands beside whole cards shows how they are shared.
TEST(ForeignNpus, AnAmountBesideCards) {
  EXPECT_EQ(Whose("apiVersion: v1\nkind: Pod\nspec: {schedulerName: volcano, containers: [{name: "
                  "m, resources: {limits: {huawei.com/Ascend310P: 1, "
                  "huawei.com/Ascend310P-memory: 4096}}}]}"),
            "HAMi");
  EXPECT_EQ(Whose("apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a, resources: {limits: "
                  "{huawei.com/Ascend910: 1}}}, {name: b, resources: {limits: "
                  "{huawei.com/Ascend910-memory: 1}}}]}"),
            "HAMi");
  EXPECT_EQ(Whose("apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a, resources: {limits: "
                  "{huawei.com/npu-core: 2}}}]}"),
            "ours");
}

TEST(ForeignNpus, TheSiteKnowsBetter) {
  const std::vector<NpuResourceRow> rows = {{"huawei.com/Ascend910B3", NpuServer::kMindCluster},
                                            {"huawei.com/Ascend310P", NpuServer::kOther}};
  const ViewOptions options{.npu_resources = rows};
  EXPECT_EQ(Whose(Of("huawei.com/Ascend910B3"), options), "ours");
  EXPECT_EQ(Whose(Of("huawei.com/Ascend310P"), options), "of the site");
  EXPECT_EQ(Whose(Of("huawei.com/Ascend910C"), options), "HAMi");
}

}  // namespace
}  // namespace mindgate::schemas
