#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/time.h"
#include "cli/console/output.h"
#include "cli/console/session.h"
#include "cli/console/terminal.h"
#include "doctor/installation.h"
#include "kube/access.h"
#include "kube/client.h"
#include "kube/fault.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/pod.h"
#include "what_if/snapshot.h"
#include "what_if/survey.h"
#include "why/facts.h"
#include "why/reasons.h"

namespace mindgate::cli {

// The output of `status`.

// One service, and the decision that the watcher would make now.
struct ServiceStatus {
  watcher::scaling::ServiceKey service;
  size_t shapes = 0;
  watcher::scaling::Decision decision;
};

struct StatusReport {
  doctor::WatcherState watcher;
  std::vector<ServiceStatus> services;
  Time now{};
};

void PrintStatusTable(const StatusReport& report, bool wide, const Paint& paint, std::ostream& out);

nlohmann::ordered_json StatusJson(const StatusReport& report);

// "3h12m", as in kubectl.
std::string AgeText(std::chrono::seconds age);

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

// The installation of the cluster: in a Pod of its watcher the Pod's own, else the first of
// several. Nothing: there is none.
std::optional<doctor::Installation> FindInstallation(kube::Client& client);

// The watcher's state, of that installation.
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

// A decision of the watcher, as its Event reports it.
struct WatcherEvent {
  std::string time;  // of the last occurrence, as written
  std::string ns;
  std::string about;   // "Job train"
  std::string reason;  // "JobRestarted"
  std::string note;
};

// So many are shown; Kubernetes itself keeps Events for an hour.
inline constexpr size_t kMaxWatcherEvents = 20;

// The newest Events of the watcher about faults, in all namespaces, the oldest first.
kube::Answer<std::vector<WatcherEvent>> ReadFaultEvents(kube::Client& client);

// `status --faults`: the faulty nodes and chips that MindCluster reports, and the pods that use
// them. Returns kExitUnusable if the cluster cannot be read.
int RunFaultStatus(const StatusOptions& options, Streams& io);

// What of the survey concerns these pods and nodes.
what_if::Survey Concerning(what_if::Survey survey, const std::string& ns,
                           const std::set<std::string>& pods, const std::set<std::string>& nodes);
// `source` is what was asked for, `grace_over_time` that of the watcher.
void PrintFaultTable(const what_if::Survey& survey, schemas::FaultSource source,
                     std::chrono::seconds grace_over_time, Time now, const Paint& paint,
                     std::ostream& out);
nlohmann::ordered_json FaultJson(const what_if::Survey& survey);

struct WhyOptions {
  kube::AccessFlags cluster = {};
  std::vector<std::string> object = {};  // "deployment/chat", "deployment", "chat", or a pod
  bool wait = false;                     // until it runs or has ended
  OutputFormat output = "text";
  ColorMode color = ColorMode::kAuto;
};

// Says why a workload, a pod or a PodGroup is as it is, and what to do. Returns kExitDone when it
// runs or has ended, else kExitDenied; kExitNotFound when there is no such object, kExitUnusable
// when the cluster or the arguments cannot be used. `pauses`: between two readings; null: real
// ones.
int RunWhy(const WhyOptions& options, Streams& io, kube::Sleeper* pauses = nullptr);

// One screen, and the same as JSON (cli/status/why.cc).
void PrintWhy(const why::Facts& facts, const why::Answer& answer, const Paint& paint, size_t width,
              std::ostream& out);
nlohmann::ordered_json WhyJson(const why::Facts& facts, const why::Answer& answer);

struct SnapshotCommandOptions {
  kube::AccessFlags cluster = {};
  std::string output = "-";   // a file, or - for standard output
  bool workloads = false;     // whole objects as well, for audits
  std::string config_file{};  // empty: that of the running watcher, else the defaults
};

// `mindgate snapshot`: writes what decisions need of the cluster to a file that only its owner can
// read. Returns kExitUnusable if the cluster cannot be read or the configuration is invalid,
// kExitDenied if the file cannot be written.
int RunSnapshot(const SnapshotCommandOptions& options, Streams& io);

// With what the watcher of the cluster does, and the public faults that it reads.
what_if::SnapshotOptions SnapshotOptionsOf(const doctor::WatcherState& watcher);

// The cluster as a snapshot. Nothing if it cannot be read; `io.err` says why.
std::optional<what_if::ClusterSnapshot> ReadCluster(kube::Client& client, Time now,
                                                    const what_if::SnapshotOptions& options,
                                                    Streams& io);

// The snapshot that a text holds. Nothing if it is not one; `io.err` says why, with its name.
std::optional<what_if::ClusterSnapshot> UnderstandSnapshot(const std::string& text,
                                                           const std::string& name, Streams& io);

// The snapshot in a file, or in standard input for "-". Nothing if it is not one; `io.err` says
// why.
std::optional<what_if::ClusterSnapshot> ReadSnapshotFile(const std::string& path, Streams& io);

}  // namespace mindgate::cli
