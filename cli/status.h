#pragma once

#include <string>

#include "cli/paint.h"
#include "cli/streams.h"
#include "kube/access.h"

namespace mindgate::cli {

struct StatusOptions {
  kube::AccessFlags cluster = {};
  bool all_namespaces = false;
  bool watch = false;
  std::string output = "table";  // or "json"
  ColorMode color = ColorMode::kAuto;
};

// The services under scaling rules: what runs, what the rule wants, who waits and why.
// kExitUnusable when the cluster cannot be asked. With `watch`, until SIGTERM or SIGINT.
int RunStatus(const StatusOptions& options, Streams& io);

}  // namespace mindgate::cli
