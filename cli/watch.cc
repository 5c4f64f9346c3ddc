#include "cli/watch.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <random>

#include "admission/known_names.h"
#include "base/directory_watch.h"
#include "base/files.h"
#include "base/snapshot.h"
#include "base/thread.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/evaluate.h"
#include "cli/flags.h"
#include "cli/kube_flags.h"
#include "cli/version.h"
#include "http/probe_port.h"
#include "kube/events.h"
#include "schemas/config_reload.h"
#include "watcher/certificate_loop.h"
#include "watcher/gang_repair/controller.h"
#include "watcher/metrics.h"
#include "watcher/probes.h"
#include "watcher/scaling/controller.h"

namespace mindgate::cli {
namespace {

using schemas::Config;
using watcher::scaling::ScalingController;

constexpr const char* kController = "mindgate.io/watcher";

// What a write may take at most ends well before another replica can lead: that waits for the 20 s
// between renew_deadline and lease of kube::Elector. A refused write is decided anew.
constexpr kube::ClientOptions kWriting{.retries = 0, .timeout = std::chrono::seconds(10)};

// Keeps `target` in sync with mindgate.yaml; without a file, the defaults. Null until the first
// successful load.
class ConfigFollower {
 public:
  ConfigFollower(const std::string& file, const Clock& clock, log::Logger& logger,
                 Snapshot<Config>& target, std::function<void()> changed) {
    if (file.empty()) {
      target.Set(std::make_shared<const Config>());
      return;
    }
    reloader_ = schemas::MakeConfigReloader(
        file, admission::KnownNames(), clock, target,
        [&logger, changed = std::move(changed)](const ReloadStatus& status) {
          if (status.error.empty()) {
            logger.Info(status.swaps > 1 ? "reloaded" : "loaded", {{"what", "configuration"}});
          } else if (status.swaps == 0) {
            logger.Error(
                "no valid configuration has been loaded: the watcher does nothing until there is "
                "one; the file is read again when it changes",
                {{"error", status.error}});
          } else {
            logger.Error("configuration rejected, the last valid one stays in use",
                         {{"error", status.error}});
          }
          changed();
        });
    DirectoryWatch::Options watch;
    watch.folders = {FolderOf(file)};
    thread_ = std::make_unique<DirectoryWatchThread>(std::move(watch), clock,
                                                     [this] { reloader_->Reload(); });
    reloader_->Reload();
  }

