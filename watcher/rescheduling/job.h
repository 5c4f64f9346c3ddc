#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/event_book.h"
#include "watcher/rescheduling/classification.h"
#include "watcher/rescheduling/policy.h"

namespace mindgate::watcher::rescheduling {

// A PodGroup: the scheduler's job.
struct JobKey {
  std::string ns{};
  std::string pod_group{};
  friend auto operator<=>(const JobKey&, const JobKey&) = default;
  friend const std::string& NamespaceOf(const JobKey& job) { return job.ns; }
};

// A job as it is at one moment.
struct Job {
  std::string uid{};  // of the PodGroup
  // Its PodGroup is Running or Unknown. Before, pods that fail are not looked at, as their job has
  // never run (mind-cluster: component/ascend-for-volcano/internal/rescheduling/frame.go).
  bool started = false;
  // Pods that it needs: the PodGroup's minMember, or where that is 1,
  // huawei.com/schedule_minAvailable (plugin/job.go).
  int64_t min_available = 1;
  FaultPolicy policy{};
  std::vector<Task> tasks{};                 // by name of the pod; none that succeeded
  int64_t succeeded = 0;                     // pods that did, as the PodGroup's status says
  std::string disabled{};                    // why nothing may be done; empty: it may
  kube::ObjectReference regarding{};         // whom Events are about
  std::optional<Time> restarted_by_other{};  // when the plugin restarted it, as its records say
  bool operator==(const Job&) const = default;
};

// Whether so many pods are all that the job needs. Those count that have a node, whatever became of
// them there: also pods that failed, that are being deleted or that succeeded (mind-cluster:
// component/ascend-for-volcano/plugin/job.go, GetJobInfoAllocatedTaskNum; Volcano counts pods that
// succeeded as ready).
bool HasAllPods(const Job& job, int64_t on_nodes);

}  // namespace mindgate::watcher::rescheduling
