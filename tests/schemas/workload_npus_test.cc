#include <gtest/gtest.h>

#include "schemas/workload.h"
#include "support/objects.h"

namespace mindgate::schemas {
namespace {

using testing::YamlDocument;

constexpr char kRuntime[] = R"(
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: rt}
spec:
  decoderConfig:
    runner: {name: d, resources: {limits: {huawei.com/Ascend910: 8}}}
)";

std::shared_ptr<const WorkloadView> View(const json::Value& object) {
  return std::make_shared<const WorkloadView>(*BuildView(object));
}

TEST(IsNpuWorkload, OwnRequestRuntimeOrLabel) {
  const json::Document runtime = YamlDocument(kRuntime);
  const json::Document gpu_runtime = YamlDocument(
      "{apiVersion: ome.io/v1beta1, kind: ServingRuntime, spec: {engineConfig: {runner: {name: e, "
      "resources: {limits: {nvidia.com/gpu: 1}}}}}}");
  // Names no decoder, so none of its own templates has the runtime's NPUs.
  const json::Document service =
      YamlDocument("{apiVersion: ome.io/v1beta1, kind: InferenceService, spec: {engine: {}}}");
  const json::Document opted_in = YamlDocument(
      "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {labels: "
      "{mindgate.io/inject: enabled}}, spec: {engine: {}}}");

  EXPECT_TRUE(View(runtime.root())->IsNpuWorkload());
  EXPECT_FALSE(View(service.root())->IsNpuWorkload());
  EXPECT_TRUE(BuildView(service.root(), View(runtime.root()))->IsNpuWorkload());
  EXPECT_FALSE(BuildView(service.root(), View(runtime.root()))->RequestsNpus());
  EXPECT_FALSE(BuildView(service.root(), View(gpu_runtime.root()))->IsNpuWorkload());
  EXPECT_TRUE(View(opted_in.root())->IsNpuWorkload());
}

// infer-operator copies a role's metadata to the InstanceSet when it makes one, and reads only that
// afterwards.
TEST(InferOperatorView, AnInstanceSetIsAGangByItsOwnLabels) {
  const json::Document own = YamlDocument(
      "{apiVersion: mindcluster.huawei.com/v1, kind: InstanceSet, metadata: {labels: "
      "{infer.huawei.com/gang-schedule: 'true'}}, spec: {spec: {replicas: 2, template: {}}}}");
  const auto gang = View(own.root())->pod_groups.at(0);
  EXPECT_EQ(gang.owner, PodGroupOwner::kInstance);
  EXPECT_EQ(gang.min_member, 2);
  EXPECT_EQ(gang.labels->path, "/metadata/labels");

  const json::Document of_role = YamlDocument(
      "{apiVersion: mindcluster.huawei.com/v1, kind: InstanceSet, spec: {metadata: {labels: "
      "{infer.huawei.com/gang-schedule: 'true'}}, spec: {replicas: 2, template: {}}}}");
  EXPECT_EQ(View(of_role.root())->pod_groups.at(0).owner, PodGroupOwner::kReplicaSet);

  const json::Document service = YamlDocument(
      "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, spec: {roles: [{metadata: "
      "{labels: {infer.huawei.com/gang-schedule: 'true'}}, spec: {replicas: 2, template: {}}}]}}");
  EXPECT_EQ(View(service.root())->pod_groups.at(0).labels->path, "/spec/roles/0/metadata/labels");
}

}  // namespace
}  // namespace mindgate::schemas
