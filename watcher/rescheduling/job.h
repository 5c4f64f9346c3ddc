#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/compact.h"
#include "base/threads.h"
#include "base/time.h"
#include "json/decode.h"
#include "json/value.h"
#include "kube/events.h"
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
  // Its PodGroup is Running or Unknown. Before, pods that fail are not considered, as their job has
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

// What rescheduling keeps of pods and PodGroups. There may be 100,000 pods: what many have in
// common is kept once.

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
  Time deletion_time{};    // 0: it is not being deleted
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

// Pods of a PodGroup that have a node or had one, as the scheduler counted them last.
int64_t CountPlaced(const json::Value& pod_group);

// Whether the last run of a container ended with an error. One that was restarted in place thus
// counts until its pod is replaced.
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

// The pods of each PodGroup, as the informers report them. Safe from many threads.
class JobIndex {
 public:
  // A pod before and after a change; null: it did not exist before, or no longer exists. Returns
  // the jobs that this concerns.
  std::vector<JobKey> Changed(const PodPtr& before, const PodPtr& after);
  // Likewise of a PodGroup.
  std::vector<JobKey> Changed(const PodGroupPtr& before, const PodGroupPtr& after);

  // Nothing when there is no such PodGroup: the scheduler knows no such job then.
  std::optional<Job> Find(const JobKey& job) const;
  std::vector<JobKey> jobs() const;
  // Those that have a pod on the node.
  std::vector<JobKey> JobsOn(std::string_view node) const;
  // Of those, whose PodGroup exists, the ones with a pod there that a scheduler bound and nobody
  // deletes: whoever may create pods may write any node into one.
  std::vector<JobKey> BoundJobsOn(std::string_view node) const;
  // Chips that pods have on the node which have not ended and are not being deleted.
  int64_t CountChipsOn(std::string_view node) const;
  std::set<std::string, std::less<>> ChipsOn(std::string_view node) const;

 private:
  struct Entry {
    PodGroupPtr group;
    std::vector<PodPtr> pods;  // by name
  };

  void Remove(const PodState& pod) REQUIRES(mutex_);
  void Insert(const PodPtr& pod) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<JobKey, Entry> jobs_ GUARDED_BY(mutex_);
  // The jobs of the pods of each node, as often as they have pods there, which own the keys.
  std::map<std::string, std::vector<const JobKey*>, std::less<>> on_node_ GUARDED_BY(mutex_);
  std::map<std::string, int64_t, std::less<>> chips_on_ GUARDED_BY(mutex_);  // CountChipsOn
};

// Labels and annotations of the PodGroup and its pods, as the plugin merges them.
Job JobOf(const PodGroupState& group, const std::vector<PodPtr>& pods);

// How far a job has come since a fault of one of its pods was reported. Each ends the one before.
enum class RecoveryStep : uint8_t {
  kDecided,    // a restart began, or somebody else deletes the pod
  kDeleted,    // the faulty pods are gone
  kRecreated,  // as many pods exist as before
  kPlaced,     // they have nodes
  kRunning,    // they are Ready
};
inline constexpr int kRecoveryStepCount = 5;
std::string_view RecoveryStepName(RecoveryStep step);  // "decided"

// Measures the steps of all jobs, whoever restarts them: this watcher or MindCluster. Known to one
// leader only: a recovery that was under way when it began to lead is measured from then on. Safe
// from many threads.
class Recoveries {
 public:
  // Steps that come to pass at once take no time.
  using Observe = std::function<void(RecoveryStep step, std::chrono::nanoseconds since_last)>;

  explicit Recoveries(Observe observe) : observe_(std::move(observe)) {}

  // A job as it is now. `types`: of each task; `restarts`: a restart of ours is under way. A fault
  // that goes away before anything was done is not counted.
  void See(const JobKey& key, const Job& job, const std::vector<FaultType>& types, bool restarts,
           Time now);
  void Forget(const JobKey& key);
  void Keep(const std::function<bool(const JobKey&)>& exists);

 private:
  struct Recovery {
    Time since{};                  // of the last step that was reached, at first of the report
    int reached = 0;               // steps
    std::set<std::string> faulty;  // pods, by UID
    size_t pods = 0;               // that the job had
  };

  static bool IsReached(RecoveryStep step, const Recovery& recovery, const Job& job, bool restarts);

  const Observe observe_;
  Mutex mutex_;
  std::map<JobKey, Recovery> recoveries_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher::rescheduling
