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

// What elastic scaling keeps of a PodGroup. Jobs get their pods only once Volcano has enqueued
// their PodGroup: before that it is all that can be seen. Afterwards it counts for jobs whose pods
// lack the labels of the rule.
namespace mindgate::watcher::scaling {

// What Volcano says of it (volcano: pkg/scheduler/framework/session.go, jobStatus).
enum class PodGroupPhase : uint8_t {
  kPending,  // there is no room for it, and its job makes no pods
  kInqueue,  // its job makes pods now
  kUnknown,  // some of its pods run, and there is no room for others
  kRunning,  // as many of its pods as it needs have a node
};

struct PodGroupState {
  ServiceKey service;
  std::string group;     // empty: the label is missing
  std::string instance;  // as PodState::instance of the job's pods
  std::string name;
  std::string uid;
  kube::ObjectReference regarding;  // the job
  Time created{};
  PodGroupPhase phase = PodGroupPhase::kPending;
  int64_t pods = 0;           // minMember
  int64_t npus_of_group = 0;  // minResources: what these pods request together

  // Volcano finds no room for it.
  bool waits() const { return phase == PodGroupPhase::kPending; }
  // Its pods have nodes. Volcano says so in its next session only, so this may be a while old.
  bool has_room() const {
    return phase == PodGroupPhase::kUnknown || phase == PodGroupPhase::kRunning;
  }
};

using PodGroupPtr = std::shared_ptr<const PodGroupState>;

inline const ServiceKey& ServiceKeyOf(const PodGroupState& pod_group) { return pod_group.service; }

// The members of a PodGroup that PodGroupOf reads.
std::vector<json::Projection::Path> PodGroupFields();

// Nothing when it is under no rule, when its pods come without it, when it is being deleted, or
// when Volcano has not seen it yet or it has completed.
//
// The PodGroups of AscendJobs and vcjobs have the labels that the job had when they were made
// (mind-cluster: component/ascend-operator/pkg/controllers/v1/job.go; volcano:
// pkg/controllers/job/job_controller_actions.go), and these jobs make no pods before their PodGroup
// has left the phase Pending. Their pods have these labels only where admission added them. Those
// of other workloads come after their pods, and have no labels of a rule.
std::optional<PodGroupState> PodGroupOf(const json::Value& pod_group);

}  // namespace mindgate::watcher::scaling
