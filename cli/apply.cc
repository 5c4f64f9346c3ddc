#include "cli/apply.h"

#include <CLI/CLI.hpp>
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
  if (options.output == "table") {
    PrintTable(decisions, paint, io.out);
    return ExitCode(decisions);
  }
  PrintFaults(decisions, io.err);
  if (options.output == "json") {
    io.out << Dump(ResultsJson(decisions)) << "\n";
    return ExitCode(decisions);
  }
  if (options.output == "patch") {
    PrintPatch(decisions, io.out);
  } else if (options.output == "diff") {
    PrintDiff(decisions, paint, io.out);
  } else {
    PrintYaml(decisions, io.out);
  }
  io.out.flush();  // on a terminal the objects come before what is said about them
  PrintFindings(decisions, options.strict, Paint(options.color, io.err_is_terminal), io.err);
  return ExitCode(decisions);
}

void AddApply(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<ApplyOptions>();
  CLI::App* command = parent.add_subcommand(
      "apply", "Run admission on manifests: what would be injected, what would be refused and why");
  AddInputOptions(*command, options->input);
  SetChoices(*command
                  ->add_option("-o,--output", options->output,
                               "What to print; yaml is the objects after mutation")
                  ->capture_default_str()
                  ->envname("MINDGATE_OUTPUT"),
             {"yaml", "json", "patch", "diff", "table"});
  command->add_flag("--strict", options->strict, "Warnings deny as well")
      ->envname("MINDGATE_STRICT");
  AddColorOption(*command, options->color);
  command->footer(
      R"(Exit code: 0 admitted, 1 something denied, 2 input or arguments that cannot be used.

Examples:
  mindgate apply -f job.yaml                       print the object as it would be stored
  mindgate apply -f manifests/ -o table            check a folder and explain every finding
  mindgate apply -f job.yaml -o diff               show what is injected
  mindgate apply -f job.yaml | kubectl apply -f -  inject without a webhook
  kubectl get deploy llm -o yaml | mindgate apply -f - -o table
  mindgate apply -f new.yaml --old old.yaml        check an update)");
  command->callback([options, &io, &exit_code] {
    options->input.now = SystemClock().WallNow();
    exit_code = RunApply(*options, io);
  });
}

}  // namespace mindgate::cli
