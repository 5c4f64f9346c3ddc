#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/compact.h"
#include "base/time.h"
#include "json/decode.h"
#include "json/value.h"
#include "kube/events.h"
#include "kube/fault.h"

namespace mindgate::watcher::scaling {

// What elastic scaling keeps of a pod.

// Instances of one service have the namespace, the rule and the jobID in common.
struct ServiceKey {
  std::string ns;
  std::string rule;  // name of the ConfigMap in `ns`
  std::string job_id;
  friend auto operator<=>(const ServiceKey&, const ServiceKey&) = default;
};

inline const std::string& NamespaceOf(const ServiceKey& service) { return service.ns; }

// What the pods of one template have in common.
struct PodOrigin {
  ServiceKey service;
  std::string group;  // empty: the label is missing
  // Pods of one workload that differ in their revision are made from different templates: those of
  // the newer one take the place of the others. Empty: its owner makes none in advance.
  std::string workload;
  std::string revision;
  friend auto operator<=>(const PodOrigin&, const PodOrigin&) = default;
};

// There may be 100,000 pods: what many have in common is kept once.
struct PodState {
  std::shared_ptr<const PodOrigin> origin;  // never null
  std::string instance;  // "AscendJob/server-p0"; no other instance of the namespace has it
  std::string name;
  std::string uid;
  std::shared_ptr<const kube::ObjectReference> owner;  // of the whole instance; null: it has none
  std::shared_ptr<const std::string> node;             // null: it has none
  Time created{};
  SmallOptional<Time> unschedulable{};  // since when the scheduler has no room for it
  int32_t npus = 0;                     // what its containers request, in cards or shares of one
  int32_t size = 0;                     // pods of a whole instance, as its owner says; 0: unknown
  SmallOptional<int32_t> gate{};        // place of ours in spec.schedulingGates
  bool unreadable = false;              // too large: what is not of the metadata is unknown
  bool deleted = false;                 // its deletion was asked for
  bool running = false;
  bool ready = false;

  const std::string& group() const { return origin->group; }
  std::string_view on_node() const { return node == nullptr ? std::string_view() : *node; }
  // Whom Events about the instance are about: its owner, or itself.
  kube::ObjectReference regarding() const;
};

using PodPtr = std::shared_ptr<const PodState>;
// With the two words of a shared pointer it fits into 192 bytes; allocators have 256 next.
static_assert(sizeof(PodState) <= 176);

inline const ServiceKey& ServiceKeyOf(const PodState& pod) { return pod.origin->service; }

// The members of a Pod that PodOf reads.
std::vector<json::Projection::Path> PodFields();

// The job whose pods start and end together, when a controller reference of `metadata` names one.
struct GangOwner {
  std::string instance;  // "AscendJob/server-p0"
  kube::ObjectReference regarding;
};
std::optional<GangOwner> GangOwnerOf(const json::Value* metadata, const std::string& ns);

// Whether a resource counts for PodState::npus.
bool IsCountedNpu(std::string_view resource);

// Pods under a rule carry its label.
inline constexpr const char* kPodSelector = "mind-cluster/scaling-rule";

// Makes PodStates out of pods. One thread at a time.
class PodReader {
 public:
  // As PodOf.
  std::optional<PodState> Read(const json::Value& pod);

 private:
  Interner<PodOrigin> origins_;
  Interner<kube::ObjectReference> owners_;
  Interner<std::string> nodes_;
};

// Nothing when the pod is under no rule (no label scaling-rule, or no jobID), or has ended.
//
// Which pods are one instance:
//   pods of one group of a LeaderWorkerSet (label leaderworkerset.sigs.k8s.io/group-index),
//   pods of one instance of infer-operator (labels infer.huawei.com/inferservice-name,
//   instanceset-name and instanceset-index),
//   pods of one AscendJob, vcjob, Job or PodSet: what its controller makes is one gang,
//   else each pod by itself: replicas of a ReplicaSet, a StatefulSet or a role of a StormService.
std::optional<PodState> PodOf(const json::Value& pod);

// Our gate before a pod.
struct Gate {
  std::string ns;
  std::string pod;
  std::string uid;   // of the pod
  size_t place = 0;  // in spec.schedulingGates
};

// The JSON Patch that takes it away. It holds only for this pod, with our gate at this place.
json::Json GateRemoval(const Gate& gate);

// The calls that open one, with any client.
struct GateCalls {
  std::function<kube::Answer<void>(const json::Json& operations)> patch;  // a JSON Patch of the pod
  std::function<kube::Answer<json::Document>(const json::Projection& fields)> read;  // the pod
};

// Opens it. False: there is nothing to open, as the pod is gone or another one by now, or has no
// such gate any more. Only the pod itself shows that: the answer is the same (kInvalid, kConflict)
// when somebody's webhook or policy refuses the patch, and that is a fault.
kube::Answer<bool> OpenGate(Gate gate, const GateCalls& calls);

// What elastic scaling keeps of a PodGroup. Jobs get their pods only once Volcano has enqueued
// their PodGroup: before that it is all that can be seen. Afterwards it counts for jobs whose pods
// lack the labels of the rule.

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
