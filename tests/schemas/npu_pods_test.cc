#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "schemas/raw_objects.h"
#include "support/objects.h"

// Objects of kinds that mindgate does not handle.
namespace mindgate::schemas {
namespace {

std::optional<std::string> PodsOf(const std::string& yaml) {
  const json::Document object = mindgate::testing::YamlDocument(yaml);
  return FindNpuPods(object.root());
}

const std::string kNpus =
    "{containers: [{name: a}, {name: b, resources: {limits: {huawei.com/Ascend910: 8}}}]}";

TEST(NpuPods, AreFoundWhereverTheyStand) {
  EXPECT_EQ(PodsOf("{kind: RayCluster, spec: {headGroupSpec: {template: {spec: {containers: "
                   "[{name: a}]}}}, workerGroupSpecs: [{template: {spec: " +
                   kNpus + "}}]}}"),
            "/spec/workerGroupSpecs/0/template/spec");
  EXPECT_EQ(PodsOf("{kind: PyTorchJob, spec: {pytorchReplicaSpecs: {Worker: {template: {spec: " +
                   kNpus + "}}, Master: {template: {spec: " + kNpus + "}}}}}"),
            "/spec/pytorchReplicaSpecs/Master/template/spec");
  EXPECT_EQ(PodsOf("{kind: InferenceService, spec: {predictor: " + kNpus + "}}"),
            "/spec/predictor");
}

TEST(NpuPods, AreNotFoundElsewhere) {
  for (const char* yaml :
       {"{kind: RayCluster, spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}",
        "{kind: X, spec: {containers: {huawei.com/Ascend910: 8}}}",
        "{kind: X, spec: {resources: {limits: {huawei.com/Ascend910: 8}}}}", "{kind: X}", "{}",
        "{spec: {containers: [1, null, {resources: 1}]}}"}) {
    EXPECT_EQ(PodsOf(yaml), std::nullopt) << yaml;
  }
}

}  // namespace
}  // namespace mindgate::schemas
