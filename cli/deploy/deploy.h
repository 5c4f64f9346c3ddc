#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/console/flags.h"
#include "cli/console/output.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "deploy/application.h"
#include "kube/access.h"

namespace mindgate::cli {

struct DeployOptions {
  kube::AccessFlags cluster = {};
  std::string file = {};  // "-": standard input
  // Instead of a file: the application whose revision is deployed again, and which one; 0: the one
  // before the present.
  std::string rollback = {};
  int64_t revision = 0;
  std::string config_file = {};  // mindgate.yaml; empty: the defaults
  std::optional<deploy::Framework> init = {};
  std::optional<deploy::Framework> schema = {};
  bool function = false;  // KRM function
  DryRun dry_run = DryRun::kNone;
  bool diff = false;
  bool wait = false;
  bool atomic = false;
  bool prune = true;
  bool no_prune = false;
  bool force = false;
  bool replace = false;
  std::chrono::seconds timeout{600};
  std::chrono::seconds wait_for_lock{0};
  OutputFormat output = "text";  // or "json"
  ColorMode color = ColorMode::kAuto;
};

// Deploys an application, or shows what that would do. Objects, differences and steps on `io.out`,
// all else on `io.err`. Runs until it is done, or until SIGTERM or SIGINT.
int RunDeploy(const DeployOptions& options, Streams& io);

}  // namespace mindgate::cli
