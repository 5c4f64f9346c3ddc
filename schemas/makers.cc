#include "schemas/makers.h"

#include <algorithm>
#include <array>

namespace mindgate::schemas {
namespace {

struct Maker {
  std::string_view group;
  std::string_view kind;
  Kind made;
};

constexpr std::array kMakers = {
    Maker{"apps", "Deployment", Kind::kReplicaSet},
    Maker{"apps", "ReplicaSet", Kind::kPod},
    Maker{"apps", "StatefulSet", Kind::kPod},
    Maker{"apps", "DaemonSet", Kind::kPod},
    Maker{"", "ReplicationController", Kind::kPod},
    Maker{"batch", "CronJob", Kind::kJob},
    Maker{"batch", "Job", Kind::kPod},
    Maker{"batch.volcano.sh", "CronJob", Kind::kVolcanoJob},
    Maker{"batch.volcano.sh", "Job", Kind::kPod},
    Maker{"mindxdl.gitee.com", "AscendJob", Kind::kPod},
    // Ascend Operator writes the rank tables of all four (mind-cluster: component/ascend-operator).
    Maker{"mindxdl.gitee.com", "AscendJob", Kind::kConfigMap},
    Maker{"batch.volcano.sh", "Job", Kind::kConfigMap},
    Maker{"apps", "Deployment", Kind::kConfigMap},
    Maker{"apps", "StatefulSet", Kind::kConfigMap},
    // The leader's StatefulSet, and one of workers for each leader pod (lws:
    // pkg/controllers/{leaderworkerset,pod}_controller.go).
    Maker{"leaderworkerset.x-k8s.io", "LeaderWorkerSet", Kind::kStatefulSet},
    Maker{"", "Pod", Kind::kStatefulSet},
    Maker{"ome.io", "InferenceService", Kind::kDeployment},
    Maker{"ome.io", "InferenceService", Kind::kLeaderWorkerSet},
    Maker{"orchestration.aibrix.ai", "StormService", Kind::kRoleSet},
    Maker{"orchestration.aibrix.ai", "RoleSet", Kind::kPodSet},
    Maker{"orchestration.aibrix.ai", "RoleSet", Kind::kPod},
    Maker{"orchestration.aibrix.ai", "PodSet", Kind::kPod},
    Maker{"mindcluster.huawei.com", "InferServiceSet", Kind::kInferService},
    Maker{"mindcluster.huawei.com", "InferService", Kind::kInstanceSet},
    Maker{"mindcluster.huawei.com", "InstanceSet", Kind::kDeployment},
    Maker{"mindcluster.huawei.com", "InstanceSet", Kind::kStatefulSet},
};

}  // namespace

bool Makes(std::string_view owner_group, std::string_view owner_kind, Kind made) {
  return std::any_of(kMakers.begin(), kMakers.end(), [&](const Maker& maker) {
    return maker.made == made && maker.kind == owner_kind && maker.group == owner_group;
  });
}

}  // namespace mindgate::schemas
