#include "cli/status/status.h"

#include <poll.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "admission/config_files.h"
#include "base/result.h"
#include "base/text.h"
#include "base/threads.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/session.h"
#include "kube/reflector.h"
#include "kube/subprocess.h"
#include "watcher/frame/informers.h"
#include "watcher/scaling/reconciler.h"
#include "watcher/scaling/service_feed.h"

namespace mindgate::cli {
namespace {

using watcher::scaling::ServiceFeed;
using watcher::scaling::ServiceKey;

// Long enough for a large cluster, short enough for a user.
constexpr std::chrono::seconds kMaxList(60);
// Changes within this time are printed together.
constexpr int kTogetherMs = 500;
// The watcher's state is read once every this many rounds, which is every ten seconds.
constexpr int kLooksPerWatcher = 20;

// The selected services.
struct Selection {
  std::set<std::string> names;                 // empty: all
  std::optional<std::set<ServiceKey>> keys{};  // nothing: all services

  bool Has(const ServiceKey& key) const {
    return (names.empty() || names.contains(key.job_id)) && (!keys || keys->contains(key));
  }
};

// Uses the watcher's code; the watcher may know of grants that no pod shows yet.
std::vector<ServiceStatus> ServicesOf(const watcher::scaling::ServiceIndex& index,
                                      const Selection& selection,
                                      const schemas::ElasticScaling& settings, Time now) {
  // Nothing is given up here: what the watcher would give up is shown as such.
  watcher::scaling::Options options = settings;
  if (options.rebalance == schemas::EnforcementMode::kEnforce) {
    options.rebalance = schemas::EnforcementMode::kObserve;
  }
  std::vector<ServiceStatus> services;
  for (const ServiceKey& key : index.services()) {
    if (!selection.Has(key)) continue;
    const auto view = index.Find(key);
    watcher::scaling::Service service{view.rule.rule, view.rule.why_not, {}};
    const auto* rule = service.rule ? &*service.rule : nullptr;
    for (const auto& observed :
         watcher::scaling::Observe(view.pods, rule, nullptr, view.pod_groups)) {
      service.instances.push_back(observed.instance);
    }
    services.push_back({key, service.rule ? service.rule->tiers.size() : 0,
                        watcher::scaling::Decide(service, options, now)});
  }
  return services;
}

// The services of pods that match a selector. All their pods count, matching or not.
kube::Answer<std::set<ServiceKey>> ServicesOf(kube::Client& client, const std::string& ns,
                                              const std::string& selector) {
  std::set<ServiceKey> keys;
  const json::Projection fields = kube::WithIdentity(watcher::scaling::PodFields());
  const auto listed =
      client.ListAll(kube::resources::kPods, ns, {.label_selector = selector}, &fields,
                     {.started = [&keys] { keys.clear(); },
                      .item =
                          [&keys](const json::Value& object) {
                            if (const auto pod = watcher::scaling::PodOf(object)) {
                              keys.insert(ServiceKeyOf(*pod));
                            }
                          }});
  if (!listed) return tl::make_unexpected(listed.error());
  return keys;
}

// Follows the services of a namespace while it lives.
class Following {
 public:
  Following(Connection& connection, const std::string& ns)
      : pods_(connection.client(), connection.sleeper(), clock_, PodOptions(ns)),
        feed_(connection.client(), connection.sleeper(), clock_, pods_, FeedOptions(ns)),
        follow_(StartThread("pods", [this] { pods_.Run(stop_.get_token()); })),
        thread_(StartThread("feed", [this] { feed_.Run(stop_.get_token()); })) {}
  ~Following() {
    stop_.request_stop();
    thread_.join();
    follow_.join();
  }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

  // What hinders; empty once everything is known. Does not wait for the time-out after a fault.
  std::string Await() const {
    constexpr std::chrono::milliseconds kLook(100);
    for (auto waited = std::chrono::milliseconds(0); !feed_.synced(); waited += kLook) {
      if (std::string fault = Fault(); !fault.empty()) return fault;
      if (waited >= kMaxList) return "the API server does not answer";
      feed_.WaitSynced(kLook, stop_.get_token());
    }
    return "";
  }

  const watcher::scaling::ServiceIndex& index() const { return feed_.index(); }
  uint64_t changes() const { return changes_; }

 private:
  watcher::PodInformer::Options PodOptions(const std::string& ns) {
    return {.ns = ns,
            .failed = [this](const kube::Fault& fault,
                             std::chrono::milliseconds) { Failed("pods", fault); },
            .seed = std::random_device()()};
  }

  ServiceFeed::Options FeedOptions(const std::string& ns) {
    ServiceFeed::Options feed;
    feed.ns = ns;
    feed.changed = [this](const ServiceKey&) { ++changes_; };
    feed.failed = [this](const kube::Fault& fault, std::chrono::milliseconds) {
      Failed("scaling rules", fault);
    };
    feed.seed = std::random_device()();
    return feed;
  }

  void Failed(const char* what, const kube::Fault& fault) {
    const MutexLock lock(mutex_);
    fault_ = std::string(what) + " cannot be read: " + fault.message;
  }

