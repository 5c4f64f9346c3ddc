#pragma once

#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/output.h"
#include "cli/streams.h"
#include "kube/access.h"

namespace mindgate::cli {

struct ReleaseGatesOptions {
  kube::AccessFlags cluster = {};
  // The selected pods: exactly one of these three must be set.
  std::vector<std::string> names = {};
  std::string label_selector = {};
  bool all = false;
  bool all_namespaces = false;
  DryRun dry_run = DryRun::kNone;
  bool yes = false;             // skip the confirmation
  bool in_is_terminal = false;  // confirmation is possible
  OutputFormat output = "text";
};

// Opens the scheduling gates of mindgate. Returns kExitDenied if some stay closed, a named pod has
// none or the user declines, and kExitUnusable if no pods are selected, confirmation is impossible
// or the cluster cannot be reached.
int RunReleaseGates(const ReleaseGatesOptions& options, Streams& io);

}  // namespace mindgate::cli
