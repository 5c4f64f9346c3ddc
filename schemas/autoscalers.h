#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace mindgate::schemas
