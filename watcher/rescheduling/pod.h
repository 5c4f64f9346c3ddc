#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/interner.h"
#include "base/time.h"
#include "json/projection.h"
#include "json/value.h"
#include "kube/event_book.h"
#include "watcher/rescheduling/job.h"

// What rescheduling keeps of pods and PodGroups. There may be 100,000 pods: what many have in
// common is kept once.
namespace mindgate::watcher::rescheduling {

// Of a PodGroup or a pod: those labels and annotations that decide about faults.
struct Metadata {
  JobMetadata::Map labels;
  JobMetadata::Map annotations;
  auto operator<=>(const Metadata&) const = default;
};

struct PodState {
  std::string name;
  std::string uid;
  std::shared_ptr<const JobKey> job;
  std::shared_ptr<const Metadata> metadata;
  std::shared_ptr<const std::string> node;  // null: it is not placed
  std::shared_ptr<const std::set<std::string, std::less<>>> chips;
  Time created{};
  Time going{};            // 0: it is not being deleted
  int32_t super_pod = -1;  // -1: it is in none
  int32_t rank = -1;       // -1: it has none
  bool failed = false;
  bool ended = false;     // its phase is Failed
  bool switched = false;  // a replacement waits for it to go
  bool forced = false;
  bool gated = false;
  bool bound = false;  // a scheduler placed it, or a kubelet took it
  bool ready = false;  // its condition Ready is True

  Task ToTask() const;
};
using PodPtr = std::shared_ptr<const PodState>;

struct PodGroupState {
  JobKey job;
  std::string uid;
  Metadata metadata;
  int64_t min_member = 1;
  bool started = false;
  bool asks_for_npus = false;                          // its minResources name an NPU
  int64_t succeeded = 0;                               // pods, as the scheduler counted them last
  std::shared_ptr<const kube::ObjectReference> owner;  // null: it has none

  // Whom Events are about: its owner, or itself.
  kube::ObjectReference regarding() const;
};
using PodGroupPtr = std::shared_ptr<const PodGroupState>;

std::vector<json::Projection::Path> PodFields();
std::vector<json::Projection::Path> PodGroupFields();

// Whether the last run of a container ended with an error. One that was restarted in place thus
// counts until its pod is replaced (trap 35).
bool HasFailedContainer(const json::Value& pod);

// Whether a scheduler bound the pod: its condition PodScheduled is True. The API server writes that
// with the binding (registry/core/pod/storage, assignPod), and the kubelet of a node for what runs
// there; of a pod that was created with spec.nodeName nobody does.
bool IsBound(const json::Value& pod);

// Makes PodStates out of pods. One thread at a time.
class PodReader {
 public:
  // Null for a pod that is in no PodGroup: nobody moves it.
  PodPtr Read(const json::Value& pod);

 private:
  Interner<JobKey> jobs_;
  Interner<Metadata> metadata_;
  Interner<std::string> nodes_;
  Interner<std::set<std::string, std::less<>>> chips_;
};

PodGroupState PodGroupOf(const json::Value& pod_group);
// Whether the minResources of a PodGroup name a resource of NPUs, which makes its job one with NPUs
// (mind-cluster: component/ascend-for-volcano/plugin/job.go, GetVCJobReqNPUTypeFromJobInfo).
bool AsksForNpus(const json::Value& pod_group);

// A label or annotation mindgate.io/rescheduling: disabled.
bool IsDisabled(const Metadata& metadata);
// Those of the metadata of any object.
Metadata MetadataOf(const json::Value* metadata);

}  // namespace mindgate::watcher::rescheduling
