#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <random>

#include "base/problem.h"
#include "base/text.h"
#include "base/thread.h"
#include "cli/certs/certs.h"
#include "cli/console/connection.h"
#include "cli/console/flags.h"
#include "cli/console/leadership.h"
#include "http/probe_port.h"
#include "watcher/certificates/controller.h"
#include "watcher/probes.h"

namespace mindgate::cli {
namespace {

int Unusable(const kube::Fault& fault, Streams& io) {
  PrintError(io.err, fault.message);
  return kExitUnusable;
}

watcher::Term AlwaysLeading(const Clock& clock) {
  return {clock.WallNow(), [] { return true; }, {}};
}

}  // namespace

watcher::CertificateManagerOptions ManagerOptionsOf(const CertsManageOptions& options,
                                                    const std::string& ns) {
  watcher::CertificateManagerOptions manager = options.manager;
  manager.ns = ns;
  manager.policy.serving_life = std::chrono::days(options.days);
  manager.policy.authority_life = std::chrono::days(options.ca_days);
  manager.policy.publish = std::chrono::seconds(options.publish_seconds);
  manager.policy.overlap = std::chrono::seconds(options.overlap_seconds);
  return manager;
}

int RunCertsManage(const CertsManageOptions& options, Streams& io) {
  const FileDescriptor signals = CatchStopSignals();
  const SystemClock clock;
  log::Logger logger(FormatOf(options.log), LevelOf(options.log), clock);
  auto access = kube::FindAccess(options.cluster, clock);
  if (!access) return Unusable(access.error(), io);
  Connection connection(*access, watcher::LeaderClient::kOptions,
                        options.once ? PrintWarnings(io.err) : LogWarnings(logger));
  const std::string& ns = connection.ns();
  const watcher::CertificateManagerOptions of_manager = ManagerOptionsOf(options, ns);
  if (options.once) {
    watcher::LeaderClient client(connection.client(), AlwaysLeading(clock));
    const auto next = watcher::CertificateManager(clock, logger, of_manager).Reconcile(client);
    if (!next) {
      PrintError(io.err, next.error().message);
      return kExitDenied;
    }
    io.out << "next step due at " << FormatTime(*next) << "\n";
    return kExitDone;
  }

  ConnectedLeadership leadership(*access, options.leadership, clock, logger);
  watcher::CertificateController controller(connection.client(), clock, logger,
                                            {.manager = of_manager,
                                             .term = [&leadership] { return leadership->term(); },
                                             .seed = std::random_device()()});
  http::ProbePort::Options probes;
  probes.listen = options.probe_listen;
  probes.clock = &clock;
  probes.on_bug = [&logger](std::string_view what) {
    logger.Error("internal error in a probe", {{"what", what}});
  };
  const auto port = http::ProbePort::Open(
      probes, watcher::ProbeRoutes({.leading = [&leadership] { return leadership->leading(); },
                                    .controllers = {&controller}}));
  if (!port) {
    PrintError(io.err, port.error().message());
    return kExitUnusable;
  }
  (*port)->Serve();

  leadership->Start([&controller] { controller.EnqueueAll(); });
  std::stop_source stop;
  std::jthread work = StartThread("certificates", [&] { controller.Run(stop.get_token()); });
  logger.Info("managing certificates", {{"namespace", ns}, {"secret", options.manager.secret}});
  AwaitStopSignal(signals.get());
  // Finish the work before the Lease is released.
  leadership->Resign();
  stop.request_stop();
  work.join();
  logger.Info("stopped");
  return kExitDone;
}

void AddManagerFlags(CLI::App& command, CertsManageOptions& options) {
  AddFlag(command, "--secret", options.manager.secret,
          "Name of the Secret; created if it does not exist", "CERTS_SECRET", "NAME");
  AddFlag(command, "--service", options.manager.service,
          "Name of the webhook's Service, whose DNS names the certificate covers",
          "CERTS_MANAGE_SERVICE", "NAME");
  AddFlag(command, "--mutating-webhook", options.manager.webhooks.mutating,
          "MutatingWebhookConfiguration whose caBundle is set; may be repeated", "MUTATING_WEBHOOK",
          "NAME")
      ->delimiter(',');
  AddFlag(command, "--validating-webhook", options.manager.webhooks.validating,
          "ValidatingWebhookConfiguration whose caBundle is set; may be repeated",
          "VALIDATING_WEBHOOK", "NAME")
      ->delimiter(',');
  AddFlag(command, "--days", options.days, "Validity of the serving certificate", "CERTS_DAYS",
          "DAYS")
      ->check(CLI::Range(1, kMaxCertificateDays));
  AddFlag(command, "--ca-days", options.ca_days, "Validity of the CA", "CERTS_CA_DAYS", "DAYS")
      ->check(CLI::Range(1, kMaxCertificateDays));
  AddFlag(command, "--publish-time", options.publish_seconds,
          "How long a new CA is published before it signs certificates", "CERTS_PUBLISH_TIME",
          "SECONDS")
      ->check(CLI::Range(1, 30 * 24 * 3600));
  AddFlag(command, "--overlap", options.overlap_seconds,
          "How long the old CA stays published after that", "CERTS_OVERLAP", "SECONDS")
      ->check(CLI::Range(1, 30 * 24 * 3600));
}

void AddCertsManage(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<CertsManageOptions>();
  CLI::App* command = parent.add_subcommand(
      "manage", "Manage the webhook's Secret in a cluster and publish its CA in caBundle");
  AddKubeFlags(*command, options->cluster);
  AddManagerFlags(*command, *options);
  AddSwitch(*command, "--once", options->once, "Do what is due now, then exit", "CERTS_ONCE");
  AddLeadershipFlags(*command, options->leadership);
  AddFlag(*command, "--probe-listen", options->probe_listen,
          "Address to serve /livez and /readyz on, without TLS", "PROBE_LISTEN", "ADDRESS");
  AddLogFlags(*command, options->log);
  command->footer(
      R"(One Secret holds the CA, its key, and the serving certificate and key. caBundle is set by server-side
apply of that field alone. A new CA is published before it signs, and the old CA stays published until
every replica serves the new certificate. To renew immediately:
  kubectl annotate secret mindgate-tls mindgate.io/rotate=ca        (or serving)
Exit codes: 0 stopped by a signal or done, 1 --once failed, 2 cannot start.
Examples:
  mindgate certs manage -n mindgate-system --service mindgate-webhook \
    --mutating-webhook mindgate --validating-webhook mindgate --leader-elect
  mindgate certs manage -n mindgate-system --once)");
  command->callback([options, &io, &exit_code] { exit_code = RunCertsManage(*options, io); });
}

}  // namespace mindgate::cli
