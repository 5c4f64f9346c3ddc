#pragma once

#include "cli/console/streams.h"
#include "cli/status/release.h"

namespace mindgate::cli {

struct ReleaseGatesOptions : ReleaseOptions {
  bool all_namespaces = false;
};

// Opens the scheduling gates of mindgate. Returns kExitDenied if some stay closed, a named pod has
// none or the user declines, and kExitUnusable if no pods are selected, confirmation is impossible
// or the cluster cannot be reached.
int RunReleaseGates(const ReleaseGatesOptions& options, Streams& io);

}  // namespace mindgate::cli
