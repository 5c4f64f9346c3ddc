#pragma once

#include "cli/status.h"

namespace mindgate::cli {

// `status --faults`: the faulty nodes and chips that MindCluster reports, and the pods that use
// them. Returns kExitUnusable if the cluster cannot be read.
int RunFaultStatus(const StatusOptions& options, Streams& io);

}  // namespace mindgate::cli
