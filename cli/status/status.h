#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "cli/console/connection.h"
#include "cli/console/output.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "cli/status/status_print.h"
#include "kube/access.h"
#include "kube/client.h"

namespace mindgate::cli {

struct StatusOptions {
  kube::AccessFlags cluster = {};
  std::vector<std::string> names = {};  // jobIDs; empty: all services
  std::string label_selector = {};      // for pods: selects services with a matching pod
  bool all_namespaces = false;
  bool watch = false;
  bool faults = false;  // faulty nodes and chips of the cluster instead
  // Whose reports of faults are read; nothing: the watcher's.
  std::optional<schemas::FaultSource> fault_source = {};
  OutputFormat output = "table";
  ColorMode color = ColorMode::kAuto;
};

// The watcher's state. If there are several installations, that of the first.
doctor::WatcherState WatcherOf(kube::Client& client, Time now);

// Services in a namespace under scaling rules: that with a jobID, and those of the pods that match
// a selector; either may be empty. The error says why they cannot be read.
tl::expected<StatusReport, std::string> LookAtScaling(Connection& connection, const std::string& ns,
                                                      const std::string& job_id,
                                                      const std::string& pod_selector);

// Shows the services under scaling rules: what is running, what the rule wants, what is waiting and
// why, and whether a watcher enforces it. Returns kExitUnusable if the cluster cannot be reached,
// kExitNotFound if a named service was not found. With `watch`, runs until SIGTERM or SIGINT.
int RunStatus(const StatusOptions& options, Streams& io);

// "after 15 minutes", "after 1m30s".
std::string AfterText(std::chrono::seconds duration);

// Shows how the application that the one name of `options` means is; nothing when there is none.
// Returns kExitDone for a healthy application, else kExitDenied; kExitNotFound when it goes while
// it is watched. `pauses`: between two looks; null: real ones.
std::optional<int> RunAppStatus(const StatusOptions& options, Streams& io,
                                kube::Sleeper* pauses = nullptr);

}  // namespace mindgate::cli
