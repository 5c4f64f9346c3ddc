#pragma once

#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/paint.h"
#include "cli/streams.h"
#include "kube/access.h"

namespace mindgate::cli {

struct StatusOptions {
  kube::AccessFlags cluster = {};
  std::vector<std::string> names = {};  // jobIDs; empty: all services
  std::string label_selector = {};      // of pods: services that one of them matches
  bool all_namespaces = false;
  bool watch = false;
  OutputFormat output = "table";
  ColorMode color = ColorMode::kAuto;
};

// The services under scaling rules: what runs, what the rule wants, who waits and why, and whether
// anybody acts on it. kExitUnusable when the cluster cannot be asked, kExitDenied when a name is
// not there. With `watch`, until SIGTERM or SIGINT.
int RunStatus(const StatusOptions& options, Streams& io);

}  // namespace mindgate::cli
