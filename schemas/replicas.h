#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "schemas/request.h"
#include "schemas/workload.h"

namespace mindgate::schemas {

// What changes the number of replicas of a workload, and between which bounds.
struct Autoscaler {
  std::string_view kind;  // "HorizontalPodAutoscaler"
  std::string name;
  std::string_view maker;      // "ome"; empty: an object of its own, known beside the workload
  int64_t count = 1;           // of such objects
  std::string_view role;       // that it scales; empty: the whole object
  std::optional<int64_t> min;  // nothing: it is written wrongly
  std::optional<int64_t> max;
  std::string_view min_key;  // "minReplicas"
  // Index of the template of which a replica is one pod; nothing where a replica is an instance, a
  // group of pods or a whole RoleSet.
  std::optional<size_t> pods_of;
};

// Those that the object itself asks for, from OME or infer-operator, and those among `objects` that
// have it for their target: HorizontalPodAutoscaler (autoscaling), ScaledObject (keda.sh) and
// PodAutoscaler (autoscaling.aibrix.ai). `objects` may be null; `ns` is the object's namespace. On
// a cluster none of the others is known.
std::vector<Autoscaler> AutoscalersOf(const WorkloadView& view, const ObjectLookup* objects,
                                      std::string_view ns);

// Whether a rolling update gets past a gang: every template change makes a new ReplicaSet with a
// PodGroup of its own, whose first pod waits until K of them exist (mind-cluster:
// component/ascend-for-volcano/plugin/job.go; volcano issue 4739).

// What the deployment controller may do at once, in pods.
struct RollingUpdate {
  int64_t max_surge = 0;
  int64_t max_unavailable = 0;
  bool raised = false;  // it was 0 without a surge, which Kubernetes takes for 1
  bool operator==(const RollingUpdate&) const = default;
};

// The limits of a template whose pods a Deployment makes (Deployments, OME components in Deployment
// mode), percentages resolved against the pods it makes, or against `pods_if_unknown`. Nothing for
// other owners and for strategy Recreate.
std::optional<RollingUpdate> RollingUpdateOf(const WorkloadView& view, const PodTemplateView& pod,
                                             int64_t pods_if_unknown);

// Those of a Deployment as the API server stores it, from its `spec.strategy`, for that number of
// pods. Nothing for strategy Recreate.
std::optional<RollingUpdate> RollingUpdateOfDeployment(const json::Value& deployment, int64_t pods);

// True when neither the surge nor what may be unavailable reaches `k` > 1 pods: the new
// ReplicaSet's gang then waits for pods that the deployment controller does not make.
bool RolloutBlocked(const WorkloadView& view, const PodTemplateView& pod, int64_t k);

}  // namespace mindgate::schemas
