#pragma once

#include <string>
#include <vector>

#include "cli/console/flags.h"
#include "cli/console/output.h"
#include "cli/console/terminal.h"
#include "kube/access.h"

namespace mindgate::cli {

// What release-gates and release-nodes share.
struct ReleaseOptions {
  kube::AccessFlags cluster = {};
  // The selected objects: exactly one of these three must be set.
  std::vector<std::string> names = {};
  std::string label_selector = {};
  bool all = false;
  DryRun dry_run = DryRun::kNone;
  bool yes = false;  // skip the confirmation
  OutputFormat output = "text";
};

struct ReleaseGatesOptions : ReleaseOptions {
  bool all_namespaces = false;
};

// Opens the scheduling gates of mindgate. Returns kExitDenied if some stay closed, a named pod has
// none or the user declines, and kExitUnusable if no pods are selected, confirmation is impossible
// or the cluster cannot be reached.
int RunReleaseGates(const ReleaseGatesOptions& options, Streams& io);

// Takes the taint mindgate.io/faulty:NoSchedule from nodes, and touches nothing else of them: each
// change holds for the resourceVersion that was read, and is retried for a newer one. Returns
// kExitDenied if some stay, a named node has none or the user declines, and kExitUnusable if no
// nodes are selected, confirmation is impossible or the cluster cannot be reached.
int RunReleaseNodes(const ReleaseOptions& options, Streams& io);

}  // namespace mindgate::cli
