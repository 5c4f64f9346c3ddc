#pragma once

#include "cli/console/streams.h"
#include "cli/status/release.h"

namespace mindgate::cli {

// Takes the taint mindgate.io/faulty:NoSchedule from nodes, and touches nothing else of them: each
// change holds for the resourceVersion that was read, and is made again for a newer one. Returns
// kExitDenied if some stay, a named node has none or the user declines, and kExitUnusable if no
// nodes are selected, confirmation is impossible or the cluster cannot be reached.
int RunReleaseNodes(const ReleaseOptions& options, Streams& io);

}  // namespace mindgate::cli
