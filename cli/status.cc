#include "cli/status.h"

#include <poll.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "admission/known_names.h"
#include "base/text.h"
#include "base/thread.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/evaluate.h"
#include "cli/flags.h"
#include "cli/kube_flags.h"
#include "cli/service.h"
#include "cli/status_print.h"
#include "kube/reflector.h"
#include "watcher/scaling/service_feed.h"

namespace mindgate::cli {
namespace {

using watcher::scaling::ServiceFeed;
using watcher::scaling::ServiceKey;

// Long enough for a big cluster, short enough for a person.
constexpr std::chrono::seconds kMaxList(60);
// Changes that come together are printed together.
constexpr int kTogetherMs = 500;
// Looks for changes between two looks at the watcher: it is asked about once in ten seconds.
constexpr int kLooksPerWatcher = 20;

// Which services are meant.
struct Selection {
  std::set<std::string> names;                 // empty: all
  std::optional<std::set<ServiceKey>> keys{};  // nothing: all

  bool Has(const ServiceKey& key) const {
    return (names.empty() || names.contains(key.job_id)) && (!keys || keys->contains(key));
  }
};

// As the watcher sees them, by the same code; it may know of grants that no pod shows yet.
std::vector<Standing> StandingsOf(const watcher::scaling::ServiceIndex& index,
                                  const Selection& selection, Time now) {
  std::vector<Standing> standings;
  for (const ServiceKey& key : index.services()) {
    if (!selection.Has(key)) continue;
    const auto view = index.Look(key);
    watcher::scaling::Service service{view.rule.rule, view.rule.why_not, {}};
    for (const auto& observed : watcher::scaling::Observe(view.pods)) {
      service.instances.push_back(observed.instance);
    }
    standings.push_back({key, service.rule ? service.rule->tiers.size() : 0,
                         watcher::scaling::Decide(service, {}, now)});
  }
  return standings;
}

// The services of pods that match a selector. All of their pods count, matching or not.
kube::Answer<std::set<ServiceKey>> ServicesOf(kube::Client& client, const std::string& ns,
                                              const std::string& selector) {
  std::set<ServiceKey> keys;
  const json::Projection fields = kube::WithIdentity(watcher::scaling::PodFields());
  const auto listed = client.ListAll(
      kube::resources::kPods, ns, {.label_selector = selector, .limit = 500}, &fields,
      [&keys] { keys.clear(); },
      [&keys](const json::Json& object) {
        if (const auto pod = watcher::scaling::PodOf(object)) keys.insert(pod->service);
      });
  if (!listed) return tl::make_unexpected(listed.error());
  return keys;
}

// What the watcher of this cluster is about. Several installations: the first.
doctor::WatcherState Watcher(kube::Client& client, Time now) {
  const auto found = doctor::FindInstallations(client, doctor::kInstalledSelector, "");
  // Who may not list them may read what is at the usual place.
  if (!found || !found->empty()) {
    return doctor::LookAtWatcher(client, found ? found->front() : doctor::Installation(),
                                 admission::KnownNames(), now);
  }
  doctor::WatcherState none;
  none.mode = schemas::EnforcementMode::kOff;
  none.why_no_mode = "no webhook configuration has the label " +
                     std::string(doctor::kInstalledSelector) + ": mindgate is not installed";
  none.why_no_leader = "mindgate is not installed";
  return none;
}

// One run of the command.
class Status {
 public:
  Status(const StatusOptions& options, Streams& io) : options_(options), io_(io) {}

  int Run() {
    const FileDescriptor signals = CatchStopSignals();
    const auto connection = Connect(options_.cluster, clock_, ForPeople(), io_);
    if (connection == nullptr) return kExitUnusable;
    connection_ = connection.get();
    ns_ = options_.all_namespaces ? "" : connection->ns();
    std::stop_source stop;
    ServiceFeed feed(connection->client(), connection->sleeper(), clock_, FeedOptions());
    std::jthread thread = StartThread("feed", [&] { feed.Run(stop.get_token()); });
    const int code = Follow(feed, signals, stop.get_token());
    stop.request_stop();
    thread.join();
    return code;
  }

 private:
  ServiceFeed::Options FeedOptions() {
    ServiceFeed::Options feed;
    feed.ns = ns_;
    feed.changed = [this](const ServiceKey&) { ++changes_; };
    feed.failed = [this](const char* what, const kube::Fault& fault, std::chrono::milliseconds) {
      const std::lock_guard lock(mutex_);
      fault_ = std::string(what) + " cannot be read: " + fault.message;
    };
    feed.seed = std::random_device()();
    return feed;
  }

  // A fault is said at once and not after the longest wait: a person can do something about it.
  bool Await(const ServiceFeed& feed, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kLook(100);
    for (auto waited = std::chrono::milliseconds(0); !feed.synced(); waited += kLook) {
      const std::string fault = Fault();
      if (!fault.empty() || waited >= kMaxList) {
        PrintError(io_.err, fault.empty() ? "the API server does not answer" : fault);
        return false;
      }
      feed.WaitSynced(kLook, stop);
    }
    return true;
  }