  std::string Fault() const {
    const MutexLock lock(mutex_);
    return fault_;
  }

  const SystemClock clock_{};
  std::atomic<uint64_t> changes_ = 0;
  mutable Mutex mutex_;
  std::string fault_ GUARDED_BY(mutex_);
  std::stop_source stop_;
  watcher::PodInformer pods_;
  ServiceFeed feed_;
  std::jthread follow_;
  std::jthread thread_;
};

// One run of the command.
class Status {
 public:
  Status(const StatusOptions& options, Streams& io) : options_(options), io_(io) {}

  int Run() {
    const FileDescriptor signals = CatchStopSignals();
    const auto connection = Connect(options_.cluster, clock_, ForPeople(), io_);
    if (connection == nullptr) return kExitUnusable;
    const std::string ns = options_.all_namespaces ? "" : connection->ns();
    Following following(*connection, ns);
    return Follow(*connection, ns, following, signals);
  }

 private:
  int Follow(Connection& connection, const std::string& ns, const Following& following,
             const FileDescriptor& signals) {
    if (const std::string fault = following.Await(); !fault.empty()) {
      PrintError(io_.err, fault);
      return kExitUnusable;
    }
    connection_ = &connection;
    ns_ = ns;
    Time now = clock_.WallNow();
    doctor::WatcherState watcher = WatcherOf(connection_->client(), now);
    uint64_t printed = following.changes();
    int code = Print(following.index(), watcher);
    for (int looks = 1; options_.watch && code != kExitUnusable; ++looks) {
      pollfd signal{.fd = signals.get(), .events = POLLIN, .revents = 0};
      if (::poll(&signal, 1, kTogetherMs) != 0) return kExitDone;
      bool changed = printed != following.changes();
      if (changed || looks % kLooksPerWatcher == 0) {
        doctor::WatcherState next = WatcherOf(connection_->client(), clock_.WallNow());
        changed = changed || WhoAndWhat(next) != WhoAndWhat(watcher);
        watcher = std::move(next);
      }
      if (!changed) continue;
      printed = following.changes();
      if (options_.output.Is("table") || options_.output.Is("wide")) io_.out << "\n";
      code = Print(following.index(), watcher);
    }
    return code;
  }

  static std::string WhoAndWhat(const doctor::WatcherState& watcher) {
    return std::to_string(watcher.mode ? static_cast<int>(*watcher.mode) : -1) + " " +
           (watcher.leader ? watcher.leader->identity : watcher.why_no_leader);
  }

  int Print(const watcher::scaling::ServiceIndex& index, const doctor::WatcherState& watcher) {
    Selection selection{{options_.names.begin(), options_.names.end()}};
    if (!options_.label_selector.empty()) {
      auto keys = ServicesOf(connection_->client(), ns_, options_.label_selector);
      if (!keys) {
        PrintError(io_.err, "pods cannot be read: " + keys.error().message);
        return kExitUnusable;
      }
      selection.keys = *std::move(keys);
    }
    const Time now = clock_.WallNow();
    const StatusReport report{
        watcher, ServicesOf(index, selection, watcher.config.elastic_scaling, now), now};
    const Paint paint(options_.color, io_.out_is_terminal);
    const int code = PrintOutput(
        options_.output,
        {.document = [&] { return StatusJson(report); },
         .names =
             [&] {
               std::vector<std::string> names;
               for (const ServiceStatus& one : report.services) names.push_back(one.service.job_id);
               return names;
             },
         .text = [&](std::ostream& out, bool wide) { PrintStatusTable(report, wide, paint, out); }},
        io_);
    io_.out.flush();
    return code == kExitDone ? Missing(report) : code;
  }

  // Reports names that are not services.
  int Missing(const StatusReport& report) {
    int code = kExitDone;
    for (const std::string& name : options_.names) {
      const bool found =
          std::any_of(report.services.begin(), report.services.end(),
                      [&](const ServiceStatus& one) { return one.service.job_id == name; });
      if (found) continue;
      PrintError(
          io_.err,
          "no pod in namespace " + ns_ + " is under a scaling rule with jobID " + Quote(name),
          "`mindgate status -A -o name` lists all services");
      code = kExitNotFound;
    }
    return code;
  }

