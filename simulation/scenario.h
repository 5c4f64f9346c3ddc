#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "json/issues.h"
#include "schemas/config.h"
#include "watcher/scaling/decision.h"

// What a scenario file has: a cluster, services and jobs on it, what happens to them, and what is
// expected.
namespace mindgate::simulation {

// A play keeps every card of every node and every instance in memory, and writes at least one line
// for each entry of the timeline.
inline constexpr size_t kMaxNodes = 10'000;
inline constexpr size_t kMaxInstances = 10'000;
inline constexpr size_t kMaxEntries = 100'000;
inline constexpr size_t kMaxExpectations = 10'000;  // the line of each is looked up in the text
inline constexpr int64_t kMaxNpus = 64;             // of one node; servers have at most 16
inline constexpr int64_t kMaxPods = 1'000;          // of one instance
// The highest that is not reserved (k8s.io/api scheduling/v1).
inline constexpr int64_t kMaxPriority = 1'000'000'000;
inline constexpr size_t kMaxAllPods = 100'000;  // each is an object of the simulated API server
inline constexpr size_t kMaxJobs = 2'000;
inline constexpr int64_t kMaxJobPods = 1'000;  // of one job
inline constexpr size_t kMaxAllJobPods = 10'000;

using Labels = std::map<std::string, std::string, std::less<>>;

struct NodeSpec {
  std::string name;
  int64_t npus = 0;
  Labels labels{};
  std::string super_pod{};  // empty: it is in none
};

// Which ConfigMap holds a scaling rule.
struct RuleKey {
  std::string ns = "default";
  std::string name;
  auto operator<=>(const RuleKey&) const = default;
};

struct RuleSpec {
  RuleKey key;
  std::string text;  // of elastic_scaling.json; may be one that the operator refuses
};

struct ServiceSpec {
  std::string job_id;  // no other service of the namespace has it
  RuleKey rule;
  std::string name{};  // "chat"; "ns/chat" where another namespace has that jobID too
  // Of the PodGroups and pods of its instances. Without any they have no PodGroups, and nothing is
  // rescheduled.
  Labels labels{};
};

// Pods that start and end together: an instance of a service, or a job.
struct GangSpec {
  std::string name;
  int64_t pods = 1;
  int64_t npus_per_pod = 8;
  int64_t priority = 0;  // the scheduler places those with a higher one first
  Labels node_selector{};
  bool one_super_pod = false;                        // all of its pods go to nodes of one super pod
  std::optional<std::chrono::seconds> start_time{};  // else as the options say
  std::optional<std::chrono::seconds> termination_time{};  // likewise
};

// No other instance that is in the namespace of the service at the same time has its name.
struct InstanceSpec : GangSpec {
  size_t service = 0;       // index into Scenario::services
  std::string job_id;       // as written, empty for the only service
  std::string group;        // empty: it has no label mind-cluster/group-name
  bool gated = true;        // false: its pods came without admission
  bool ever_starts = true;  // false: its pods never run, wherever they are
  std::string workload{};   // whose rolling updates replace it; empty: it is an AscendJob
};

enum class OwnerKind : uint8_t {
  kAscendJob,
  kVolcanoJob,
  kDeployment,
  kOmeDeployment,    // of an InferenceService of OME in Deployment mode
  kLeaderWorkerSet,  // one group of it
  kPodSet,           // of a StormService with podGroupSize above 1
  kStormService,     // with podGroupSize 1: all pods share a PodGroup
  kStatefulSet,
  kInferOperator,  // an instance of it
  kPod,            // pods that nobody makes again
};
std::string_view OwnerKindName(OwnerKind kind);  // "AscendJob", as in the file

// How late single watches are, if not as the options say for all.
struct WatchDelays {
  std::optional<std::chrono::seconds> pods{};
  std::optional<std::chrono::seconds> pod_groups{};
  std::optional<std::chrono::seconds> nodes{};
  std::optional<std::chrono::seconds> fault_reports{};
};

// A PodGroup, its pods, and the owner that makes them again. Its pods are name-0, name-1, ...
struct JobSpec : GangSpec {
  std::string ns = "default";
  OwnerKind kind = OwnerKind::kAscendJob;
  std::optional<int64_t> min_member{};  // else all pods, or 1 where Volcano makes the PodGroup
  int64_t super_pod_pods = 0;           // pods of each logical super pod; 0: it has none
  Labels labels{};                      // of the PodGroup and all pods
  Labels annotations{};                 // of the PodGroup
  Labels pod_labels{};                  // of all pods and not of the PodGroup
  Labels pod_annotations{};
  bool terminates = true;  // false: its pods do not end when they are asked to
};

// How many, by group.
using Counts = std::map<std::string, int64_t, std::less<>>;

// An expectation about the instances in one state: how many of each group, or which.
struct Claim {
  enum class State : uint8_t {
    kRunning,
    kStarting,
    kNoRoom,
    kHeld,
    kGivenUp,  // so far, as the next two
    kWithdrawn,
    kWouldGiveUp,
  };
  State state = State::kRunning;
  int line = 0;
  Counts counts;                                  // groups that are not named may differ
  std::optional<std::vector<std::string>> names;  // sorted; these and no others
};
std::string_view StateName(Claim::State state);  // "running", as in the file

// What must not have happened so far.
struct Never {
  Counts more_than{};                    // running at once
  std::vector<std::string> given_up{};   // instances
  std::vector<std::string> withdrawn{};  // likewise
  int line = 0;
  bool empty() const { return more_than.empty() && given_up.empty() && withdrawn.empty(); }
};

// What must hold at all times between two.
struct Always {
  std::chrono::seconds from{0};
  std::chrono::seconds to{0};
  std::vector<Claim> claims{};  // of states, not of what has happened
  Counts at_least{};            // running
  Counts at_most{};             // likewise
  std::optional<int64_t> shape{};
  int line = 0;
  bool empty() const { return claims.empty() && at_least.empty() && at_most.empty() && !shape; }
};

struct Expectation {
  size_t service = 0;
  std::string job_id;  // as written, empty for the only service
  std::vector<Claim> claims;
  std::optional<int64_t> shape;  // 1 is the largest; 0: none runs whole
  int shape_line = 0;
  Never never;
  std::optional<Always> always;
  Labels reasons;  // by instance: what the watcher's last reason must contain
  int reasons_line = 0;
};

// What an entry of the timeline does, or to what.
struct ToNode {
  std::string name;
  size_t node = 0;  // index into Scenario::nodes
};
struct BreakNode : ToNode {};
struct RepairNode : ToNode {};
struct Cordon : ToNode {};
struct Uncordon : ToNode {};
struct NotReady : ToNode {};
struct Ready : ToNode {};
struct RemoveNode : ToNode {};  // its Node object, which comes again with Ready
struct BreakCards : ToNode {
  int64_t count = 1;
};
struct RepairCards : ToNode {
  int64_t count = 1;
};
struct Submit {
  InstanceSpec instance;
};
struct ToInstance {
  std::string instance;
  std::string ns{};  // of the instance
};
struct Delete : ToInstance {};
struct FailInstance : ToInstance {};
struct FailPod : ToInstance {
  int64_t pod = 0;  // of its pods, from 0
};
// A rolling update of one Deployment: the instances of `workload` that are there.
struct Rollout {
  std::string job_id;  // of their service, as written
  std::string group;   // all of it, unless `instances` names some
  std::vector<std::string> instances;
  int64_t max_surge = 1;
  int64_t max_unavailable = 0;
  std::string workload{};  // see InstanceSpec
  size_t service = 0;
};
// Calls of the watcher that fail.
struct FailCalls {
  std::string verb;      // "get", "patch", "delete", "evict"; empty: all of them
  int64_t status = 500;  // 0: no answer within the time of a call
  std::chrono::seconds lasts{0};
};
struct LoseLeader {
  std::chrono::seconds lasts{0};  // until a replica leads again, which remembers nothing
};
struct SetRule {
  RuleSpec rule;
};
struct DeleteRule {
  RuleKey rule;
};

// What MindCluster reports of a node from now on. Chips that are not named are healthy.
struct ReportFaults {
  std::string name;
  size_t node = 0;
  std::vector<int64_t> unhealthy{};
  std::vector<int64_t> network_unhealthy{};
  std::vector<int64_t> sub_healthy{};
  std::vector<int64_t> separated{};  // by a public fault, which ClusterD merged
  // Fault codes that stay, with their chips; they are in what stands above and below as well.
  std::map<std::string, std::vector<int64_t>, std::less<>> codes{};
  std::string machine = "Healthy";   // as NodeD calls it
  std::string switches = "Healthy";  // as the device plugin calls its switches
  // Until the node is reported healthy again, by an entry of its own; nothing: until another one.
  std::optional<std::chrono::seconds> lasts{};
};
struct ChangePod {
  enum class What : uint8_t { kFailed, kExited, kSeparate, kSubHealth, kSoftware, kHealthy };
  std::string pod;
  What what = What::kFailed;
};
// Volcano's plugin, or anybody else, takes pods away: of a job, or all of an instance.
struct ExternalDeletion : ToInstance {  // of none: it is about a job
  std::string job_name;
  size_t job = 0;
  std::vector<std::string> pods{};
  bool by_force = true;
  bool recorded = false;  // in the plugin's ConfigMap job-reschedule-reason
};
// Labels and annotations of a PodGroup are others; an empty value takes one away.
struct ChangeJob {
  std::string job_name;
  size_t job = 0;
  Labels labels{};
  Labels annotations{};
  std::optional<bool> terminates{};
};
struct PauseRescheduling {
  bool paused = true;  // by the annotation on the Lease
};
struct DisableNamespace {
  std::string ns;
};

struct ScenarioOptions : watcher::scaling::Options {
  std::chrono::seconds start_time{30};       // from placed to running
  std::chrono::seconds termination_time{0};  // from the deletion of a pod on a node to its end
  std::chrono::seconds seen_after{0};        // from a grant until the pods show it
  std::chrono::seconds watch_delay{0};       // from a change until the watcher sees it
  WatchDelays watch_delays{};
  bool clusterd = true;  // it runs
  // Nothing settles unless the scenario asks for it: what it reports at one time is one report.
  schemas::Rescheduling rescheduling = [] {
    schemas::Rescheduling settings;
    settings.settle = std::chrono::seconds(0);
    return settings;
  }();
  std::chrono::seconds grace_over_time{900};  // of the scheduler
};

// Pods by the moment at which something was done to them.
using PodsByTime = std::map<std::chrono::seconds, std::vector<std::string>>;

struct JobExpectation {
  std::string job_name;  // as written, empty for the only job
  size_t job = 0;
  int line = 0;
  // What the watcher has done so far, all of it.
  std::optional<PodsByTime> deleted{};
  std::optional<PodsByTime> evicted{};
  std::optional<PodsByTime> marked{};
  std::optional<std::vector<std::string>> untouched{};  // the same pods as at the start
  std::optional<std::vector<std::string>> running{};
  std::optional<std::string> last{};  // the last decision of the watcher: "restart waits"
  std::string reason{};               // text that its last word contains
  std::optional<int64_t> retries_used{};
  std::optional<std::vector<std::string>> isolated{};  // nodes with our taint
};

struct SetOptions {
  ScenarioOptions options;  // all of them, as they are from then on
};

using Action =
    std::variant<BreakNode, RepairNode, BreakCards, RepairCards, Cordon, Uncordon, NotReady, Ready,
                 Submit, Delete, FailInstance, FailPod, Rollout, SetRule, DeleteRule, SetOptions,
                 FailCalls, LoseLeader, Expectation, ReportFaults, RemoveNode, ChangePod,
                 ExternalDeletion, ChangeJob, PauseRescheduling, DisableNamespace, JobExpectation>;

struct Entry {
  std::chrono::seconds at{0};
  Action action;
};

struct Scenario {
  std::string name;             // empty: it has none
  std::vector<NodeSpec> nodes;  // by name, numbers in names as numbers: npu-2 before npu-10
  std::vector<RuleSpec> rules;  // at the start
  ScenarioOptions options;
  std::vector<ServiceSpec> services;
  std::vector<JobSpec> jobs;
  std::vector<Entry> timeline;  // in order of time; instances of `services` are submitted in it
  bool has_faults = false;      // it has jobs, or something that rescheduling is about
};

struct ScenarioReading {
  std::vector<Scenario> scenarios;  // one a document
  json::Issues issues;              // every fault, with its place; then there are no scenarios
  json::Issues warnings;            // what the scenarios should write differently
};

// Reads a text, which may hold several documents. Never throws, whatever the bytes.
ScenarioReading ReadScenarios(std::string_view text);

}  // namespace mindgate::simulation
