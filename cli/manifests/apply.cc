#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/result.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/console/print.h"
#include "cli/manifests/manifests.h"
#include "cli/manifests/report_formats.h"
#include "offline/evaluate.h"
#include "offline/report.h"

namespace mindgate::cli {
namespace {

// What these outputs hold are objects, not findings.
constexpr std::array<std::string_view, 4> kObjectFormats = {"yaml", "name", "patch", "diff"};

bool IsUsable(const ApplyOptions& options, std::ostream& err) {
  const OutputFormat& output = options.output;
  if (options.summary && !output.Is("table")) {
    PrintError(err, "--summary needs -o table", "-o html begins with a summary");
    return false;
  }
  const bool holds_objects = std::any_of(kObjectFormats.begin(), kObjectFormats.end(),
                                         [&](std::string_view name) { return output.Is(name); });
  if (options.only_findings && holds_objects) {
    PrintError(err, "--only-findings does not work with -o " + output.word,
               "this output is what would be stored; write -o table, or another output that lists "
               "findings");
    return false;
  }
  return true;
}

}  // namespace

int RunApply(const ApplyOptions& options, Streams& io) {
  if (!IsUsable(options, io.err)) return kExitUnusable;
  const auto evaluation =
      offline::Evaluate(options.input, {.strict = options.strict}, io.in, io.err);
  if (!evaluation) return kExitUnusable;
  const auto& decisions = evaluation->decisions;
  const auto report = [&](bool only_findings) {
    return offline::ReportOf(decisions, evaluation->skipped,
                             {.strict = options.strict, .only_findings = only_findings});
  };
  const Paint paint(options.color, io.out_is_terminal);
  const OutputFormat& output = options.output;
  // GitHub's runner also reads workflow commands from standard error, where an excerpt of a
  // manifest may look like one.
  const bool quiet = output.Is("github");
  const bool is_report = IsReportFormat(output.word);
  if (!quiet && (!output.Is("table") || options.summary)) PrintFaults(decisions, io.err);
  const Printers printers = {
      .document =
          [&] {
            return offline::ResultsJson(decisions, evaluation->skipped, options.only_findings);
          },
      .names = [&] { return NamesOf(decisions, options.print_denied); },
      .text =
          [&](std::ostream& out, bool) {
            if (options.summary) {
              PrintSummary(report(false), options.only_findings, paint, out);
            } else {
              PrintTable(decisions, options.only_findings, paint, io.width, out);
            }
          }};
  int exit_code = ExitCode(decisions);
  if (output.Is("patch")) {
    PrintPatch(decisions, options.print_denied, io.out);
  } else if (output.Is("diff")) {
    PrintDiff(decisions, paint, io.out);
  } else if (output.Is("yaml")) {
    PrintYaml(decisions, options.print_denied, io.out);
  } else if (is_report) {
    PrintReport(output.word, report(options.only_findings), io.out);
  } else {
    exit_code = std::max(exit_code, PrintOutput(output, printers, io));
  }
  io.out.flush();  // on a terminal, objects come before their findings
  if (!is_report && !output.Is("table") && !output.Is("json") && !output.Is("jsonpath")) {
    PrintFindings(decisions, options.strict, Paint(options.color, io.err_is_terminal), io.err);
  }
  if (!quiet) offline::PrintSkipped(evaluation->skipped, io.err);
  return exit_code;
}

void AddApply(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<ApplyOptions>();
  CLI::App* command = parent.add_subcommand(
      "apply", "Show what admission would change in manifests, and what it would deny");
  AddInputOptions(*command, options->input);
  std::vector<std::string> formats = {"yaml", "json", "name", "jsonpath", "patch", "diff", "table"};
  for (std::string& format : ReportFormats()) formats.push_back(std::move(format));
  AddOutputOption(*command, options->output, formats, "OUTPUT")
      ->description(
          "Output format: yaml prints the admitted objects after mutation, jsonpath reads the "
          "document that json prints, and sarif, junit, github, gitlab and html report findings");
  command->add_flag("--strict", options->strict, "Treat warnings as denials")
      ->envname("MINDGATE_STRICT");
  command
      ->add_flag("--print-denied", options->print_denied,
                 "Include denied objects in yaml, name and patch output. They are left out by "
                 "default, so that a pipe never passes them on")
      ->envname("MINDGATE_PRINT_DENIED");
  command
      ->add_flag("--only-findings", options->only_findings,
                 "List only objects with findings in table, json, jsonpath, junit and html output. "
                 "Outcomes of all objects are counted")
      ->envname("MINDGATE_ONLY_FINDINGS");
  command
      ->add_flag("--summary", options->summary,
                 "Count findings by rule and by file instead of listing them, the worst first. "
                 "Needs -o table")
      ->envname("MINDGATE_SUMMARY");
  AddColorOption(*command, options->color);
  command->footer(
      R"(Exit codes: 0 everything was admitted, 1 something was denied, 2 the input or the arguments are invalid.
In folders, documents that are not Kubernetes objects and templates of Helm charts are skipped and counted.

Examples:
  mindgate apply -f job.yaml                       print the object as it would be stored
  mindgate apply -f manifests/ -o table            check a folder and list every finding
  mindgate apply -f manifests/ -o table --summary  count the findings by rule and by file
  mindgate apply -f manifests/ -o sarif            report findings to a code scanning service
  mindgate apply -f job.yaml -o diff               show what is changed
  mindgate apply -f job.yaml | kubectl apply -f -  mutate without a webhook; denied objects are not applied
  mindgate apply -k overlays/prod -o table         check the output of kustomize
  helm template . | mindgate apply -f - -o table   check the output of a chart
  kubectl get deploy llm -o yaml | mindgate apply -f - -o table
  mindgate apply -f new.yaml --old old.yaml        check an update)");
  command->callback([options, &io, &exit_code] {
    options->input.now = SystemClock().WallNow();
    exit_code = RunApply(*options, io);
  });
}

}  // namespace mindgate::cli
