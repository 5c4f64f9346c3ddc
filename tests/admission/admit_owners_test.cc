#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "admission/admit.h"
#include "support/workloads.h"

// Who may skip the rules by an owner reference: offline, what a controller makes of an object that
// was evaluated itself; on the wire nobody, since the API server does not send what controllers
// make.
namespace mindgate {
namespace {

using json::Json;
using schemas::Kind;

// Rules that deny, of an object that asks for a number of cores that is not a slice of a chip.
std::vector<std::string> Denials(Kind kind, const Json& owner, bool trusts_owners) {
  testing::TemplateParts parts{testing::NpuContainer("huawei.com/npu-core")};
  for (const char* amounts : {"limits", "requests"}) {
    parts.container["resources"][amounts]["huawei.com/npu-core"] = 3;
  }
  parts.labels = {{"ring-controller.atlas", "ascend-910"}};
  Json object = testing::Workload(kind, parts);
  object["metadata"]["ownerReferences"] = Json::array({owner});
  const json::Document laid(object);
  schemas::AdmissionRequest request;
  request.object = &laid.root();
  request.trusts_owners = trusts_owners;
  std::vector<std::string> rules;
  for (const auto& finding : admission::Admit(request, schemas::Config()).findings) {
    if (finding.rule != nullptr && finding.mode == schemas::Mode::kEnforce) {
      rules.emplace_back(finding.rule->id);
    }
  }
  return rules;
}

TEST(Owners, WhoSkipsTheRules) {
  const std::vector<std::string> denied = {"MG107"};
  const std::vector<std::string> skips;
  struct Row {
    Kind kind;
    const char* api_version;
    const char* owner;
    bool controller;
    std::vector<std::string> offline;
  };
  for (const Row& row : std::vector<Row>{
           {Kind::kPod, "apps/v1", "ReplicaSet", true, skips},
           {Kind::kPod, "mindxdl.gitee.com/v1", "AscendJob", true, skips},
           {Kind::kReplicaSet, "apps/v1", "Deployment", true, skips},
           {Kind::kPod, "apps/v1", "DaemonSet", true, skips},
           {Kind::kPod, "v1", "ReplicationController", true, skips},
           {Kind::kStatefulSet, "v1", "Pod", true, skips},
           {Kind::kDeployment, "ome.io/v1beta1", "InferenceService", true, skips},
           {Kind::kPod, "apps/v1", "ReplicaSet", false, denied},
           {Kind::kPod, "apps/v1", "Deployment", true, denied},
           {Kind::kPod, "ray.io/v1", "RayCluster", true, denied},
           {Kind::kReplicaSet, "argoproj.io/v1alpha1", "Rollout", true, denied},
           {Kind::kDeployment, "apps/v1", "Deployment", true, denied},
           {Kind::kStatefulSet, "apps/v1", "ReplicaSet", true, denied},
       }) {
    SCOPED_TRACE(std::string(schemas::KindName(row.kind)) + " of " + row.owner);
    const Json owner = {{"apiVersion", row.api_version},
                        {"kind", row.owner},
                        {"name", "o"},
                        {"uid", "u"},
                        {"controller", row.controller}};
    EXPECT_EQ(Denials(row.kind, owner, true), row.offline);
    EXPECT_EQ(Denials(row.kind, owner, false), denied);
  }
}

}  // namespace
}  // namespace mindgate