  std::string Fault() {
    const std::lock_guard lock(mutex_);
    return fault_;
  }

  int Follow(const ServiceFeed& feed, const FileDescriptor& signals, const std::stop_token& stop) {
    if (!Await(feed, stop)) return kExitUnusable;
    Time now = clock_.WallNow();
    doctor::WatcherState watcher = Watcher(connection_->client(), now);
    uint64_t printed = changes_;
    int code = Print(feed, watcher);
    for (int looks = 1; options_.watch && code != kExitUnusable; ++looks) {
      pollfd signal{.fd = signals.get(), .events = POLLIN, .revents = 0};
      if (::poll(&signal, 1, kTogetherMs) != 0) return kExitDone;
      bool changed = printed != changes_;
      if (changed || looks % kLooksPerWatcher == 0) {
        doctor::WatcherState next = Watcher(connection_->client(), clock_.WallNow());
        changed = changed || WhoAndWhat(next) != WhoAndWhat(watcher);
        watcher = std::move(next);
      }
      if (!changed) continue;
      printed = changes_;
      if (options_.output.Is("table") || options_.output.Is("wide")) io_.out << "\n";
      code = Print(feed, watcher);
    }
    return code;
  }

  static std::string WhoAndWhat(const doctor::WatcherState& watcher) {
    return std::to_string(watcher.mode ? static_cast<int>(*watcher.mode) : -1) + " " +
           (watcher.leader ? watcher.leader->identity : watcher.why_no_leader);
  }

  int Print(const ServiceFeed& feed, const doctor::WatcherState& watcher) {
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
    const StatusReport report{watcher, StandingsOf(feed.index(), selection, now), now};
    const Paint paint(options_.color, io_.out_is_terminal);
    const int code = PrintOutput(
        options_.output,
        {.document = [&] { return StatusJson(report); },
         .names =
             [&] {
               std::vector<std::string> names;
               for (const Standing& one : report.standings) names.push_back(one.service.job_id);
               return names;
             },
         .text = [&](std::ostream& out, bool wide) { PrintStatusTable(report, wide, paint, out); }},
        io_);
    io_.out.flush();
    return code == kExitDone ? Missing(report) : code;
  }

  // Says which of the names are no services.
  int Missing(const StatusReport& report) {
    int code = kExitDone;
    for (const std::string& name : options_.names) {
      const bool found =
          std::any_of(report.standings.begin(), report.standings.end(),
                      [&](const Standing& one) { return one.service.job_id == name; });
      if (found) continue;
      PrintError(
          io_.err,
          "no pod in namespace " + ns_ + " is under a scaling rule with jobID " + Quote(name),
          "`mindgate status -A -o name` lists all services");
      code = kExitDenied;
    }
    return code;
  }

  const StatusOptions& options_;
  Streams& io_;
  const SystemClock clock_{};
  Connection* connection_ = nullptr;
  std::string ns_;
  std::atomic<uint64_t> changes_ = 0;
  std::mutex mutex_;
  std::string fault_;  // guarded by mutex_
};

}  // namespace

int RunStatus(const StatusOptions& options, Streams& io) {
  if (options.all_namespaces && !options.names.empty()) {
    PrintError(io.err, "names and -A do not go together: the same name may be in many namespaces",
               "leave out -A and name the namespace: -n NAMESPACE");
    return kExitUnusable;
  }
  return Status(options, io).Run();
}

void AddStatus(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* command = parent.add_subcommand(
      "status", "Show the services under scaling rules: what runs, what waits and why");
  command->add_option("NAME", options->names, "Services, by jobID (default: all)")->type_name("");
  AddKubeFlags(*command, options->cluster);
  AddSwitch(*command, "-A,--all-namespaces", options->all_namespaces, "Services of all namespaces",
            "STATUS_ALL_NAMESPACES");
  AddFlag(*command, "-l,--selector", options->label_selector,
          "Services with a pod that matches this label selector, as in app=chat", "STATUS_SELECTOR",
          "SELECTOR");
  AddSwitch(*command, "-w,--watch", options->watch, "Print again whenever something changes",
            "STATUS_WATCH");
  AddOutputOption(*command, options->output, {"table", "wide", "name", "yaml", "json", "jsonpath"},
                  "STATUS_OUTPUT");
  AddColorOption(*command, options->color);
  command->footer(
      R"(A service is what has one scaling rule (label mind-cluster/scaling-rule) and one jobID in a namespace.
Shape 1 is the rule's first, the fullest. "would be" says that nobody acts: the watcher is not in mode enforce, or
none leads. The decisions themselves are Events:
  kubectl events --types=Normal,Warning | grep Instance
Exit codes: 0 printed, 1 a name is not there, 2 the cluster cannot be asked.
Examples:
  mindgate status -n serving
  mindgate status chat -n serving -o wide
  mindgate status -A -w
  mindgate status -A -o json | jq '.services[] | select(.aim != null)'
  mindgate status chat -o jsonpath='{.services[*].groups[?(@.waiting>0)].group}{"\n"}')");
  command->callback([options, &io, &exit_code] { exit_code = RunStatus(*options, io); });
}

}  // namespace mindgate::cli
