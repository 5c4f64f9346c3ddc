#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "cli/console/streams.h"
#include "doctor/installation.h"
#include "kube/access.h"
#include "kube/client.h"
#include "what_if/snapshot.h"

namespace mindgate::cli {

struct SnapshotCommandOptions {
  kube::AccessFlags cluster = {};
  std::string output = "-";   // a file, or - for standard output
  bool workloads = false;     // whole objects as well, for audits
  std::string config_file{};  // empty: that of the running watcher, else the defaults
};

// `mindgate snapshot`: writes what decisions need of the cluster to a file that only its owner can
// read. Returns kExitUnusable if the cluster cannot be read or the configuration is invalid,
// kExitDenied if the file cannot be written.
int RunSnapshot(const SnapshotCommandOptions& options, Streams& io);

// With what the watcher of the cluster does, and the public faults that it reads.
what_if::SnapshotOptions SnapshotOptionsOf(const doctor::WatcherState& watcher);

// The cluster as a snapshot. Nothing if it cannot be read; `io.err` says why.
std::optional<what_if::ClusterSnapshot> ReadCluster(kube::Client& client, Time now,
                                                    const what_if::SnapshotOptions& options,
                                                    Streams& io);

// The snapshot that a text holds. Nothing if it is not one; `io.err` says why, with its name.
std::optional<what_if::ClusterSnapshot> UnderstandSnapshot(const std::string& text,
                                                           const std::string& name, Streams& io);

// The snapshot in a file, or in standard input for "-". Nothing if it is not one; `io.err` says
// why.
std::optional<what_if::ClusterSnapshot> ReadSnapshotFile(const std::string& path, Streams& io);

}  // namespace mindgate::cli
