#include "cli/certs/certs.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "base/clock.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"

namespace mindgate::cli {
namespace {

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
