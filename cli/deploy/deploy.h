#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/time.h"
#include "cli/console/flags.h"
#include "cli/console/output.h"
#include "cli/console/terminal.h"
#include "deploy/application.h"
#include "deploy/apply.h"
#include "deploy/plan.h"
#include "kube/access.h"
#include "kube/client.h"

namespace CLI {
class App;
}

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

// What `deploy` and `delete` share.

// Stops what it is asked to when SIGTERM or SIGINT comes, while it lives.
class StopOnSignal {
 public:
  StopOnSignal();

  std::stop_token token() const { return stop_.get_token(); }

 private:
  FileDescriptor signals_;
  std::stop_source stop_;
  std::jthread watch_;
};

// Prints steps line by line, and what is being waited for: on a terminal in a line that changes,
// else in a line for each change. With `quiet`, nothing.
class ProgressPrinter {
 public:
  ProgressPrinter(Streams& io, bool quiet) : io_(io), quiet_(quiet) {}
  ~ProgressPrinter() { EndLine(); }
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  // Refers to this.
  deploy::Progress progress();

 private:
  void Step(const std::string& line);
  void Waiting(const deploy::Health& health);
  void EndLine();

  Streams& io_;
  const bool quiet_;
  std::string shown_;  // the line that changes
  bool open_ = false;  // it has no end yet
};

// Prints why a call failed: kExitBlocked where a right is missing, else kExitUnusable.
int PrintKubeFault(const kube::Fault& fault, Streams& io);

// Who runs the command, for others who wait for its end: "alice@build-7/4711", a user, a machine
// and a process.
std::string HolderName();

// Takes the hold on an application, waiting at most `limit` for whoever has it. The exit code when
// the command must end, after the reason was printed; nothing: it goes on. What a command decides
// by is read after this, since another run may have changed it until then.
std::optional<int> TakeHold(deploy::Hold& hold, const std::string& app, const std::string& ns,
                            std::chrono::seconds limit, Streams& io, const std::stop_token& stop);

// What a failure leaves: "2 of 6 objects are written, not yet: Service chat-router, ...". Empty:
// there is nothing to say.
std::string LeftText(const deploy::ApplyResult& result, const std::string& word);

// --wait-for-lock with the variable MINDGATE_`variable`.
void AddWaitForLock(CLI::App& command, std::chrono::seconds& limit, const std::string& variable);

// kExitDone, kExitDenied or kExitTimedOut.
int ExitCodeOf(deploy::Outcome outcome);

// --timeout with the variable MINDGATE_`variable`: "90s", "10m".
void AddTimeout(CLI::App& command, std::chrono::seconds& timeout, const std::string& description,
                const std::string& variable);

struct DeployHistoryOptions {
  kube::AccessFlags cluster = {};
  std::string name = {};
  int64_t revision = 0;  // 0: all of them
  OutputFormat output = "table";
  ColorMode color = ColorMode::kAuto;
};

// Lists the revisions of an application, or prints the file of one.
int RunDeployHistory(const DeployHistoryOptions& options, Streams& io);

// `history` below `deploy`.
void AddDeployHistory(CLI::App& parent, Streams& io, int& exit_code);

struct DeleteOptions {
  kube::AccessFlags cluster = {};
  std::string name = {};
  bool keep_store = false;
  bool no_wait = false;
  bool yes = false;
  DryRun dry_run = DryRun::kNone;
  std::chrono::seconds timeout{300};
  std::chrono::seconds wait_for_lock{0};
};

// Deletes an application and waits until it is gone. An application that does not exist is deleted
// already.
int RunDelete(const DeleteOptions& options, Streams& io);

}  // namespace mindgate::cli
