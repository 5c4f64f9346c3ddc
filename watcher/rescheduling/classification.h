#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "faults/node_faults.h"
#include "watcher/rescheduling/policy.h"

namespace mindgate::watcher::rescheduling {

// A pod of a job.
struct Task {
  std::string pod{};
  std::string node{};                          // empty: it is not placed
  std::set<std::string, std::less<>> chips{};  // the physical ones of huawei.com/AscendReal
  bool failed = false;                         // it or one of its containers ended with an error
  bool ended = false;                          // it failed as a whole: it will not run again
  std::string fault_type{};                    // its label fault-type, written by ClusterD
  std::string rank{};                          // hccl/rankIndex
  bool is_worker = false;                      // its label replica-type is worker
  bool may_be_switched = false;                // a replacement waits (needVolcanoOpe is delete)
  std::optional<int64_t> super_pod{};          // the logical one, where the job has such

  // For who acts on the pod.
  std::string uid{};
  std::optional<Time> created{};
  std::optional<Time> going{};  // it is being deleted, and should be gone by then
  bool forced = false;          // it was deleted with grace period 0, and a finalizer keeps it
  bool gated = false;           // it waits behind a scheduling gate
  bool bound = false;           // a scheduler placed it, so that its node was one
  bool ready = false;           // its condition Ready is True
  std::string pod_status{};     // huawei.com/pod-status
  bool operator==(const Task&) const = default;
};

bool AnyHasChips(const std::vector<Task>& tasks);

// The plugin's own words, which stand in its logs and in huawei.com/pod-status.
enum class FaultType : uint8_t {
  kHealthy,
  kNodeUnhealthy,
  kCardUnhealthy,
  kPodFailed,
  kRelationFault,
  kSubHealthFault,
};
std::string_view FaultTypeName(FaultType type);  // "CardUnhealthy", "pod-failed"

// What hardware reports of the cluster.
struct Hardware {
  const faults::FaultsByNode& nodes;
  // Not Ready, or gone (a node that is not in the cluster any more belongs here).
  const std::set<std::string, std::less<>>& not_ready;
};

// The first of these that is so: NodeD or a switch takes the node away, one of the task's chips is
// unhealthy, Kubernetes has lost the node, the task itself failed and its job counts retries,
// ClusterD calls it part of another fault, or it runs on hardware that works less well than it
// should and its job does not ignore that (mind-cluster:
// component/ascend-for-volcano/internal/rescheduling/job.go).
FaultType Classify(const Task& task, const FaultPolicy& policy, const Hardware& hardware);

// What the job's restart is about: a fault of hardware before a failed pod. kHealthy when no task
// is faulty.
FaultType ReasonOf(const std::vector<FaultType>& types);

}  // namespace mindgate::watcher::rescheduling
