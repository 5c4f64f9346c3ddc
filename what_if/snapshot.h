#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/time.h"
#include "json/decode.h"
#include "json/issues.h"
#include "json/value.h"
#include "kube/client.h"
#include "kube/resource.h"
#include "schemas/config.h"
#include "schemas/names.h"
#include "schemas/workload.h"
#include "watcher/rescheduling/plugin.h"
#include "watcher/rescheduling/policy.h"

namespace mindgate::what_if {

// Who acts on the faults of a cluster, and when. Pure.

enum class Actor : uint8_t {
  kNobody,
  kPlugin,      // MindCluster's plugin in Volcano
  kWatcher,     // mindgate's watcher
  kKubernetes,  // its controllers
  kOwner,       // the controller that made the pods
  kDrain,       // whoever drains the node
};
std::string_view ActorName(Actor actor);  // "plugin", as in JSON

// What mindgate's watcher does in a cluster, as far as forecasts need it. The default: no watcher
// runs.
struct WatcherSettings {
  schemas::ReschedulingMode rescheduling = schemas::ReschedulingMode::kOff;
  std::chrono::seconds takeover_after{30};
  std::chrono::seconds settle{2};
  int64_t max_faulty_nodes = 30;  // percent
  bool rebalances = false;        // elasticScaling.mode and elasticScaling.rebalance are enforce
  std::chrono::seconds rebalance_after{60};
  std::chrono::seconds grace_over_time{900};  // also of the plugin
  bool operator==(const WatcherSettings&) const = default;
};

WatcherSettings SettingsOf(const schemas::Config& config);

// As a snapshot has them. What is missing is the default; the names of members that have another
// value than they may are added to `wrong`.
json::Json SettingsJson(const WatcherSettings& settings);
WatcherSettings ReadSettings(const json::Value& written, std::vector<std::string>& wrong);

// When somebody acts, counted from when the fault is known.
struct Due {
  Actor by = Actor::kNobody;
  std::chrono::seconds within{0};  // at the latest; 0: at once
  std::string why{};               // it is not at once; a sentence without its full stop
  bool operator==(const Due&) const = default;
};

// What the plugin knows of a job from before.
struct PluginMemory {
  std::optional<watcher::rescheduling::PluginRestart> restarted{};  // the last time
  bool incomplete = false;                // fewer pods have a node than the job needs
  std::optional<int64_t> retries_left{};  // nothing: as its label says
};

// How long the plugin does not examine a job again that it restarted and that has not got its pods
// back: 300 s and grace-over-time (mind-cluster:
// component/ascend-for-volcano/internal/rescheduling/reschedule.go, synCacheFaultJobWithSession).
std::chrono::seconds MemoryOfPlugin(const WatcherSettings& settings);

// Who carries out a response about a job. Where the plugin and the watcher both may, the one that
// acts earlier, and of two at the same time the plugin. `too_many_faults`: the watcher restarts
// nothing (maxFaultyNodes).
Due DueOf(const watcher::rescheduling::Response& response,
          const watcher::rescheduling::FaultPolicy& policy, const PluginMemory& memory,
          const WatcherSettings& settings, bool too_many_faults, Time now);

// "MindCluster's plugin", "mindgate", "nobody".
std::string_view ActorText(Actor actor);

// "at once", "in 17m at the latest".
std::string WhenText(const Due& due);

// What decisions need of a cluster at one moment: objects as the API server gave them, with the
// members that what_if/snapshot.h names. A snapshot of a live cluster is read from the same
// text that `mindgate snapshot` writes, so that both say the same. Moves and copies are cheap;
// nothing changes an object. Safe from many threads.
struct ClusterSnapshot {
  using Objects = std::vector<const json::Value*>;

