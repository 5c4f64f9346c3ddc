#include "cli/certs/certs.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <random>

#include "base/result.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/session.h"
#include "http/front_end.h"
#include "watcher/certificates/controller.h"
#include "watcher/watcher.h"

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

namespace {

// Manages the Secret and the caBundle fields of a cluster until SIGTERM or SIGINT. With `once`, it
// does what is due and returns. Returns kExitUnusable if it cannot start, kExitDenied if `once`
// failed.
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

}  // namespace

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

namespace {

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

void AddNameOptions(CLI::App& command, NameOptions& names) {
  command.add_option("--dns", names.dns_names, "DNS names of the certificate")
      ->type_name("NAME")
      ->envname("MINDGATE_CERTS_DNS");
  command.add_option("--ip", names.ip_addresses, "IP addresses of the certificate")
      ->type_name("ADDRESS")
      ->envname("MINDGATE_CERTS_IP");
  command
      .add_option("--service", names.service,
                  "Add all DNS names of this Service, as used by the API server")
      ->type_name("NAME.NAMESPACE")
      ->envname("MINDGATE_CERTS_SERVICE");
}

void AddLifeOptions(CLI::App& command, int& serving_days, int& ca_days) {
  command.add_option("--days", serving_days, "Validity of the serving certificate")
      ->check(CLI::Range(1, kMaxCertificateDays))
      ->type_name("DAYS")
      ->capture_default_str()
      ->envname("MINDGATE_CERTS_DAYS");
  command.add_option("--ca-days", ca_days, "Validity of the CA")
      ->check(CLI::Range(1, kMaxCertificateDays))
      ->type_name("DAYS")
      ->capture_default_str()
      ->envname("MINDGATE_CERTS_CA_DAYS");
}

void AddOutputOption(CLI::App& command, std::string& output) {
  SetChoices(*command.add_option("-o,--output", output, "Output format")
                  ->capture_default_str()
                  ->envname("MINDGATE_CERTS_OUTPUT"),
             {"text", "json"});
}

void AddFolderOption(CLI::App& command, std::string& folder) {
  command.add_option("--dir", folder, "Folder with ca.crt, ca.key, tls.crt and tls.key")
      ->required()
      ->type_name("DIR")
      ->envname("MINDGATE_CERTS_DIR");
}

void AddCreate(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<CertsCreateOptions>();
  CLI::App* command =
      parent.add_subcommand("create", "Create a CA and a serving certificate (ECDSA P-256)");
  AddFolderOption(*command, options->folder);
  AddNameOptions(*command, options->names);
  AddLifeOptions(*command, options->days, options->ca_days);
  command->add_flag("--force", options->force, "Overwrite existing files")
      ->envname("MINDGATE_CERTS_FORCE");
  AddOutputOption(*command, options->output);
  command->footer(R"(Examples:
  mindgate certs create --dir certs --service webhook.mindgate-system
  mindgate certs create --dir certs --dns localhost --ip 127.0.0.1 --ip ::1)");
  command->callback([options, &io, &exit_code] {
    options->now = SystemClock().WallNow();
    exit_code = RunCertsCreate(*options, io);
  });
}

void AddInspect(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<CertsInspectOptions>();
  CLI::App* command =
      parent.add_subcommand("inspect", "Show certificates and report problems with them");
  command
      ->add_option("PATH", options->path,
                   "Folder with tls.crt and tls.key, PEM file, or - for standard input")
      ->required()
      ->type_name("");
  AddOutputOption(*command, options->output);
  command
      ->add_option("--name", options->names,
                   "DNS name or IP address that the first certificate must cover; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)  // PATH may follow it
      ->envname("MINDGATE_CERTS_NAME");
  command
      ->add_option("--warn-days", options->warn_days,
                   "Fail if a certificate expires within this many days")
      ->check(CLI::Range(0, kMaxCertificateDays))
      ->type_name("DAYS")
      ->capture_default_str()
      ->envname("MINDGATE_CERTS_WARN_DAYS");
  command->footer(R"(Exit codes: 0 no problems, 1 problems found, 2 the input cannot be read.
Examples:
  mindgate certs inspect certs --name webhook.mindgate-system.svc
  mindgate certs inspect ca.crt -o json
  kubectl get secret webhook -o jsonpath='{.data.tls\.crt}' | base64 -d | mindgate certs inspect -)");
  command->callback([options, &io, &exit_code] {
    options->now = SystemClock().WallNow();
    exit_code = RunCertsInspect(*options, io);
  });
}

void AddRotate(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<CertsRotateOptions>();
  auto dry_run = std::make_shared<DryRun>(DryRun::kNone);
  CLI::App* command = parent.add_subcommand("rotate", "Renew certificates that are due");
  AddFolderOption(*command, options->folder);
  AddNameOptions(*command, options->names);
  AddLifeOptions(*command, options->days, options->ca_days);
  command
      ->add_flag("--force", options->force, "Renew the serving certificate even if it is not due")
      ->envname("MINDGATE_CERTS_FORCE");
  command->add_flag("--ca", options->authority, "Start replacing the CA even if it is not due")
      ->envname("MINDGATE_CERTS_CA");
  AddDryRun(*command, *dry_run, "Print what is due without writing anything", "CERTS_DRY_RUN",
            false);
  AddOutputOption(*command, options->output);
  command->footer(
      R"(A certificate is renewed after two thirds of its validity. A CA is replaced in three steps, so that
clients always trust the server: the new CA is added to ca.crt, it starts to sign an hour later, and
the old CA is removed a day after that. Run this command regularly: it does only what is due.
Examples:
  mindgate certs rotate --dir certs
  mindgate certs rotate --dir certs --dry-run
  mindgate certs rotate --dir certs -o json | jq .caChanged)");
  command->callback([options, dry_run, &io, &exit_code] {
    options->dry_run = *dry_run != DryRun::kNone;
    options->now = SystemClock().WallNow();
    exit_code = RunCertsRotate(*options, io);
  });
}

}  // namespace

void AddCerts(CLI::App& parent, Streams& io, int& exit_code) {
  CLI::App* command =
      parent.add_subcommand("certs", "Create, inspect and rotate the webhook's certificates");
  command->require_subcommand(1);
  command->footer(
      R"(Exit codes: 0 success, 1 failure or problems found, 2 the input or the arguments are invalid.
Examples:
  mindgate certs create --dir certs --service webhook.mindgate-system
  mindgate certs inspect certs
  mindgate certs rotate --dir certs)");
  AddCreate(*command, io, exit_code);
  AddInspect(*command, io, exit_code);
  AddRotate(*command, io, exit_code);
  AddCertsManage(*command, io, exit_code);
}

}  // namespace mindgate::cli
