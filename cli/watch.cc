#include "cli/watch.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "base/directory_watch.h"
#include "base/files.h"
#include "base/snapshot.h"
#include "base/text.h"
#include "base/thread.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/evaluate.h"
#include "cli/flags.h"
#include "cli/kube_flags.h"
#include "cli/version.h"
#include "kube/events.h"
#include "watcher/certificate_loop.h"
#include "watcher/gang_repair/controller.h"
#include "watcher/metrics.h"
#include "watcher/scaling/controller.h"
#include "webhook/config_reload.h"
#include "webhook/probe_port.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using schemas::Config;
using watcher::scaling::ScalingController;

constexpr const char* kController = "mindgate.io/watcher";

// Keeps `target` what mindgate.yaml says; without a file, the defaults. Null before the first good
// load.
class ConfigFollower {
 public:
  ConfigFollower(const std::string& file, const Clock& clock, log::Logger& logger,
                 Snapshot<Config>& target, std::function<void()> changed) {
    if (file.empty()) {
      target.Set(std::make_shared<const Config>());
      return;
    }
    reloader_ = webhook::MakeConfigReloader(
        file, clock, target, [&logger, changed = std::move(changed)](const ReloadStatus& status) {
          if (status.error.empty()) {
            logger.Info(status.swaps > 1 ? "reloaded" : "loaded", {{"what", "configuration"}});
          } else if (status.swaps == 0) {
            logger.Error(
                "no good configuration was ever loaded: nothing is decided and nothing done until "
                "there is one; the file is looked at again when it changes",
                {{"error", status.error}});
          } else {
            logger.Error("configuration refused, the last good one stays in use",
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
  std::unique_ptr<webhook::ConfigReloader> reloader_;
  std::unique_ptr<DirectoryWatchThread> thread_;  // last: ends before what it reloads
};

// Before the first good load nothing is done.
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

std::string Decisions(const watcher::scaling::Journal& journal) {
  OrderedJson entries = OrderedJson::array();
  for (const auto& entry : journal.entries()) {
    entries.push_back({{"time", FormatTime(entry.time)},
                       {"namespace", entry.service.ns},
                       {"rule", entry.service.rule},
                       {"jobID", entry.service.job_id},
                       {"instance", entry.instance},
                       {"group", entry.group},
                       {"decision", entry.what},
                       {"enforced", entry.enforced},
                       {"reason", entry.reason}});
  }
  return OrderedJson{{"decisions", std::move(entries)}}.dump(2) + "\n";
}

// What is wrong with a replica that is not ready; empty when it is.
std::string Unready(const Snapshot<Config>& config, const ScalingController& scaling,
                    const watcher::CertificateLoop* certificates) {
  if (config.Get() == nullptr) return "no good configuration yet";
  if (Scales(config) && !scaling.synced()) {
    return "pods or rules are not listed yet";
  }
  if (certificates != nullptr && certificates->failing()) return "certificates cannot be kept now";
  return "";
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
  Connection connection(*std::move(access), {}, LogWarnings(logger));
  const std::string& ns = connection.ns();
  kube::Client& client = connection.client();
  kube::Sleeper& sleeper = connection.sleeper();
  kube::Recorder::Options events;
  events.controller = kController;
  events.instance = leadership.identity();
  events.failed = [&logger](const kube::Fault& fault) {
    logger.Warning("an Event cannot be written now", {{"fault", fault.message}});
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
  ScalingController scaling(client, sleeper, clock, logger, recorder, of_scaling);
  const ConfigFollower follower(options.config_file, clock, logger, config,
                                [&scaling] { scaling.EnqueueAll(); });

  watcher::gang_repair::ControllerOptions of_gangs;
  of_gangs.leading = [&] { return RepairsGangs(config) && leadership.leading(); };
  of_gangs.seed = random();
  watcher::gang_repair::Controller gangs(client, sleeper, clock, logger, recorder, of_gangs);

  metrics.SetSources({&scaling, &gangs, [&leadership] { return leadership.leading(); }, Version()});

  watcher::CertificateManager manager(client, clock, logger, ManagerOptionsOf(options.certs, ns));
  watcher::CertificateLoop certificates(manager, sleeper, logger);

  webhook::ProbePort::Options probes;
  probes.listen = options.probe_listen;
  probes.clock = &clock;
  probes.on_bug = [&logger](std::string_view what) {
    logger.Error("bug while answering a probe", {{"what", what}});
  };
  using webhook::HttpRequest;
  const auto port = webhook::ProbePort::Open(
      probes,
      {{"/livez", [](const HttpRequest&) { return webhook::PlainText(200, "ok\n"); }},
       {"/readyz",
        [&](const HttpRequest&) {
          const std::string why =
              Unready(config, scaling, options.manage_certs ? &certificates : nullptr);
          if (!why.empty()) return webhook::PlainText(503, why + "\n");
          return webhook::PlainText(200,
                                    leadership.leading() ? "ok: leading\n" : "ok: standing by\n");
        }},
       {"/metrics", [&](const HttpRequest&) { return webhook::MetricsText(metrics.Render()); }},
       {"/decisions", [&](const HttpRequest&) {
          return webhook::PlainText(200, Decisions(scaling.journal()));
        }}});
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
    // What is switched off needs no permissions.
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
  }  // The work ends before the Lease is given away.
  logger.Info("stopped");
  return kExitDone;
}

void AddWatch(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<WatchOptions>();
  CLI::App* command = parent.add_subcommand(
      "watch", "Decide at runtime, beside the API server: elastic scaling, gangs, certificates");
  AddKubeFlags(*command, options->cluster);
  AddFlag(*command, "--config", options->config_file,
          "The configuration file, reloaded when it changes", "CONFIG", "FILE");
  AddFlag(*command, "--watch-namespace", options->watched_namespace,
          "The namespace whose services are looked after (default: all)", "WATCH_NAMESPACE",
          "NAME");
  AddFlag(*command, "--without-rules", options->without_rules,
          "Namespaces whose ConfigMaps are no scaling rules; may be repeated", "WITHOUT_RULES",
          "NAME")
      ->delimiter(',');
  AddLeadershipFlags(*command, options->leadership);
  AddSwitch(*command, "--manage-certs", options->manage_certs,
            "Keep the serving Secret and caBundle too, as `mindgate certs manage` does",
            "MANAGE_CERTS");
  AddManagerFlags(*command, options->certs);
  AddFlag(*command, "--probe-listen", options->probe_listen,
          "Where /livez, /readyz, /metrics and /decisions are, without TLS", "PROBE_LISTEN",
          "ADDRESS");
  AddLogFlags(*command, options->log);
  command->footer(
      R"(What it does is said in mindgate.yaml: elasticScaling (off, observe, enforce) and gangRepair. Of several
replicas one acts; it says what it decided and why in Events, in its log and at /decisions.
Exit codes: 0 told to stop, 2 cannot begin.
Examples:
  mindgate watch --config mindgate.yaml
  mindgate watch -n mindgate-system --config /etc/mindgate/config/mindgate.yaml --leader-elect)");
  command->callback([options, &io, &exit_code] { exit_code = RunWatch(*options, io); });
}

}  // namespace mindgate::cli
