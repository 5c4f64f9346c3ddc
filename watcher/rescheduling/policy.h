#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "faults/node_faults.h"
#include "json/value.h"

namespace mindgate::watcher::rescheduling {

// The label fault-scheduling. Any value but the five makes the plugin fail in every session.
enum class FaultScheduling : uint8_t { kOff, kForce, kGrace, kExternal, kUnknown };

// The label subHealthyStrategy; any other value is ignore.
enum class SubHealthyStrategy : uint8_t { kIgnore, kGraceExit, kForceExit, kHotSwitch };

// Which pod of rank 0 is the master of its job: when it is lost, the whole job goes. Whether the
// job asks for NPUs decides, and not whether that pod does: a launcher without chips is a master as
// well (mind-cluster: component/ascend-for-volcano/internal/rescheduling, isMasterRank in job.go).
// Policy chip8-node8-ra64-sp has a function of its own that does not ask for the replica type
// (evaluateJobIsMasterFault in job_v2.go).
enum class MasterRule : uint8_t {
  kNone,       // the job asks for no NPUs
  kNoWorker,   // unless its label replica-type is worker
  kAnyReplica  // whatever that label is
};

// How far a restart goes that did not help before. Racks and logical super pods are passed over by
// jobs that have none.
enum class Escalation : uint8_t { kFaultyPods, kRacks, kSuperPods, kWholeJob };

// What a job asks for when hardware or one of its pods fails.
struct FaultPolicy {
  FaultScheduling fault_scheduling = FaultScheduling::kOff;
  std::string written{};  // the value of fault-scheduling
  SubHealthyStrategy sub_healthy = SubHealthyStrategy::kIgnore;
  bool pod_rescheduling = false;  // faulty pods first, all of them later
  bool process_recover = false;   // pods that are not faulty stay
  int64_t retries = 0;            // fault-retry-times: pods that fail are considered unless it is 0
  bool only_faulty_pods = false;  // whatever else is written, never more than these
  bool decided_outside = false;   // another platform decides: nothing is deleted
  // Pods of a rack block, by rank: 0..n-1 are the first. 0: the scheduler makes no such blocks.
  int64_t rack_pods = 0;
  // Likewise of a block of the first level of schedule_policy multilevel, which takes the place of
  // a logical super pod.
  int64_t level_pods = 0;
  MasterRule master = MasterRule::kNone;
  // Whether a restart begins with the faulty pods; else with the whole job.
  bool begins_with_faulty_pods() const {
    return pod_rescheduling || process_recover || only_faulty_pods;
  }
  // The widest scope that a restart ever gets, unless it reaches the master. With
  // process-recover-enable that is the faulty pods, or with schedule policy chip8-node8-ra64-sp
  // their rack blocks (mind-cluster: component/ascend-for-volcano/internal/rescheduling,
  // processPendingRules in reschedule_v2.go).
  Escalation widest() const {
    if (only_faulty_pods) return Escalation::kFaultyPods;
    if (!process_recover) return Escalation::kWholeJob;
    return rack_pods > 0 ? Escalation::kRacks : Escalation::kFaultyPods;
  }
  // Whether the job itself is asked to end before its pods go, when they only run on hardware that
  // works less well than it should.
  bool requests_graceful_exit() const {
    return sub_healthy == SubHealthyStrategy::kGraceExit && !process_recover;
  }
  bool operator==(const FaultPolicy&) const = default;
};

// The labels and annotations of a job as the plugin sees them (mind-cluster:
// component/ascend-for-volcano/plugin/job.go, getJobLabelFromJobInfo).
class JobMetadata {
 public:
  using Map = std::map<std::string, std::string, std::less<>>;

  // The entries of an object's labels or annotations (null pointer: it has none) with these keys.
  static Map Choose(const json::Value* map, std::span<const std::string_view> keys);

  // Of the PodGroup and of each pod. Values of one label that differ by more than their case are
  // joined with '|', and then match nothing.
  void AddLabels(const Map& labels);
  // Of the PodGroup.
  void AddAnnotations(const Map& annotations);
  // Of each pod. Only some of them may stand there, and only where the PodGroup has none; the first
  // value counts (mind-cluster: component/ascend-for-volcano/plugin/type.go).
  void AddPodAnnotations(const Map& annotations);

  // `asks_for_npus`: whether the PodGroup's minResources name an NPU, or one of its pods has chips.
  FaultPolicy Policy(bool asks_for_npus) const;

  // How many pods the job needs: the PodGroup's minMember, or where that is 1,
  // huawei.com/schedule_minAvailable.
  int64_t MinAvailable(int64_t min_member) const;

  // Empty: there is none.
  std::string_view Annotation(std::string_view key) const;

 private:
  std::string_view Label(std::string_view key) const;

  Map labels_;
  Map annotations_;
};

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
  std::optional<Time> deletion_time{};  // it is being deleted, and should be gone by then
  bool forced = false;       // it was deleted with grace period 0, and a finalizer keeps it
  bool gated = false;        // it waits behind a scheduling gate
  bool bound = false;        // a scheduler placed it, so that its node was one
  bool ready = false;        // its condition Ready is True
  std::string pod_status{};  // huawei.com/pod-status
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

// Whether the others cannot go on without the pod.
bool IsMaster(const Task& task, const FaultPolicy& policy);

// The rack block of the pod; nothing: it has none, or no rank yet.
std::optional<int64_t> RackOf(const Task& task, const FaultPolicy& policy);
// Likewise its logical super pod, or with schedule_policy multilevel its block of the first level.
std::optional<int64_t> SuperPodOf(const Task& task, const FaultPolicy& policy);

// The tasks that go, by their index: never more than FaultPolicy::widest. A fault of the master
// takes the whole job, and so does a wider scope that reaches it; jobs limited to their faulty pods
// never lose others (mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go).
std::vector<size_t> ScopeOf(const std::vector<Task>& tasks, const std::vector<FaultType>& types,
                            const FaultPolicy& policy, Escalation escalation);

enum class Step : uint8_t {
  kNothing,
  kDelete,    // at once, with grace period 0
  kEvict,     // with the pods' own grace period, and by force when that takes too long
  kAnnotate,  // huawei.com/pod-status, for a platform that acts on it
  kFails,     // the plugin tries and cannot, in every session
};

struct Response {
  Step step = Step::kNothing;
  FaultType reason = FaultType::kHealthy;
  std::vector<size_t> tasks{};  // what the step is done to
  std::string why{};            // a sentence without its full stop, for people
  // The job itself is asked before its pods go: kEvict because of sub-health.
  bool requests_graceful_exit = false;
  bool operator==(const Response&) const = default;
};

// What happens to a job whose tasks are of these types. `retries_left` as far as it is known; the
// label says how many there are at first.
Response Respond(const std::vector<Task>& tasks, const std::vector<FaultType>& types,
                 const FaultPolicy& policy, std::optional<int64_t> retries_left = std::nullopt,
                 Escalation escalation = Escalation::kFaultyPods);

}  // namespace mindgate::watcher::rescheduling
