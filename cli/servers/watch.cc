#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <random>

#include "admission/config_files.h"
#include "audit/controller.h"
#include "base/files.h"
#include "base/result.h"
#include "base/snapshot.h"
#include "base/threads.h"
#include "base/version.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/session.h"
#include "cli/servers/policy_follower.h"
#include "cli/servers/servers.h"
#include "http/front_end.h"
#include "watcher/frame/leader_client.h"
#include "watcher/watcher.h"

namespace mindgate::cli {
namespace {

using schemas::Config;

// Keeps `target` in sync with mindgate.yaml; without a file, the defaults. Null until the first
// successful load.
class ConfigFollower {
 public:
  ConfigFollower(const WatchOptions& options, const Clock& clock, log::Logger& logger,
                 Snapshot<Config>& target, std::function<void()> changed)
      : policies_(options.cluster, clock, logger) {
    const std::string& file = options.config_file;
    if (file.empty()) {
      target.Set(std::make_shared<const Config>());
      return;
    }
    reloader_ = admission::MakeConfigReloader(
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
        },
        [&logger](const std::string& warnings) {
          logger.Warning("configuration uses old spellings", {{"warnings", warnings}});
        },
        &policies_);
    DirectoryWatch::Options watch;
    watch.others = policies_.changes();
    watch.folders = {FolderOf(file)};
    thread_ = std::make_unique<DirectoryWatchThread>(std::move(watch), clock,
                                                     [this] { reloader_->Reload(); });
    reloader_->Reload();
  }

  // What is wrong with the newest; empty: nothing.
  std::string Fault() const { return reloader_ == nullptr ? "" : reloader_->status().error; }

 private:
  PolicyFollower policies_;
  std::unique_ptr<admission::ConfigReloader> reloader_;
  std::unique_ptr<DirectoryWatchThread>
      thread_;  // last member: stops before the reloader is destroyed
};

http::ProbePort::Options ProbeOptions(const WatchOptions& options, const Clock& clock,
                                      log::Logger& logger) {
  http::ProbePort::Options probes;
  probes.listen = options.probe_listen;
  probes.clock = &clock;
  probes.on_bug = [&logger](std::string_view what) {
    logger.Error("internal error in a probe", {{"what", what}});
  };
  return probes;
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
  ConnectedLeadership leadership(*access, options.leadership, clock, logger);
  Connection reading(*access, {}, LogWarnings(logger));
  Connection writing(*access, watcher::LeaderClient::kOptions, LogWarnings(logger));
  Snapshot<Config> config;
  const ConfigFollower* following = nullptr;  // which needs the watcher; asked by the probe port
  watcher::Watcher watcher(reading.client(), writing.client(), reading.sleeper(), clock, logger,
                           *leadership, config,
                           {.ns = options.watched_namespace,
                            .without_rules = options.without_rules,
                            .own_namespace = reading.ns(),
                            .lease = options.leadership.elect ? options.leadership.lease : "",
                            .dry_run = options.dry_run,
                            .manage_certs = options.manage_certs,
                            .fail_closed = options.fail_closed,
                            .certs = ManagerOptionsOf(options.certs, reading.ns()),
                            .build = ThisBuild(),
                            .seed = std::random_device()(),
                            .config_fault = [&following] { return following->Fault(); }});
  watcher.Add([&](watcher::PodInformer& pods) {
    return std::make_unique<audit::Controller>(
        reading.client(), writing.client(), reading.sleeper(), clock, logger, pods, config,
        audit::Controller::Options{.ns = options.watched_namespace,
                                   .term = [&leadership] { return leadership->term(); },
                                   .seed = std::random_device()()});
  });
  const ConfigFollower follower(options, clock, logger, config, [&watcher] { watcher.Refresh(); });
  following = &follower;

  const auto port = http::ProbePort::Open(ProbeOptions(options, clock, logger), watcher.Routes());
  if (!port) {
    PrintError(io.err, port.error().message());
    return kExitUnusable;
  }
  (*port)->Serve();

  std::stop_source stop;
  {
    const std::jthread work = StartThread("watcher", [&] { watcher.Run(stop.get_token()); });
    leadership->Start([&watcher] { watcher.Refresh(); });
    logger.Info("watching", {{"namespace", options.watched_namespace.empty()
                                               ? std::string_view("all")
                                               : std::string_view(options.watched_namespace)},
                             {"probe_port", static_cast<int64_t>((*port)->port())}});
    AwaitStopSignal(signals.get());
    leadership->Resign();
    stop.request_stop();
  }  // Finish the work before the Lease is released.
  logger.Info("stopped");
  return kExitDone;
}

void AddWatch(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<WatchOptions>();
  CLI::App* command = parent.add_subcommand(
      "watch", "Run the watcher: elastic scaling, rescheduling, gang repair and certificates");
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
  AddSwitch(*command, "--dry-run", options->dry_run,
            "Reschedule nothing, only report what would be done, whatever the configuration says",
            "DRY_RUN");
  AddSwitch(*command, "--manage-certs", options->manage_certs,
            "Also manage the webhook's Secret and caBundle, like `mindgate certs manage`",
            "MANAGE_CERTS");
  AddManagerFlags(*command, options->certs);
  AddSwitch(*command, "--fail-closed", options->fail_closed,
            "Set failurePolicy Fail where the annotation mindgate.io/fail-closed of a webhook "
            "configuration asks for it, once the webhook answers",
            "FAIL_CLOSED");
  AddFlag(*command, "--probe-listen", options->probe_listen,
          "Address to serve /livez, /readyz, /metrics and /decisions on, without TLS",
          "PROBE_LISTEN", "ADDRESS");
  AddLogFlags(*command, options->log);
  command->footer(
      R"(mindgate.yaml configures what the watcher does: elasticScaling (off, observe, enforce), rescheduling (off,
observe, takeover, enforce), gangRepair and audit (off, on). With several replicas, only the leader acts. Decisions and their reasons are in Events, the log and /decisions.
Exit codes: 0 stopped by a signal, 2 cannot start.
Examples:
  mindgate watch --config mindgate.yaml
  mindgate watch -n mindgate-system --config /etc/mindgate/config/mindgate.yaml --leader-elect)");
  command->callback([options, &io, &exit_code] { exit_code = RunWatch(*options, io); });
}

}  // namespace mindgate::cli
