#include "cli/certs.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <ostream>

#include "base/files.h"
#include "base/text.h"
#include "certs/inspect.h"
#include "certs/load.h"
#include "certs/rotate.h"
#include "cli/commands.h"
#include "cli/evaluate.h"

namespace mindgate::cli {
namespace {

namespace fs = std::filesystem;
using certs::Files;
using std::chrono::days;

// Certificates beyond a hundred years are mistakes.
constexpr int kMostDays = 36500;

bool Exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

// Empty when the option is no Service.
std::vector<std::string> NamesOfService(const std::string& service) {
  const auto parts = Split(service, '.');
  if (parts.size() != 2 || !IsDns1123Label(parts[0]) || !IsDns1123Label(parts[1])) return {};
  return certs::ServiceNames(std::string(parts[0]), std::string(parts[1]));
}

// False when the options are unusable; `io.err` then says why.
bool AddNames(const NameOptions& names, certs::RotationPolicy& policy, Streams& io) {
  if (!names.service.empty()) {
    policy.dns_names = NamesOfService(names.service);
    if (policy.dns_names.empty()) {
      PrintError(io.err, "--service " + Quote(names.service) + " is no Service",
                 "write its name and namespace: --service webhook.mindgate-system");
      return false;
    }
  }
  policy.dns_names.insert(policy.dns_names.end(), names.dns_names.begin(), names.dns_names.end());
  policy.ip_addresses = names.ip_addresses;
  return true;
}

bool IsMounted(const std::string& folder, Streams& io) {
  if (!Exists(folder + "/..data")) return false;
  PrintError(io.err, folder + " is a mounted Secret or ConfigMap, which kubelet writes",
             "change the Secret itself, or name another folder");
  return true;
}

int Refuse(const std::string& what, Streams& io, const std::string& hint = "") {
  PrintError(io.err, what, hint);
  return kExitDenied;
}

// All files of the state, keys for their owner only; those that it no longer has are removed.
Result<void> WriteFolder(const std::string& folder, const Files& files) {
  std::vector<FileToWrite> writes;
  for (const std::string name : certs::kStateFiles) {
    const auto file = files.find(name);
    if (file == files.end()) continue;
    writes.push_back({name, file->second, name.ends_with(".key") ? 0600U : 0644U});
  }
  auto done = WriteFiles(folder, writes);
  if (!done) return done;
  for (const std::string name : certs::kStateFiles) {
    if (!files.contains(name)) ::unlink((folder + "/" + name).c_str());
  }
  return done;
}

Result<Files> ReadFolder(const std::string& folder) {
  Files files;
  for (const std::string name : certs::kStateFiles) {
    auto text = ReadRegularFile(AT_FDCWD, folder + "/" + name, certs::kLargestFile);
    if (text) {
      files[name] = *std::move(text);
    } else if (text.error().code() != ErrorCode::kNotFound) {
      return Fail(text.error().code(), name + " " + text.error().message());
    }
  }
  return files;
}

std::string_view StepText(certs::Step step) {
  switch (step) {
    case certs::Step::kReplaceAuthority:
      return "make a CA";
    case certs::Step::kIntroduceAuthority:
      return "make the next CA, which signs later";
    case certs::Step::kRenewServing:
      return "renew the serving certificate";
    case certs::Step::kDropPrevious:
      return "drop the old CA";
  }
  return "";
}

void PrintServing(const certs::State& state, Streams& io) {
  const certs::Description leaf = certs::Describe(state.chain.front().get());
  std::vector<std::string> names = leaf.dns_names;
  names.insert(names.end(), leaf.ip_addresses.begin(), leaf.ip_addresses.end());
  io.out << "serving certificate: for " << Join(names, ", ") << ", until "
         << FormatTime(leaf.not_after) << "\n"
         << "CA: until " << FormatTime(certs::NotAfter(state.authority.certificate.get())) << "\n";
}

certs::RotationPolicy PolicyOf(int serving_days, int ca_days) {
  certs::RotationPolicy policy;
  policy.serving_life = days(serving_days);
  policy.authority_life = days(ca_days);
  return policy;
}

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
      ->check(CLI::Range(1, kMostDays))
      ->type_name("DAYS")
      ->capture_default_str()
      ->envname("MINDGATE_CERTS_DAYS");
  command.add_option("--ca-days", ca_days, "How long a CA is valid")
      ->check(CLI::Range(1, kMostDays))
      ->type_name("DAYS")
      ->capture_default_str()
      ->envname("MINDGATE_CERTS_CA_DAYS");
}

void AddFolderOption(CLI::App& command, std::string& folder) {
  command.add_option("--dir", folder, "The folder of ca.crt, ca.key, tls.crt and tls.key")
      ->required()
      ->type_name("DIR")
      ->envname("MINDGATE_CERTS_DIR");
}

Time Now() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

void AddCreate(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<CertsCreateOptions>();
  CLI::App* command =
      parent.add_subcommand("create", "Make a CA and a serving certificate (ECDSA P-256)");
  AddFolderOption(*command, options->folder);
  AddNameOptions(*command, options->names);
  AddLifeOptions(*command, options->days, options->ca_days);
  command->add_flag("--force", options->force, "Replace what the folder holds")
      ->envname("MINDGATE_CERTS_FORCE");
  command->footer(R"(Examples:
  mindgate certs create --dir certs --service webhook.mindgate-system
  mindgate certs create --dir certs --dns localhost --ip 127.0.0.1 --ip ::1)");
  command->callback([options, &io, &exit_code] {
    options->now = Now();
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
  SetChoices(*command->add_option("-o,--output", options->output, "What to print")
                  ->capture_default_str()
                  ->envname("MINDGATE_CERTS_OUTPUT"),
             {"text", "json"});
  command->add_option("--name", options->names, "Names or addresses that the first must be for")
      ->type_name("NAME")
      ->allow_extra_args(false)  // PATH may follow it
      ->envname("MINDGATE_CERTS_NAME");
  command->add_option("--warn-days", options->warn_days, "Fail when one ends within so many days")
      ->check(CLI::Range(0, kMostDays))
      ->type_name("DAYS")
      ->capture_default_str()
      ->envname("MINDGATE_CERTS_WARN_DAYS");
  command->footer(R"(Exits with 1 when something is wrong. Examples:
  mindgate certs inspect certs --name webhook.mindgate-system.svc
  mindgate certs inspect ca.crt -o json
  kubectl get secret webhook -o jsonpath='{.data.tls\.crt}' | base64 -d | mindgate certs inspect -)");
  command->callback([options, &io, &exit_code] {
    options->now = Now();
    exit_code = RunCertsInspect(*options, io);
  });
}

void AddRotate(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<CertsRotateOptions>();
  CLI::App* command = parent.add_subcommand("rotate", "Do the next step of replacing certificates");
  AddFolderOption(*command, options->folder);
  AddNameOptions(*command, options->names);
  AddLifeOptions(*command, options->days, options->ca_days);
  command->add_flag("--force", options->force, "A new serving certificate, due or not")
      ->envname("MINDGATE_CERTS_FORCE");
  command->add_flag("--ca", options->authority, "Begin to replace the CA, due or not")
      ->envname("MINDGATE_CERTS_CA");
  command->add_flag("--dry-run", options->dry_run, "Say what is due and write nothing")
      ->envname("MINDGATE_CERTS_DRY_RUN");
  command->footer(
      R"(A certificate is due at two thirds of its life. A CA is replaced in three steps, so that no client
refuses the server: the new one is added to ca.crt, an hour later it signs, a day later the old one
is dropped. Run it regularly; it does what is due and nothing else. Examples:
  mindgate certs rotate --dir certs
  mindgate certs rotate --dir certs --ca      the key of the CA is no longer safe)");
  command->callback([options, &io, &exit_code] {
    options->now = Now();
    exit_code = RunCertsRotate(*options, io);
  });
}

}  // namespace

int RunCertsCreate(const CertsCreateOptions& options, Streams& io) {
  certs::RotationPolicy policy = PolicyOf(options.days, options.ca_days);
  if (!AddNames(options.names, policy, io)) return kExitUnusable;
  if (IsMounted(options.folder, io)) return kExitDenied;
  for (const std::string name : certs::kStateFiles) {
    if (options.force || !Exists(options.folder + "/" + name)) continue;
    return Refuse(options.folder + " already holds " + name, io,
                  "`mindgate certs rotate` renews what is there, --force begins anew");
  }
  const certs::Plan plan = certs::MakePlan({}, policy, options.now);
  const auto state = certs::Carry({}, plan, policy, options.now);
  if (!state) {
    PrintError(io.err, state.error().message(), "for example --service webhook.mindgate-system");
    return kExitUnusable;
  }
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) return Refuse(options.folder + " cannot be made: " + error.message(), io);
  if (const auto done = WriteFolder(options.folder, certs::WriteState(*state)); !done) {
    return Refuse(done.error().message(), io);
  }
  io.out << "wrote ca.crt, ca.key, tls.crt and tls.key in " << options.folder << "\n";
  PrintServing(*state, io);
  return kExitDone;
}

int RunCertsRotate(const CertsRotateOptions& options, Streams& io) {
  certs::RotationPolicy policy = PolicyOf(options.days, options.ca_days);
  if (!AddNames(options.names, policy, io)) return kExitUnusable;
  policy.force_serving = options.force;
  policy.force_authority = options.authority;
  if (IsMounted(options.folder, io)) return kExitDenied;
  const auto files = ReadFolder(options.folder);
  if (!files) return Refuse(options.folder + ": " + files.error().message(), io);
  if (!files->contains(certs::kAuthorityFile)) {
    PrintError(io.err, options.folder + " holds no ca.crt", "`mindgate certs create` makes one");
    return kExitUnusable;
  }
  auto state = certs::ReadState(*files);
  if (!state) return Refuse(options.folder + ": " + state.error().message(), io);
  certs::Plan plan = certs::MakePlan(*state, policy, options.now);
  for (const certs::PlannedStep& step : plan.steps) {
    io.out << (options.dry_run ? "would " : "") << StepText(step.step) << ": " << step.reason
           << "\n";
  }
  if (options.dry_run && !plan.steps.empty()) return kExitDone;
  if (!plan.steps.empty()) {
    state = certs::Carry(*std::move(state), plan, policy, options.now);
    if (!state) {
      PrintError(io.err, state.error().message(), "for example --service webhook.mindgate-system");
      return kExitUnusable;
    }
    const auto done = WriteFolder(options.folder, certs::WriteState(*state));
    if (!done) return Refuse(done.error().message(), io);
    if (plan.steps.front().step != certs::Step::kRenewServing) {
      io.out << "ca.crt has changed: publish it as caBundle now\n";
    }
    policy.force_serving = policy.force_authority = false;
    plan = certs::MakePlan(*state, policy, options.now);
  }
  PrintServing(*state, io);
  io.out << "next step due at " << FormatTime(plan.next) << "\n";
  return kExitDone;
}

void AddCerts(CLI::App& parent, Streams& io, int& exit_code) {
  CLI::App* command =
      parent.add_subcommand("certs", "Create, inspect and rotate the webhook's certificates");
  command->require_subcommand(1);
  command->footer(R"(Examples:
  mindgate certs create --dir certs --service webhook.mindgate-system
  mindgate certs inspect certs
  mindgate certs rotate --dir certs)");
  AddCreate(*command, io, exit_code);
  AddInspect(*command, io, exit_code);
  AddRotate(*command, io, exit_code);
}

}  // namespace mindgate::cli
