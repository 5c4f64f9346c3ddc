#pragma once

#include <cstddef>
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
#include "schemas/config.h"
#include "what_if/actors.h"

namespace mindgate::what_if {

// What decisions need of a cluster at one moment: objects as the API server gave them, with the
// members that what_if/snapshot_fields.h names. A snapshot of a live cluster is read from the same
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
  // What MindCluster's plugin noted of its restarts (watcher/rescheduling/plugin_records.h), where
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

}  // namespace mindgate::what_if