  const StatusOptions& options_;
  Streams& io_;
  const SystemClock clock_{};
  Connection* connection_ = nullptr;
  std::string ns_;
};

}  // namespace

std::optional<doctor::Installation> FindInstallation(kube::Client& client) {
  return doctor::FindInstallation(client, kube::Environment(doctor::kInstallationVariable));
}

doctor::WatcherState WatcherOf(kube::Client& client, Time now) {
  const auto found = FindInstallation(client);
  // Whoever bypasses the webhook deletes its configurations, and the watcher goes on.
  doctor::WatcherState state = doctor::LookAtWatcher(
      client, found.value_or(doctor::Installation{.guessed = true}), admission::KnownNames(), now);
  if (found || state.leader) return state;
  doctor::WatcherState none;
  none.mode = schemas::EnforcementMode::kOff;
  none.why_no_mode = "there is no webhook configuration of mindgate: it is not installed";
  none.why_no_leader = "mindgate is not installed";
  return none;
}

tl::expected<StatusReport, std::string> LookAtScaling(Connection& connection, const std::string& ns,
                                                      const std::string& job_id,
                                                      const std::string& pod_selector) {
  StatusReport report;
  report.now = SystemClock().WallNow();
  Selection selection;
  if (job_id.empty()) {
    auto keys = ServicesOf(connection.client(), ns, pod_selector);
    if (!keys) return tl::unexpected("pods cannot be read: " + keys.error().message);
    if (keys->empty()) return report;
    selection.keys = *std::move(keys);
  } else {
    selection.names = {job_id};
  }
  const Following following(connection, ns);
  if (std::string fault = following.Await(); !fault.empty()) {
    return tl::unexpected(std::move(fault));
  }
  report.watcher = WatcherOf(connection.client(), report.now);
  report.services =
      ServicesOf(following.index(), selection, report.watcher.config.elastic_scaling, report.now);
  return report;
}

int RunStatus(const StatusOptions& options, Streams& io) {
  if (options.faults) {
    if (options.names.empty() && options.label_selector.empty() && !options.watch) {
      return RunFaultStatus(options, io);
    }
    PrintError(io.err, "--faults is about the nodes of the cluster, and is printed once",
               "leave out names, -l and -w");
    return kExitUnusable;
  }
  if (options.fault_source) {
    PrintError(io.err, "--fault-source says whose reports of faults are read", "add --faults");
    return kExitUnusable;
  }
  if (options.all_namespaces && !options.names.empty()) {
    PrintError(io.err,
               "names cannot be combined with -A: the same name may exist in several namespaces",
               "replace -A with -n NAMESPACE");
    return kExitUnusable;
  }
  if (options.names.size() == 1 && options.label_selector.empty()) {
    if (const auto code = RunAppStatus(options, io)) return *code;
  }
  return Status(options, io).Run();
}

void AddStatus(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* command = parent.add_subcommand(
      "status",
      "Show an application, or services under scaling rules: what is running, what is waiting and "
      "why");
  command
      ->add_option(
          "NAME", options->names,
          "An application of mindgate deploy, or services by jobID (default: all services)")
      ->type_name("");
  AddKubeFlags(*command, options->cluster, /*short_kubeconfig=*/true);
  AddSwitch(*command, "-A,--all-namespaces", options->all_namespaces,
            "Show services in all namespaces", "STATUS_ALL_NAMESPACES");
  AddFlag(*command, "-l,--selector", options->label_selector,
          "Label selector for pods, such as app=chat. Services with at least one matching pod are "
          "shown",
          "STATUS_SELECTOR", "SELECTOR");
  AddSwitch(*command, "--faults", options->faults,
            "Show faulty nodes and chips as MindCluster reports them, and the pods on them",
            "STATUS_FAULTS");
  auto source = std::make_shared<std::string>();
  SetChoices(*command
                  ->add_option("--fault-source", *source,
                               "With --faults: whose reports to read, as rescheduling.faultSource "
                               "of mindgate.yaml (default: as the watcher does, or auto)")
                  ->envname("MINDGATE_STATUS_FAULT_SOURCE"),
             {"auto", "clusterd", "nodes"});
  AddSwitch(*command, "-w,--watch", options->watch, "Watch for changes and print again",
            "STATUS_WATCH");
  AddOutputOption(*command, options->output, {"table", "wide", "name", "yaml", "json", "jsonpath"},
                  "STATUS_OUTPUT");
  AddColorOption(*command, options->color);
  command->footer(
      R"(A service is the set of pods in a namespace with the same scaling rule (label mind-cluster/scaling-rule) and
the same jobID. Shape 1 is the first and largest shape of the rule. "would be" means that no decision is
carried out: the watcher is not in mode enforce, or there is no leader. Decisions are recorded as Events:
  kubectl events --types=Normal,Warning | grep Instance
With the name of an application that mindgate deploy made, its components, pods, Services, services under scaling
rules, faults and newest Events are shown instead, and the exit code is 1 unless every pod is ready.
Exit codes: 0 success, 1 not every pod of the application is ready, 2 the cluster cannot be reached, 6 no application
and no service has the name.
Examples:
  mindgate status -n serving
  mindgate status chat -n serving -o wide
  mindgate status -A -w
  mindgate status --faults
  mindgate status -A -o json | jq '.services[] | select(.aim != null)'
  mindgate status chat -o jsonpath='{.services[*].groups[?(@.waiting>0)].group}{"\n"}')");
  command->callback([options, source, &io, &exit_code] {
    if (*source == "auto") options->fault_source = schemas::FaultSource::kAuto;
    if (*source == "clusterd") options->fault_source = schemas::FaultSource::kClusterD;
    if (*source == "nodes") options->fault_source = schemas::FaultSource::kNodes;
    exit_code = RunStatus(*options, io);
  });
}

}  // namespace mindgate::cli
