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
  // Which pods: one of the three must say.
  std::vector<std::string> names = {};
  std::string label_selector = {};
  bool all = false;
  bool all_namespaces = false;
  DryRun dry_run = DryRun::kNone;
  bool yes = false;             // nobody is asked
  bool in_is_terminal = false;  // somebody can be
  OutputFormat output = "text";
};

// Opens the scheduling gates of mindgate in front of pods. kExitDenied when some stay or a name has
// none, or who was asked said no; kExitUnusable when nothing says which, nobody can be asked, or
// the cluster cannot.
int RunReleaseGates(const ReleaseGatesOptions& options, Streams& io);

}  // namespace mindgate::cli
