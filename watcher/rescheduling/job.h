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
  std::vector<Task> tasks{};                 // by name of the pod
  std::string disabled{};                    // why nothing may be done; empty: it may
  kube::ObjectReference regarding{};         // whom Events are about
  std::optional<Time> restarted_by_other{};  // when the plugin restarted it, as its records say
  bool operator==(const Job&) const = default;
};

}  // namespace mindgate::watcher::rescheduling
