#include "cli/manifests/apply.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/clock.h"
#include "cli/console/commands.h"
#include "cli/console/print.h"
#include "offline/evaluate.h"
#include "offline/results_json.h"

namespace mindgate::cli {

int RunApply(const ApplyOptions& options, Streams& io) {
  const auto evaluation =
      offline::Evaluate(options.input, {.strict = options.strict}, io.in, io.err);
  if (!evaluation) return kExitUnusable;
  const auto& decisions = evaluation->decisions;
  const Paint paint(options.color, io.out_is_terminal);
  const OutputFormat& output = options.output;
  if (!output.Is("table")) PrintFaults(decisions, io.err);
  const Printers printers = {
      .document = [&] { return offline::ResultsJson(decisions, evaluation->skipped); },
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
  io.out.flush();  // on a terminal, objects come before their findings
  if (!output.Is("table") && !output.Is("json") && !output.Is("jsonpath")) {
    PrintFindings(decisions, options.strict, Paint(options.color, io.err_is_terminal), io.err);
  }
  offline::PrintSkipped(evaluation->skipped, io.err);
  return exit_code;
}

void AddApply(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<ApplyOptions>();
  CLI::App* command = parent.add_subcommand(
      "apply", "Show what admission would change in manifests, and what it would deny");
  AddInputOptions(*command, options->input);
  AddOutputOption(*command, options->output,
                  {"yaml", "json", "name", "jsonpath", "patch", "diff", "table"}, "OUTPUT")
      ->description(
          "Output format: yaml prints the admitted objects after mutation, jsonpath reads the "
          "document that json prints");
  command->add_flag("--strict", options->strict, "Treat warnings as denials")
      ->envname("MINDGATE_STRICT");
  command
      ->add_flag("--print-denied", options->print_denied,
                 "Include denied objects in yaml, name and patch output. They are left out by "
                 "default, so that a pipe never passes them on")
      ->envname("MINDGATE_PRINT_DENIED");
  AddColorOption(*command, options->color);
  command->footer(
      R"(Exit codes: 0 everything was admitted, 1 something was denied, 2 the input or the arguments are invalid.
In folders, documents that are not Kubernetes objects and templates of Helm charts are skipped and counted.

Examples:
  mindgate apply -f job.yaml                       print the object as it would be stored
  mindgate apply -f manifests/ -o table            check a folder and list every finding
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
