#pragma once

#include <string>
#include <vector>

#include "cli/console/output.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "kube/access.h"

namespace mindgate::cli {

struct AuditCommandOptions {
  kube::AccessFlags cluster = {};
  std::vector<std::string> kinds = {};  // as kubectl takes them; empty: all
  std::string selector = {};
  bool all_namespaces = false;
  std::string snapshot = {};               // a file, or "-"; empty: the live cluster
  std::string config_file = {};            // empty: that of the running watcher, else the defaults
  std::vector<std::string> policies = {};  // files and folders, beside those of the configuration
  bool strict = false;
  OutputFormat output = "table";
  ColorMode color = ColorMode::kAuto;
};

// Judges what a cluster runs as admission would, and shows what the death of a card or of a node
// does to each workload. Writes nothing. Returns kExitDenied if something would be denied,
// kExitUnusable if the arguments, the snapshot or the configuration are invalid, or the cluster
// cannot be reached.
int RunAudit(const AuditCommandOptions& options, Streams& io);

}  // namespace mindgate::cli
