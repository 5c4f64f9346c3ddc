#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a scenario file says about jobs that are restarted because of faults: each is a PodGroup,
// its pods, and the owner that makes them again.
namespace mindgate::simulation {

inline constexpr size_t kMaxJobs = 2'000;
inline constexpr int64_t kMaxJobPods = 1'000;  // of one job
inline constexpr size_t kMaxAllJobPods = 10'000;

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

struct JobSpec {
  using Texts = std::map<std::string, std::string, std::less<>>;

  std::string name;  // of its PodGroup; its pods are name-0, name-1, ...
  std::string ns = "default";
  OwnerKind kind = OwnerKind::kAscendJob;
  int64_t pods = 1;
  int64_t npus_per_pod = 8;
  std::optional<int64_t> min_member{};  // else all pods, or 1 where Volcano makes the PodGroup
  int64_t super_pod_pods = 0;           // pods of each logical super pod; 0: it has none
  Texts labels{};                       // of the PodGroup and all pods
  Texts annotations{};                  // of the PodGroup
  Texts pod_labels{};                   // of all pods and not of the PodGroup
  Texts pod_annotations{};
  bool ever_ends = true;  // false: its pods do not end when they are asked to
  std::optional<std::chrono::seconds> start_time{};        // else as the options say
  std::optional<std::chrono::seconds> termination_time{};  // likewise
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
};
// The Node object is deleted, and comes again with Ready.
struct RemoveNode {
  std::string name;
  size_t node = 0;
};
struct ChangePod {
  enum class What : uint8_t { kFailed, kExited, kSeparate, kSubHealth, kSoftware, kHealthy };
  std::string pod;
  What what = What::kFailed;
};
// The plugin, or anybody else, takes pods away.
struct OtherActs {
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
  JobSpec::Texts labels{};
  JobSpec::Texts annotations{};
  std::optional<bool> ever_ends{};
};
struct PauseRescheduling {
  bool paused = true;  // by the annotation on the Lease
};
struct DisableNamespace {
  std::string ns;
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
  std::optional<std::string> last{};  // what the watcher said last: "waits"
  std::string reason{};               // text that its last word contains
  std::optional<int64_t> retries_used{};
  std::optional<std::vector<std::string>> isolated{};  // nodes with our taint
};

}  // namespace mindgate::simulation
