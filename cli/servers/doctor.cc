#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/config_files.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/session.h"
#include "cli/console/terminal.h"
#include "cli/servers/servers.h"
#include "kube/client.h"
#include "kube/subprocess.h"
#include "offline/evaluate.h"

namespace mindgate::cli {
namespace {

Color ColorOf(doctor::Status status) {
  switch (status) {
    case doctor::Status::kOk:
      return Color::kGreen;
    case doctor::Status::kFailed:
      return Color::kRed;
    default:
      return Color::kYellow;
  }
}

void PrintText(const doctor::Report& report, const Paint& paint, std::ostream& out) {
  size_t check_width = 0;
  for (const doctor::Finding& finding : report.findings()) {
    check_width = std::max(check_width, finding.check.size());
  }
  constexpr size_t kStatusWidth = 7;
  for (const doctor::Finding& finding : report.findings()) {
    out << paint(ColorOf(finding.status), Padded(doctor::StatusName(finding.status), kStatusWidth))
        << "  " << Padded(finding.check, check_width) << "  " << finding.message << "\n";
    if (!finding.fix.empty()) {
      out << std::string(kStatusWidth + check_width + 4, ' ') << "fix: " << finding.fix << "\n";
    }
  }
}

void PrintTable(const doctor::Report& report, const Paint& paint, std::ostream& out) {
  Table table({"STATUS", "CHECK", "MESSAGE", "FIX"});
  for (const doctor::Finding& finding : report.findings()) {
    table.Add({TableCell(std::string(doctor::StatusName(finding.status)), ColorOf(finding.status)),
               finding.check, finding.message, finding.fix.empty() ? "<none>" : finding.fix});
  }
  table.Print(paint, out);
}

nlohmann::ordered_json JsonOf(const doctor::Report& report) {
  auto findings = nlohmann::ordered_json::array();
  for (const doctor::Finding& finding : report.findings()) {
    findings.push_back({{"check", finding.check},
                        {"status", doctor::StatusName(finding.status)},
                        {"message", finding.message},
                        {"fix", finding.fix}});
  }
  return {{"healthy", !report.Has(doctor::Status::kFailed)}, {"findings", std::move(findings)}};
}

// Each check once, in order of appearance.
std::vector<std::string> Names(const doctor::Report& report) {
  std::vector<std::string> names;
  for (const doctor::Finding& finding : report.findings()) {
    std::string name = "check/" + finding.check;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// The selected installation. Nothing, after an error on `io.err`, if there are several. Where they
// cannot be listed, the one that this Pod belongs to. Without that, and if none was found, the
// default names: the checks report what is missing.
std::optional<doctor::Installation> Choose(const DoctorOptions& options, kube::Client& client,
                                           Streams& io) {
  doctor::Installation chosen;
  if (!options.ns.empty()) chosen.ns = options.ns;
  if (!options.name.empty()) {
    chosen.name = options.name;
    return chosen;
  }
  const auto found = doctor::FindInstallations(client, options.selector, options.ns);
  if (!found && options.selector.empty()) {
    const auto own = doctor::InstallationOf(kube::Environment(doctor::kInstallationVariable));
    return own && (options.ns.empty() || options.ns == own->ns) ? *own : chosen;
  }
  if (!found || found->empty()) return chosen;
  if (found->size() == 1) return found->front();
  std::string names;
  for (const doctor::Installation& one : *found) {
    names += (names.empty() ? "" : ", ") + one.name + " in namespace " + one.ns;
  }
  PrintError(io.err, "found several installations: " + names,
             "choose one: -n NAMESPACE, or -l app.kubernetes.io/instance=RELEASE");
  return std::nullopt;
}

// Files that the chart puts beside mindgate.yaml and ConfigMaps are one set: what one has may be
// bound in the other.
kube::Answer<std::string> PolicyFaults(kube::Client& client, const schemas::Config& config,
                                       const json::Json& stored) {
  admission::PolicyTexts texts = offline::StoredPoliciesOf(config, stored).texts;
  if (config.policy_sources.config_maps) {
    const std::string ns = json::TextAt(stored, {"metadata", "namespace"});
    const auto set = offline::ListPolicyConfigMaps(client, ns);
    if (!set) return tl::unexpected(set.error());
    const auto more = set->Texts();
    if (!more) return more.error().message();
    texts.insert(texts.end(), more->begin(), more->end());
  }
  schemas::Config evaluated = config;
  const auto done = admission::SetPolicies(texts, evaluated);
  return done ? "" : done.error().message();
}

}  // namespace

int RunDoctor(const DoctorOptions& options, Streams& io) {
  const SystemClock clock;
  const auto connection = Connect(options.cluster, clock, ForPeople(), io);
  if (connection == nullptr) return kExitUnusable;
  connection->client().OnWarning({});  // of the wrong object that the dry run sends
  const auto chosen = Choose(options, connection->client(), io);
  if (!chosen) return kExitUnusable;
  doctor::Options diagnosis;
  diagnosis.ns = chosen->ns;
  diagnosis.name = chosen->name;
  diagnosis.lease = options.lease.empty() ? chosen->lease() : options.lease;
  diagnosis.probe_namespace = options.probe_namespace;
  diagnosis.known = admission::KnownNames();
  diagnosis.policy_faults = PolicyFaults;
  diagnosis.impersonate = [&](const std::string& user) -> std::shared_ptr<kube::Client> {
    kube::AccessFlags cluster = options.cluster;
    cluster.impersonation = {.user = user};
    std::shared_ptr<Connection> as_user = Connect(cluster, clock, ForPeople(), io);
    if (as_user == nullptr) return nullptr;
    return {as_user, &as_user->client()};
  };
  const doctor::Report report = doctor::Diagnose(connection->client(), diagnosis, clock.WallNow());
  const Paint paint(options.color, io.out_is_terminal);
  const int code =
      PrintOutput(options.output,
                  {.document = [&] { return JsonOf(report); },
                   .names = [&] { return Names(report); },
                   .text =
                       [&](std::ostream& out, bool wide) {
                         wide ? PrintTable(report, paint, out) : PrintText(report, paint, out);
                       }},
                  io);
  if (code != kExitDone) return code;
  return report.Has(doctor::Status::kFailed) ? kExitDenied : kExitDone;
}

void AddDoctor(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command =
      parent.add_subcommand("doctor", "Check an installation and report what is wrong with it");
  AddClusterFlags(*command, options->cluster);
  AddFlag(*command, "-n,--namespace", options->ns,
          "Namespace of mindgate (default: the namespace that the webhook configurations point to)",
          "DOCTOR_NAMESPACE", "NAME");
  AddFlag(*command, "-l,--selector", options->selector,
          "Label selector for the webhook configurations of the installation (default: those of "
          "mindgate)",
          "DOCTOR_SELECTOR", "SELECTOR");
  AddFlag(*command, "--name", options->name,
          "Name of the webhook configurations (default: found with -l)", "DOCTOR_NAME", "NAME");
  AddFlag(
      *command, "--lease", options->lease,
      "Name of the watcher's Lease (default: the name of the installation, followed by -watcher)",
      "DOCTOR_LEASE", "NAME");
  AddFlag(*command, "--probe-namespace", options->probe_namespace,
          "Namespace for the dry-run objects that test mutation and validation",
          "DOCTOR_PROBE_NAMESPACE", "NAME");
  AddOutputOption(*command, options->output, {"text", "wide", "name", "yaml", "json", "jsonpath"},
                  "DOCTOR_OUTPUT");
  AddColorOption(*command, options->color);
  command->footer(
      R"(Checks the API server, the webhook configurations, Service, endpoints, Pods, certificate and CA, selectors,
permissions and the watcher, then creates two objects as a server-side dry run. Nothing is written.
Checks you lack permission for are reported as skipped, never as passed.
Exit codes: 0 no problems, 1 problems found, 2 the cluster cannot be reached.
Examples:
  mindgate doctor
  mindgate doctor -n mindgate-system --probe-namespace serving
  mindgate doctor -l app.kubernetes.io/instance=canary -o wide
  mindgate doctor -o json | jq '.findings[] | select(.status == "failed")')");
  command->callback([options, &io, &exit_code] { exit_code = RunDoctor(*options, io); });
}

}  // namespace mindgate::cli
