#include "cli/explain.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/clock.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/evaluate.h"
#include "cli/explain_print.h"
#include "cli/print.h"
#include "cli/results_json.h"
#include "cli/rule_text.h"
#include "mutators/mutator.h"
#include "policies/engine.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using policies::Rule;

OrderedJson RuleJson(const Rule& rule, const schemas::Config& config) {
  return {{"rule", rule.id},
          {"name", rule.name},
          {"severity", policies::SeverityName(rule.severity)},
          {"mode", schemas::ModeName(policies::ModeFor(rule, config, ""))},
          {"defaultMode", schemas::ModeName(rule.default_mode)},
          {"kinds", KindsOf(rule)},
          {"summary", rule.summary},
          {"why", rule.why},
          {"fix", rule.fix},
          {"source", rule.source}};
}

OrderedJson MutatorJson(const mutators::Mutator& mutator) {
  return {{"mutator", mutator.name}, {"summary", mutator.summary}};
}

int ListAll(const ExplainOptions& options, const schemas::Config& config, Streams& io) {
  if (options.output == "json") {
    OrderedJson rules = OrderedJson::array();
    for (const Rule* rule : policies::Catalogue()) rules.push_back(RuleJson(*rule, config));
    OrderedJson writers = OrderedJson::array();
    for (const auto& mutator : mutators::Mutators()) writers.push_back(MutatorJson(mutator));
    io.out << Dump({{"rules", std::move(rules)}, {"mutators", std::move(writers)}}) << "\n";
    return kExitDone;
  }
  const Paint paint(options.color, io.out_is_terminal);
  size_t width = 0;
  for (const Rule* rule : policies::Catalogue()) width = std::max(width, rule->name.size());
  for (const auto& mutator : mutators::Mutators()) width = std::max(width, mutator.name.size());
  io.out << paint(Color::kBold, "RULE   " + Padded("NAME", width) + "  MODE     WHAT MUST HOLD")
         << "\n";
  for (const Rule* rule : policies::Catalogue()) {
    const auto mode = schemas::ModeName(policies::ModeFor(*rule, config, ""));
    io.out << Padded(rule->id, 5) << "  " << Padded(rule->name, width) << "  " << Padded(mode, 7)
           << "  " << rule->summary << "\n";
  }
  io.out << "\n"
         << paint(Color::kBold, "       " + Padded("MUTATOR", width) + "           WHAT IT WRITES")
         << "\n";
  for (const auto& mutator : mutators::Mutators()) {
    const bool off = config.disabled_mutators.contains(mutator.name);
    io.out << "       " << Padded(mutator.name, width) << "  " << Padded(off ? "off" : "on", 7)
           << "  " << mutator.summary << "\n";
  }
  return kExitDone;
}

int ExplainTopic(const ExplainOptions& options, const schemas::Config& config, Streams& io) {
  const bool as_json = options.output == "json";
  if (const Rule* rule = policies::FindRule(options.topic)) {
    io.out << (as_json ? Dump(RuleJson(*rule, config)) + "\n" : RuleDocument(*rule, config));
    return kExitDone;
  }
  std::vector<std::string_view> known;
  for (const auto& mutator : mutators::Mutators()) {
    if (mutator.name == options.topic) {
      io.out << (as_json ? Dump(MutatorJson(mutator)) + "\n"
                         : std::string(mutator.name) + " (mutator)\n\n  " +
                               std::string(mutator.summary) + "\n");
      return kExitDone;
    }
    known.push_back(mutator.name);
  }
  for (const Rule* rule : policies::Catalogue()) {
    known.push_back(rule->id);
    known.push_back(rule->name);
  }
  const auto near = NearestOf(options.topic, known);
  PrintError(io.err, "there is no rule or mutator " + Quote(options.topic),
             near ? "did you mean " + Quote(*near) + "?" : "`mindgate explain` lists all of them");
  return kExitUnusable;
}

int WritePages(const std::string& folder, Streams& io) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto write = [&folder](const std::string& name, const std::string& text) {
    std::ofstream file(std::filesystem::path(folder) / name, std::ios::binary);
    file << text;
    return file.flush().good();
  };
  bool fine = !error && write("README.md", RuleIndexPage());
  for (const Rule* rule : policies::Catalogue()) {
    fine = fine && write(RulePageName(*rule), RulePage(*rule));
  }
  if (fine) return kExitDone;
  PrintError(io.err, "cannot write the pages to " + folder);
  return kExitUnusable;
}

int ExplainFiles(const ExplainOptions& options, Streams& io) {
  const auto evaluation = Evaluate(options.input, {.explain = true}, io);
  if (!evaluation) return kExitUnusable;
  PrintFaults(evaluation->decisions, io.err);
  if (options.output == "json") {
    io.out << Dump(ExplanationJson(evaluation->decisions)) << "\n";
  } else {
    PrintExplanation(evaluation->decisions, Paint(options.color, io.out_is_terminal), io.out);
  }
  return ExitCode(evaluation->decisions);
}

}  // namespace

int RunExplain(const ExplainOptions& options, Streams& io) {
  if (!options.markdown_folder.empty()) return WritePages(options.markdown_folder, io);
  if (!options.input.files.empty()) {
    if (options.topic.empty()) return ExplainFiles(options, io);
    PrintError(io.err, "both files and the rule " + Quote(options.topic) + " are named",
               "name one of them");
    return kExitUnusable;
  }
  const auto config = LoadConfigFile(options.input.config_file, io.err);
  if (!config) return kExitUnusable;
  return options.topic.empty() ? ListAll(options, *config, io) : ExplainTopic(options, *config, io);
}

void AddExplain(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = parent.add_subcommand(
      "explain", "Say rule by rule what happens to objects and why, or what a rule means");
  command->add_option("RULE", options->topic, "A rule or mutator, by id or name")->type_name("");
  AddInputOptions(*command, options->input);
  SetChoices(*command->add_option("-o,--output", options->output, "What to print")
                  ->capture_default_str()
                  ->envname("MINDGATE_EXPLAIN_OUTPUT"),
             {"text", "json"});
  AddColorOption(*command, options->color);
  command->add_option("--markdown", options->markdown_folder)->group("");
  command->footer(R"(Examples:
  mindgate explain                       list all rules and mutators
  mindgate explain MG050                 what the rule checks, why, and what to write instead
  mindgate explain -f job.yaml           which rules matched, what was injected and what was withheld
  mindgate explain -f job.yaml -o json)");
  command->callback([options, &io, &exit_code] {
    options->input.now = SystemClock().WallNow();
    exit_code = RunExplain(*options, io);
  });
}

}  // namespace mindgate::cli
