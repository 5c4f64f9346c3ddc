#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/console/flags.h"
#include "cli/console/output.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "deploy/application.h"
#include "deploy/plan.h"
#include "kube/access.h"
#include "kube/client.h"

namespace mindgate::cli {

struct DeployOptions {
  kube::AccessFlags cluster = {};
  std::string file = {};  // "-": standard input
  // Instead of a file: the application whose revision is deployed again, and which one; 0: the one
  // before the present.
  std::string rollback = {};
  int64_t revision = 0;
  std::string config_file = {};  // mindgate.yaml; empty: the defaults
  // The name of an application of which a file is written; then `file` has its objects, empty: the
  // cluster has them.
  std::string import = {};
  std::optional<deploy::Framework> init = {};
  bool scripts = false;  // with init: the start scripts instead
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

// What of an application finds no room on the cluster as it is now: with the pods that run there,
// gangs, taints, node selectors and super pods, as `mindgate what-if --manifest` places it. Notes,
// since others may leave; its own pods of before do. `objects`: those of the application, and the
// runtime that they name. A cluster that may not be read is a note as well. Writes nothing.
std::vector<Problem> LackOfRoom(kube::Client& client, Time now,
                                const deploy::Application& application,
                                const std::vector<json::Json>& objects,
                                const std::stop_token& stop);

// `deploy --import APP`: prints the configuration of an application that mindcluster-deploy's tool
// deployed, and on `io.err` what deploying it would change, field by field. Reads the cluster, or
// the objects in `options.file`; writes nothing. With -o json, both are one document.
int RunDeployImport(const DeployOptions& options, Streams& io);

}  // namespace mindgate::cli
