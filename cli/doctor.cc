#include "cli/doctor.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/known_names.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/evaluate.h"
#include "cli/flags.h"
#include "cli/kube_flags.h"
#include "cli/paint.h"
#include "cli/results_json.h"
#include "cli/version.h"
#include "kube/client.h"
#include "kube/transport.h"

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

void PrintJson(const doctor::Report& report, std::ostream& out) {
  using Json = nlohmann::ordered_json;
  Json findings = Json::array();
  for (const doctor::Finding& finding : report.findings()) {
    findings.push_back({{"check", finding.check},
                        {"status", doctor::StatusName(finding.status)},
                        {"message", finding.message},
                        {"fix", finding.fix}});
  }
  out << Dump({{"healthy", !report.Has(doctor::Status::kFailed)}, {"findings", findings}}) << "\n";
}

}  // namespace

int RunDoctor(const DoctorOptions& options, Streams& io) {
  const SystemClock clock;
  auto access = kube::FindAccess(options.cluster, clock);
  if (!access) {
    PrintError(io.err, access.error().message);
    return kExitUnusable;
  }
  const auto transport = kube::MakeTransport(*std::move(access), UserAgent());
  kube::RealSleeper sleeper;
  // Nobody wants to wait minutes to hear that nothing answers.
  kube::Client client(*transport, sleeper, {.retries = 1, .timeout = std::chrono::seconds(15)});
  doctor::Options diagnosis = options.diagnosis;
  diagnosis.known = admission::KnownNames();
  const doctor::Report report = doctor::Diagnose(client, diagnosis, clock.WallNow());
  if (options.output == "json") {
    PrintJson(report, io.out);
  } else {
    PrintText(report, Paint(options.color, io.out_is_terminal), io.out);
  }
  return report.Has(doctor::Status::kFailed) ? kExitDenied : kExitDone;
}

void AddDoctor(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command =
      parent.add_subcommand("doctor", "Tell what is wrong with the installation in a cluster");
  AddClusterFlags(*command, options->cluster);
  AddFlag(*command, "-n,--namespace", options->diagnosis.ns, "Where mindgate is installed",
          "NAMESPACE", "NAME");
  AddFlag(*command, "--name", options->diagnosis.name, "What its webhook configurations are called",
          "DOCTOR_NAME", "NAME");
  AddFlag(*command, "--lease", options->diagnosis.lease, "The Lease of the watcher", "LEASE",
          "NAME");
  AddFlag(*command, "--probe-namespace", options->diagnosis.probe_namespace,
          "Where objects are created as a dry run, to see whether they are injected and judged",
          "DOCTOR_PROBE_NAMESPACE", "NAME");
  SetChoices(*command->add_option("-o,--output", options->output, "What to print")
                  ->capture_default_str()
                  ->envname("MINDGATE_DOCTOR_OUTPUT"),
             {"text", "json"});
  AddColorOption(*command, options->color);
  command->footer(
      R"(Looks at the API server, the webhook configurations, Service, endpoints, Pods, certificate and CA,
selectors, permissions and the watcher, and then sends two objects through all of it as a dry run.
Writes nothing. What you may not read is skipped, and said to be.
Exit codes: 0 nothing is wrong, 1 something is, 2 no cluster was found.
Examples:
  mindgate doctor
  mindgate doctor -n mindgate-system --probe-namespace serving
  mindgate doctor -o json | jq '.findings[] | select(.status == "failed")')");
  command->callback([options, &io, &exit_code] { exit_code = RunDoctor(*options, io); });
}

}  // namespace mindgate::cli
