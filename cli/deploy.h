#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/flags.h"
#include "cli/output.h"
#include "cli/paint.h"
#include "cli/streams.h"
#include "deploy/application.h"
#include "kube/access.h"

namespace mindgate::cli {

// Exit codes of `deploy`, `delete` and `status APP`, besides those of every command.
inline constexpr int kExitInvalidConfig = 3;  // the configuration is faulty
inline constexpr int kExitBlocked = 4;        // denied by a rule, or not possible on this cluster
inline constexpr int kExitTimedOut = 5;
inline constexpr int kExitNotFound = 6;

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
