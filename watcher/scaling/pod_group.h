#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "json/projection.h"
#include "json/value.h"
#include "kube/event_book.h"
#include "watcher/scaling/pod.h"

// What elastic scaling keeps of a PodGroup: of jobs that get their pods only once Volcano has
// enqueued their PodGroup, it is all that can be seen before.
namespace mindgate::watcher::scaling {

struct PodGroupState {
  ServiceKey service;
  std::string group;     // empty: the label is missing
  std::string instance;  // as PodState::instance of the job's pods
  std::string name;
  std::string uid;
  kube::ObjectReference regarding;  // the job
  Time created{};
  bool enqueued = false;      // phase Inqueue: its job makes pods now
  int64_t pods = 0;           // minMember
  int64_t npus_of_group = 0;  // minResources: what these pods request together

  // Volcano finds no room for it.
  bool waits() const { return !enqueued; }
};

using PodGroupPtr = std::shared_ptr<const PodGroupState>;

inline const ServiceKey& ServiceKeyOf(const PodGroupState& pod_group) { return pod_group.service; }

// The members of a PodGroup that PodGroupOf reads.
std::vector<json::Projection::Path> PodGroupFields();

// Nothing when it is under no rule, when its pods come without it, or when it is neither in phase
// Pending nor Inqueue: then it is the pods that tell.
//
// The PodGroups of AscendJobs and vcjobs have the labels that the job had when they were made
// (mind-cluster: component/ascend-operator/pkg/controllers/v1/job.go; volcano:
// pkg/controllers/job/job_controller_actions.go), and these jobs make no pods before their PodGroup
// has left the phase Pending. Those of other workloads come after their pods, and have no labels of
// a rule.
std::optional<PodGroupState> PodGroupOf(const json::Value& pod_group);

}  // namespace mindgate::watcher::scaling
