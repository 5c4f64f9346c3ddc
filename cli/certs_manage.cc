#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "base/text.h"
#include "base/thread.h"
#include "cli/certs.h"
#include "cli/connection.h"
#include "cli/evaluate.h"
#include "cli/flags.h"
#include "cli/kube_flags.h"
#include "cli/leadership.h"
#include "watcher/certificate_loop.h"
#include "webhook/probe_port.h"

namespace mindgate::cli {
namespace {

int Unusable(const kube::Fault& fault, Streams& io) {
  PrintError(io.err, fault.message);
  return kExitUnusable;
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
  Leadership leadership(*access, options.leadership, clock, logger);
  Connection connection(*std::move(access), {},
                        options.once ? PrintWarnings(io.err) : LogWarnings(logger));
  const std::string& ns = connection.ns();
  kube::Client& client = connection.client();
  kube::Sleeper& sleeper = connection.sleeper();
  watcher::CertificateManager manager(client, clock, logger, ManagerOptionsOf(options, ns));
  if (options.once) {
    const auto next = manager.Reconcile({});
    if (!next) {
      PrintError(io.err, next.error().message);
      return kExitDenied;
    }
    io.out << "next step due at " << FormatTime(*next) << "\n";
    return kExitDone;
  }

  watcher::CertificateLoop loop(manager, sleeper, logger);
  webhook::ProbePort::Options probes;
  probes.listen = options.probe_listen;
  probes.clock = &clock;
  probes.on_bug = [&logger](std::string_view what) {
    logger.Error("bug while answering a probe", {{"what", what}});
  };
  const auto port = webhook::ProbePort::Open(
      probes,
      {{"/livez", [](const webhook::HttpRequest&) { return webhook::PlainText(200, "ok\n"); }},
       {"/readyz", [&](const webhook::HttpRequest&) {
          if (loop.failing()) return webhook::PlainText(503, "certificates cannot be kept now\n");
          return webhook::PlainText(200,
                                    leadership.leading() ? "ok: leading\n" : "ok: standing by\n");
        }}});
  if (!port) {
    PrintError(io.err, port.error().message());
    return kExitUnusable;
  }
  (*port)->Serve();

  leadership.Start();
  std::stop_source stop;
  std::jthread work = StartThread(
      "certificates", [&] { loop.Run([&] { return leadership.leading(); }, stop.get_token()); });
  logger.Info("keeping certificates", {{"namespace", ns}, {"secret", options.manager.secret}});
  AwaitStopSignal(signals.get());
  // The work ends before the Lease is given away.
  stop.request_stop();
  work.join();
  logger.Info("stopped");
  return kExitDone;
}

void AddManagerFlags(CLI::App& command, CertsManageOptions& options) {
  AddFlag(command, "--secret", options.manager.secret, "The Secret, made when it is not there",
          "CERTS_SECRET", "NAME");
  AddFlag(command, "--service", options.manager.service,
          "The webhook's Service, for whose names the certificate is", "CERTS_MANAGE_SERVICE",
          "NAME");
  AddFlag(command, "--mutating-webhook", options.manager.mutating_webhooks,
          "MutatingWebhookConfiguration to publish the CA in; may be repeated", "MUTATING_WEBHOOK",
          "NAME")
      ->delimiter(',');
  AddFlag(command, "--validating-webhook", options.manager.validating_webhooks,
          "ValidatingWebhookConfiguration to publish the CA in; may be repeated",
          "VALIDATING_WEBHOOK", "NAME")
      ->delimiter(',');
  AddFlag(command, "--days", options.days, "How long a serving certificate is valid", "CERTS_DAYS",
          "DAYS")
      ->check(CLI::Range(1, kMaxCertificateDays));
  AddFlag(command, "--ca-days", options.ca_days, "How long a CA is valid", "CERTS_CA_DAYS", "DAYS")
      ->check(CLI::Range(1, kMaxCertificateDays));
  AddFlag(command, "--publish-time", options.publish_seconds,
          "How long a new CA is published before it signs", "CERTS_PUBLISH_TIME", "SECONDS")
      ->check(CLI::Range(1, 30 * 24 * 3600));
  AddFlag(command, "--overlap", options.overlap_seconds,
          "How long the old CA is still published after that", "CERTS_OVERLAP", "SECONDS")
      ->check(CLI::Range(1, 30 * 24 * 3600));
}

void AddCertsManage(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<CertsManageOptions>();
  CLI::App* command = parent.add_subcommand(
      "manage", "Keep the serving Secret of a cluster and publish its CA in caBundle");
  AddKubeFlags(*command, options->cluster);
  AddManagerFlags(*command, *options);
  AddSwitch(*command, "--once", options->once, "Do what is due now, and end", "CERTS_ONCE");
  AddLeadershipFlags(*command, options->leadership);
  AddFlag(*command, "--probe-listen", options->probe_listen,
          "Where /livez and /readyz are, without TLS", "PROBE_LISTEN", "ADDRESS");
  AddLogFlags(*command, options->log);
  command->footer(
      R"(The CA, its key and the serving pair are in one Secret; caBundle is published by server-side apply of
that one field. A new CA signs only when it has been published for a while, and the old one stays
until every replica serves the new certificate. To renew at once:
  kubectl annotate secret mindgate-tls mindgate.io/rotate=ca        (or serving)
Exit codes: 0 told to stop or done, 1 --once failed, 2 cannot begin.
Examples:
  mindgate certs manage -n mindgate-system --service mindgate-webhook \
    --mutating-webhook mindgate --validating-webhook mindgate --leader-elect
  mindgate certs manage -n mindgate-system --once)");
  command->callback([options, &io, &exit_code] { exit_code = RunCertsManage(*options, io); });
}

}  // namespace mindgate::cli
