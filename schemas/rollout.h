#pragma once

#include <cstdint>
#include <optional>

#include "json/value.h"
#include "schemas/workload.h"

// Whether a rolling update gets past a gang: every template change makes a new ReplicaSet with a
// PodGroup of its own, whose first pod waits until K of them exist (mind-cluster:
// component/ascend-for-volcano/plugin/job.go; volcano issue 4739).
namespace mindgate::schemas {

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
