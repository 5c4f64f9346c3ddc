#include "cli/apply.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/evaluate.h"
#include "cli/print.h"
#include "cli/results_json.h"

namespace mindgate::cli {

int RunApply(const ApplyOptions& options, Streams& io) {
  const auto evaluation = Evaluate(options.input, {.strict = options.strict}, io);
  if (!evaluation) return kExitUnusable;
  const auto& decisions = evaluation->decisions;
  const Paint paint(options.color, io.out_is_terminal);
  const OutputFormat& output = options.output;
  if (!output.Is("table")) PrintFaults(decisions, io.err);
  const Printers printers = {
      .document = [&] { return ResultsJson(decisions, evaluation->skipped); },
      .names = [&] { return NamesOf(decisions, options.print_denied); },
      .text = [&](std::ostream& out, bool) { PrintTable(decisions, paint, io.width, out); }};
  int exit_code = ExitCode(decisions);
  if (output.Is("patch")) {
    PrintPatch(decisions, options.print_denied, io.out);
  } else if (output.Is("diff")) {
    PrintDiff(decisions, paint, io.out);
  } else if (output.Is("yaml")) {
    PrintYaml(decisions, options.print_denied, io.out);
  } else {
    exit_code = std::max(exit_code, PrintOutput(output, printers, io));
  }
  io.out.flush();  // on a terminal the objects come before what is said about them
  if (!output.Is("table") && !output.Is("json") && !output.Is("jsonpath")) {
    PrintFindings(decisions, options.strict, Paint(options.color, io.err_is_terminal), io.err);
  }
  PrintSkipped(evaluation->skipped, io.err);
  return exit_code;
}

void AddApply(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<ApplyOptions>();
  CLI::App* command = parent.add_subcommand(
      "apply", "Run admission on manifests: what would be injected, what would be refused and why");
  AddInputOptions(*command, options->input);
  AddOutputOption(*command, options->output,
                  {"yaml", "json", "name", "jsonpath", "patch", "diff", "table"}, "OUTPUT")
      ->description(
          "What to print: yaml is the admitted objects after mutation, jsonpath reads the document "
          "that json prints");
  command->add_flag("--strict", options->strict, "Warnings deny as well")
      ->envname("MINDGATE_STRICT");
  command
      ->add_flag("--print-denied", options->print_denied,
                 "Print denied objects too, as yaml or patch; they are left out otherwise, so that "
                 "nothing denied is piped on")
      ->envname("MINDGATE_PRINT_DENIED");
  AddColorOption(*command, options->color);
  command->footer(
      R"(Exit code: 0 admitted, 1 something denied, 2 input or arguments that cannot be used.
In folders, what is not a Kubernetes object is skipped and counted, as are templates of Helm charts.

Examples:
  mindgate apply -f job.yaml                       print the object as it would be stored
  mindgate apply -f manifests/ -o table            check a folder and explain every finding
  mindgate apply -f job.yaml -o diff               show what is injected
  mindgate apply -f job.yaml | kubectl apply -f -  inject without a webhook; what is denied is not applied
  mindgate apply -k overlays/prod -o table         check what kustomize builds
  helm template . | mindgate apply -f - -o table   check what a chart makes
  kubectl get deploy llm -o yaml | mindgate apply -f - -o table
  mindgate apply -f new.yaml --old old.yaml        check an update)");
  command->callback([options, &io, &exit_code] {
    options->input.now = SystemClock().WallNow();
    exit_code = RunApply(*options, io);
  });
}

}  // namespace mindgate::cli
