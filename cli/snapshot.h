#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "cli/streams.h"
#include "kube/access.h"
#include "kube/client.h"
#include "watcher/snapshot/snapshot.h"

namespace mindgate::cli {

struct SnapshotCommandOptions {
  kube::AccessFlags cluster = {};
  std::string output = "-";  // a file, or - for standard output
};

// `mindgate snapshot`: writes what decisions need of the cluster to a file that only its owner can
// read. Returns kExitUnusable if the cluster cannot be read, kExitDenied if the file cannot be
// written.
int RunSnapshot(const SnapshotCommandOptions& options, Streams& io);

// The cluster as a snapshot. Nothing if it cannot be read; `io.err` says why.
std::optional<watcher::ClusterSnapshot> ReadCluster(kube::Client& client, Time now,
                                                    const watcher::SnapshotOptions& options,
                                                    Streams& io);

// The snapshot in a file, or in standard input for "-". Nothing if it is not one; `io.err` says
// why.
std::optional<watcher::ClusterSnapshot> ReadSnapshotFile(const std::string& path, Streams& io);

}  // namespace mindgate::cli
