#include "cli/certs.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/flags.h"

namespace mindgate::cli {
namespace {

void AddNameOptions(CLI::App& command, NameOptions& names) {
  command.add_option("--dns", names.dns_names, "DNS names that the certificate is for")
      ->type_name("NAME")
      ->envname("MINDGATE_CERTS_DNS");
  command.add_option("--ip", names.ip_addresses, "IP addresses that it is for")
      ->type_name("ADDRESS")
      ->envname("MINDGATE_CERTS_IP");
  command
      .add_option("--service", names.service, "All DNS names of a Service, as the API server uses")
      ->type_name("NAME.NAMESPACE")
      ->envname("MINDGATE_CERTS_SERVICE");
}

void AddLifeOptions(CLI::App& command, int& serving_days, int& ca_days) {
  command.add_option("--days", serving_days, "How long a serving certificate is valid")
      ->check(CLI::Range(1, kMaxCertificateDays))
      ->type_name("DAYS")
      ->capture_default_str()
      ->envname("MINDGATE_CERTS_DAYS");
  command.add_option("--ca-days", ca_days, "How long a CA is valid")
      ->check(CLI::Range(1, kMaxCertificateDays))
      ->type_name("DAYS")
      ->capture_default_str()
      ->envname("MINDGATE_CERTS_CA_DAYS");
}

void AddOutputOption(CLI::App& command, std::string& output) {
  SetChoices(*command.add_option("-o,--output", output, "What to print")
                  ->capture_default_str()
                  ->envname("MINDGATE_CERTS_OUTPUT"),
             {"text", "json"});
}

void AddFolderOption(CLI::App& command, std::string& folder) {
  command.add_option("--dir", folder, "The folder of ca.crt, ca.key, tls.crt and tls.key")
      ->required()
      ->type_name("DIR")
      ->envname("MINDGATE_CERTS_DIR");
}

void AddCreate(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<CertsCreateOptions>();
  CLI::App* command =
      parent.add_subcommand("create", "Make a CA and a serving certificate (ECDSA P-256)");
  AddFolderOption(*command, options->folder);
  AddNameOptions(*command, options->names);
  AddLifeOptions(*command, options->days, options->ca_days);
  command->add_flag("--force", options->force, "Replace what the folder holds")
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
      parent.add_subcommand("inspect", "Tell what certificates say and what is wrong with them");
  command
      ->add_option("PATH", options->path,
                   "A folder with tls.crt and tls.key, a PEM file, - for standard input")
      ->required()
      ->type_name("");
  AddOutputOption(*command, options->output);
  command->add_option("--name", options->names, "Names or addresses that the first must be for")
      ->type_name("NAME")
      ->allow_extra_args(false)  // PATH may follow it
      ->envname("MINDGATE_CERTS_NAME");
  command->add_option("--warn-days", options->warn_days, "Fail when one ends within so many days")
      ->check(CLI::Range(0, kMaxCertificateDays))
      ->type_name("DAYS")
      ->capture_default_str()
      ->envname("MINDGATE_CERTS_WARN_DAYS");
  command->footer(R"(Exits with 1 when something is wrong. Examples:
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
  CLI::App* command = parent.add_subcommand("rotate", "Do the next step of replacing certificates");
  AddFolderOption(*command, options->folder);
  AddNameOptions(*command, options->names);
  AddLifeOptions(*command, options->days, options->ca_days);
  command->add_flag("--force", options->force, "A new serving certificate, due or not")
      ->envname("MINDGATE_CERTS_FORCE");
  command->add_flag("--ca", options->authority, "Begin to replace the CA, due or not")
      ->envname("MINDGATE_CERTS_CA");
  AddDryRun(*command, *dry_run, "Say what is due and write nothing", "CERTS_DRY_RUN", false);
  AddOutputOption(*command, options->output);
  command->footer(
      R"(A certificate is due at two thirds of its life. A CA is replaced in three steps, so that no client
refuses the server: the new one is added to ca.crt, an hour later it signs, a day later the old one
is dropped. Run it regularly; it does what is due and nothing else. Examples:
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
      R"(Exit codes: 0 done or nothing wrong, 1 failed or something wrong, 2 unusable input or arguments.
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