  Time taken{};
  Objects nodes{};
  Objects pods{};  // without those that have succeeded
  Objects pod_groups{};
  // ConfigMaps of ClusterD, and of the nodes and with public faults where ClusterD is absent, or
  // may be gone.
  Objects fault_reports{};
  Objects scaling_rules{};  // ConfigMaps that a pod or a PodGroup names, and that are there
  // The ConfigMap with the cluster's own fault codes, where there is one (faults::kConfigName).
  Objects fault_config{};
  std::string fault_config_unread{};  // why it could not be read; empty: it could
  // What MindCluster's plugin noted of its restarts (watcher/rescheduling/plugin.h), where
  // it did and may be read.
  Objects plugin_records{};
  Objects plugin_retries{};
  std::string plugin_notes_unread{};  // why they could not be read; empty: they could
  // Whole objects of the kinds that hold pods and of all that rules read beside them, each with its
  // kind, and their Namespaces; nothing: the snapshot was taken without them.
  std::optional<Objects> workloads{};
  std::vector<std::string> workloads_unread{};  // collections that could not be read, and why
  WatcherSettings watcher{};
  // What the objects are views of.
  std::vector<std::shared_ptr<const json::Document>> documents{};
};

// The version of the text. A text of another one is refused: what it lacks would be taken for
// absent.
inline constexpr int kSnapshotVersion = 1;

// Of the text. A pod takes about 700 bytes, a node 800: 100,000 pods on 10,000 nodes and their
// reports take 85 MB.
inline constexpr size_t kMaxSnapshot = 256 * 1024 * 1024;

// The snapshot in a text, or every fault of it with its place. Never throws, whatever the bytes.
tl::expected<ClusterSnapshot, json::Issues> ReadSnapshot(std::string_view text);

struct SnapshotOptions {
  // Without them one list less is read for each rule, and nothing can be said about services.
  bool scaling_rules = true;
  // Whose reports are read. A snapshot says as much: those of the nodes count only if they are
  // there.
  schemas::FaultSource fault_source = schemas::FaultSource::kAuto;
  schemas::PublicFaults public_faults{};
  WatcherSettings watcher{};  // of the cluster, for the snapshot to have
  // Collections of which whole objects are kept, environment variables and all: see
  // ClusterSnapshot::workloads. Empty: none.
  std::vector<kube::Resource> workloads{};
  size_t max_bytes = kMaxSnapshot;
};

// Reads the cluster in pages and writes the text of a snapshot, one object a line. The fault is
// that of the first list that cannot be read; kTooLarge when the text would become larger than it
// may be. A cluster without PodGroups has no Volcano.
kube::Answer<std::string> TakeSnapshot(kube::Client& client, Time now,
                                       const SnapshotOptions& options, const std::stop_token& stop);

// Pods that manifests may add: a snapshot has room for many more, and no cluster for as many new
// ones at once.
inline constexpr int64_t kMaxPlannedPods = 10'000;

// An object as it would be stored, after admission.
struct ManifestObject {
  const json::Value* object = nullptr;
  std::string ns;
};

struct Applied {
  ClusterSnapshot snapshot;
  std::vector<std::string> problems;  // what could not be taken into account, for people
  size_t workloads = 0;               // objects that make pods
};

// The snapshot with the pods and PodGroups that the controllers of these objects would make, none
// of them placed yet, and with the scaling rules among them. An object that the cluster has already
// takes the place of its pods there. Objects of other kinds change nothing. `options` are those
// with which the objects were admitted.
Applied Apply(const ClusterSnapshot& snapshot, const std::vector<ManifestObject>& objects,
              const schemas::ViewOptions& options = {});

// Which members of an object a snapshot keeps: those that decisions about faults, placement and
// elastic scaling read. No environment variable, no volume and no Secret is among them.

struct Kept {
  json::Projection read;  // what is asked of the API server's answer
  // What is stored of an object that was read so: without members that say nothing.
  json::Json (*entry)(const json::Value& object);
};

Kept NodeEntries();
Kept PodEntries();
Kept PodGroupEntries();
Kept ReportEntries();                          // ConfigMaps in which MindCluster reports faults
Kept ScalingRuleEntries();                     // ConfigMaps with the key elastic_scaling.json
Kept FaultConfigEntries();                     // the ConfigMap with the cluster's own fault codes
Kept PluginNoteEntries(std::string_view key);  // a ConfigMap of MindCluster's plugin

// All of an object but managedFields, with its kind.
json::Json WholeEntry(const json::Value& object, const kube::Resource& resource);

// The same of a whole object: for objects that come from elsewhere.
json::Json EntryOf(const Kept& kept, const json::Json& object);

// Labels and annotations of pods and PodGroups that decide about faults (mind-cluster:
// component/ascend-for-volcano/plugin/job.go).
inline constexpr std::string_view kFaultLabels[] = {
    schemas::kFaultScheduling,     schemas::kPodRescheduling,    schemas::kFaultRetryTimes,
    schemas::kProcessRecover,      schemas::kSubHealthyStrategy, schemas::kApp,
    schemas::kOmeInferenceService, schemas::kFaultType,          schemas::kReplicaType};
inline constexpr std::string_view kFaultAnnotations[] = {
    schemas::kRecoverPolicyPath, schemas::kProcessRecoverStrategy,
    schemas::kAscendReal,        schemas::kRankIndex,
    schemas::kNeedVolcanoOpe,    schemas::kPodGroupAnnotation,
    schemas::kSchedulePolicy,    schemas::kRaBlock,
    schemas::kAffinityConfig,    schemas::kMinAvailable};

}  // namespace mindgate::what_if