 private:
  std::unique_ptr<schemas::ConfigReloader> reloader_;
  std::unique_ptr<DirectoryWatchThread>
      thread_;  // last member: stops before the reloader is destroyed
};

// Off until the first successful load.
schemas::ElasticScaling ScalingOf(const Snapshot<Config>& config) {
  if (const auto now = config.Get()) return now->elastic_scaling;
  schemas::ElasticScaling none;
  none.mode = schemas::EnforcementMode::kOff;
  return none;
}

bool Scales(const Snapshot<Config>& config) {
  return ScalingOf(config).mode != schemas::EnforcementMode::kOff;
}

bool RepairsGangs(const Snapshot<Config>& config) {
  const auto now = config.Get();
  return now != nullptr && now->gang_repair;
}

}  // namespace

int RunWatch(const WatchOptions& options, Streams& io) {
  const FileDescriptor signals = CatchStopSignals();
  const SystemClock clock;
  log::Logger logger(FormatOf(options.log), LevelOf(options.log), clock);
  auto access = kube::FindAccess(options.cluster, clock);
  if (!access) {
    PrintError(io.err, access.error().message);
    return kExitUnusable;
  }
  std::random_device random;
  Leadership leadership(*access, options.leadership, clock, logger);
  Connection connection(*access, {}, LogWarnings(logger));
  const std::string& ns = connection.ns();
  kube::Client& client = connection.client();
  kube::Sleeper& sleeper = connection.sleeper();
  kube::Recorder::Options events;
  events.controller = kController;
  events.instance = leadership.identity();
  events.failed = [&logger](const kube::Fault& fault) {
    logger.Warning("cannot write an Event", {{"fault", fault.message}});
  };
  kube::Recorder recorder(client, sleeper, clock, events, random());

  watcher::Metrics metrics;
  Snapshot<Config> config;
  ScalingController::Options of_scaling;
  of_scaling.ns = options.watched_namespace;
  of_scaling.without_rules = options.without_rules;
  of_scaling.settings = [&config] { return ScalingOf(config); };
  of_scaling.leading_since = [&leadership] { return leadership.since(); };
  of_scaling.observe_latency = [&metrics](std::chrono::nanoseconds latency) {
    metrics.ObserveScalingLatency(latency);
  };
  of_scaling.seed = random();
  Connection writing(*access, kWriting, LogWarnings(logger));
  ScalingController scaling(client, writing.client(), sleeper, clock, logger, recorder, of_scaling);
  const ConfigFollower follower(options.config_file, clock, logger, config,
                                [&scaling] { scaling.EnqueueAll(); });

  watcher::gang_repair::ControllerOptions of_gangs;
  of_gangs.leading = [&] { return RepairsGangs(config) && leadership.leading(); };
  of_gangs.seed = random();
  watcher::gang_repair::Controller gangs(client, sleeper, clock, logger, recorder, of_gangs);

  metrics.SetSources({&scaling, &gangs, [&leadership] { return leadership.leading(); }, Version()});

  watcher::CertificateManager manager(client, clock, logger, ManagerOptionsOf(options.certs, ns));
  watcher::CertificateLoop certificates(manager, sleeper, logger);

  http::ProbePort::Options probes;
  probes.listen = options.probe_listen;
  probes.clock = &clock;
  probes.on_bug = [&logger](std::string_view what) {
    logger.Error("internal error in a probe", {{"what", what}});
  };
  const auto port = http::ProbePort::Open(
      probes, watcher::ProbeRoutes({.leading = [&] { return leadership.leading(); },
                                    .config = &config,
                                    .scaling = &scaling,
                                    .certificates = options.manage_certs ? &certificates : nullptr,
                                    .metrics = &metrics}));
  if (!port) {
    PrintError(io.err, port.error().message());
    return kExitUnusable;
  }
  (*port)->Serve();

  std::stop_source stop;
  {
    std::vector<std::jthread> work;
    if (options.manage_certs) {
      work.push_back(StartThread("certificates", [&] {
        certificates.Run([&] { return leadership.leading(); }, stop.get_token());
      }));
    }
    // Features that are off need no permissions.
    const auto start_when = [&](const char* name, auto wanted, auto run) {
      work.push_back(StartThread(name, [&, wanted, run] {
        while (!wanted(config)) {
          if (!sleeper.Sleep(std::chrono::seconds(1), stop.get_token())) return;
        }
        run(stop.get_token());
      }));
    };
    start_when("scaling", Scales, [&](const std::stop_token& token) { scaling.Run(token); });
    start_when("gang-repair", RepairsGangs,
               [&](const std::stop_token& token) { gangs.Run(token); });
    leadership.Start([&](bool) { scaling.EnqueueAll(); });
    logger.Info("watching", {{"namespace", options.watched_namespace.empty()
                                               ? std::string_view("all")
                                               : std::string_view(options.watched_namespace)},
                             {"probe_port", static_cast<int64_t>((*port)->port())}});
    AwaitStopSignal(signals.get());
    stop.request_stop();
  }  // Finish the work before the Lease is released.
  logger.Info("stopped");
  return kExitDone;
}

void AddWatch(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<WatchOptions>();
  CLI::App* command = parent.add_subcommand(
      "watch", "Run the watcher: elastic scaling, gang repair and certificates");
  AddKubeFlags(*command, options->cluster);
  AddFlag(*command, "--config", options->config_file,
          "Path to the configuration file; reloaded when it changes", "CONFIG", "FILE");
  AddFlag(*command, "--watch-namespace", options->watched_namespace,
          "Namespace of the services to watch (default: all namespaces)", "WATCH_NAMESPACE",
          "NAME");
  AddFlag(*command, "--without-rules", options->without_rules,
          "Namespace to ignore when looking for scaling rules; may be repeated", "WITHOUT_RULES",
          "NAME")
      ->delimiter(',');
  AddLeadershipFlags(*command, options->leadership);
  AddSwitch(*command, "--manage-certs", options->manage_certs,
            "Also manage the webhook's Secret and caBundle, like `mindgate certs manage`",
            "MANAGE_CERTS");
  AddManagerFlags(*command, options->certs);
  AddFlag(*command, "--probe-listen", options->probe_listen,
          "Address to serve /livez, /readyz, /metrics and /decisions on, without TLS",
          "PROBE_LISTEN", "ADDRESS");
  AddLogFlags(*command, options->log);
  command->footer(
      R"(mindgate.yaml configures what the watcher does: elasticScaling (off, observe, enforce) and gangRepair. With
several replicas, only the leader acts. Decisions and their reasons are in Events, the log and /decisions.
Exit codes: 0 stopped by a signal, 2 cannot start.
Examples:
  mindgate watch --config mindgate.yaml
  mindgate watch -n mindgate-system --config /etc/mindgate/config/mindgate.yaml --leader-elect)");
  command->callback([options, &io, &exit_code] { exit_code = RunWatch(*options, io); });
}

}  // namespace mindgate::cli
