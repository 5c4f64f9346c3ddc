#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "admission/mutators/mutator.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/print.h"
#include "cli/console/terminal.h"
#include "cli/manifests/explain_text.h"
#include "cli/manifests/manifests.h"
#include "json/yaml.h"
#include "offline/evaluate.h"
#include "offline/report.h"
#include "policies/engine.h"
#include "policies/site/site_policies.h"
#include "schemas/kinds.h"
#include "schemas/names.h"

namespace mindgate::cli {

using json::Json;

namespace {

// The one mutator that adds to lists of what people write.
constexpr std::string_view kListMutator = "visible-devices";

}  // namespace

Json ArgocdSettings(const schemas::Config& config) {
  Json ignored = Json::array();
  const std::string path = ".spec | .. | .env? | arrays | .[] | select(.name? == \"" +
                           std::string(schemas::kVisibleDevices) + "\")";
  for (const schemas::KindInfo& info : schemas::kKinds) {
    if (info.built_in || !schemas::kPodMakers.Has(info.kind)) continue;
    if (config.disabled_mutators.contains(kListMutator)) continue;
    ignored.push_back({{"group", std::string(info.group)},
                       {"kind", std::string(info.name)},
                       {"jqPathExpressions", Json::array({path})}});
  }
  return {{"ignoreDifferences", std::move(ignored)}};
}

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
  return {{"mutator", mutator.name},
          {"summary", mutator.summary},
          {"writes", mutator.writes},
          {"where", mutator.where},
          {"withheld", mutator.withheld}};
}

OrderedJson KeyJson(const schemas::KeyFact& fact) {
  return {{"key", fact.key},       {"is", schemas::KeyWhereName(fact.where)},
          {"place", fact.place},   {"values", fact.values},
          {"reader", fact.reader}, {"effect", fact.effect}};
}

// The catalogue, and the policies of the site.
std::vector<const Rule*> AllRules(const schemas::Config& config) {
  std::vector<const Rule*> rules = policies::Catalogue();
  if (config.policies != nullptr) {
    rules.insert(rules.end(), config.policies->rules().begin(), config.policies->rules().end());
  }
  return rules;
}

// What all rules, mutators and keys are called as a topic.
constexpr std::string_view kLists[] = {"rules", "mutators", "keys"};

int ListAll(const ExplainOptions& options, const schemas::Config& config, Streams& io) {
  const auto wanted = [&](std::string_view list) {
    return options.topics.empty() || options.topics.front() == list;
  };
  if (options.output == "json") {
    OrderedJson lists = OrderedJson::object();
    if (wanted("rules")) {
      OrderedJson& rules = lists["rules"] = OrderedJson::array();
      for (const Rule* rule : AllRules(config)) rules.push_back(RuleJson(*rule, config));
    }
    if (wanted("mutators")) {
      OrderedJson& writers = lists["mutators"] = OrderedJson::array();
      for (const auto& mutator : mutators::Mutators()) writers.push_back(MutatorJson(mutator));
    }
    if (wanted("keys")) {
      OrderedJson& keys = lists["keys"] = OrderedJson::array();
      for (const schemas::KeyFact& fact : schemas::KeyFacts()) keys.push_back(KeyJson(fact));
    }
    io.out << offline::Dump(lists) << "\n";
    return kExitDone;
  }
  const Paint paint(options.color, io.out_is_terminal);
  size_t width = 0;
  for (const Rule* rule : AllRules(config)) width = std::max(width, rule->name.size());
  for (const auto& mutator : mutators::Mutators()) width = std::max(width, mutator.name.size());
  for (const schemas::KeyFact& fact : schemas::KeyFacts()) width = std::max(width, fact.key.size());
  const std::string_view between = options.topics.empty() ? "\n" : "";
  if (wanted("rules")) {
    io.out << paint(Color::kBold, "RULE   " + Padded("NAME", width) + "  MODE     WHAT MUST HOLD")
           << "\n";
    for (const Rule* rule : AllRules(config)) {
      const auto mode = schemas::ModeName(policies::ModeFor(*rule, config, ""));
      const std::string_view id = rule->site == nullptr ? rule->id : "policy";
      io.out << Padded(id, 6) << " " << Padded(rule->name, width) << "  " << Padded(mode, 7) << "  "
             << WrappedCell(rule->summary, io.width, width + 18) << "\n";
    }
  }
  if (wanted("mutators")) {
    io.out << between
           << paint(Color::kBold,
                    "       " + Padded("MUTATOR", width) + "           WHAT IT WRITES")
           << "\n";
    for (const auto& mutator : mutators::Mutators()) {
      const bool off = config.disabled_mutators.contains(mutator.name);
      io.out << "       " << Padded(mutator.name, width) << "  " << Padded(off ? "off" : "on", 7)
             << "  " << WrappedCell(mutator.summary, io.width, width + 18) << "\n";
    }
  }
  if (wanted("keys")) {
    io.out << between
           << paint(Color::kBold,
                    "       " + Padded("LABEL OR ANNOTATION", width) + "           WHAT IT DOES")
           << "\n";
    for (const schemas::KeyFact& fact : schemas::KeyFacts()) {
      io.out << "       " << Padded(fact.key, width) << "           "
             << WrappedCell(fact.effect, io.width, width + 18) << "\n";
    }
  }
  return kExitDone;
}

// What a topic refers to: a rule, a mutator, a label or annotation, or one of each.
struct Topic {
  const Rule* rule = nullptr;
  const mutators::Mutator* mutator = nullptr;
  const schemas::KeyFact* key = nullptr;

  bool empty() const { return rule == nullptr && mutator == nullptr && key == nullptr; }
};

constexpr std::string_view kRule = "rule/";
constexpr std::string_view kMutator = "mutator/";
constexpr std::string_view kKey = "key/";

Topic TopicNamed(std::string_view text, const schemas::Config& config) {
  const bool only_rule = text.starts_with(kRule);
  const bool only_mutator = text.starts_with(kMutator);
  const bool only_key = text.starts_with(kKey);
  if (only_rule) text.remove_prefix(kRule.size());
  if (only_mutator) text.remove_prefix(kMutator.size());
  if (only_key) text.remove_prefix(kKey.size());
  Topic topic;
  if (!only_rule && !only_mutator) topic.key = schemas::KeyNamed(text);
  if (only_key) return topic;
  if (!only_mutator) topic.rule = policies::FindRule(text, config);
  if (only_rule) return topic;
  for (const auto& mutator : mutators::Mutators()) {
    if (mutator.name == text) topic.mutator = &mutator;
  }
  return topic;
}

void PrintUnknown(const std::string& word, const schemas::Config& config, std::ostream& err) {
  std::vector<std::string> names;
  for (const auto& mutator : mutators::Mutators()) {
    names.emplace_back(mutator.name);
    names.push_back(std::string(kMutator) + std::string(mutator.name));
  }
  for (const Rule* rule : AllRules(config)) {
    names.emplace_back(rule->id);
    names.emplace_back(rule->name);
    names.push_back(std::string(kRule) + std::string(rule->name));
  }
  for (const schemas::KeyFact& fact : schemas::KeyFacts()) names.emplace_back(fact.key);
  const auto near = NearestOf(word, names);
  PrintError(err, "unknown rule, mutator or key " + Quote(word),
             near           ? "did you mean " + Quote(*near) + "?"
             : IsFile(word) ? "to explain the objects of a file, write -f " + word
                            : "`mindgate explain` lists all of them");
}

int ExplainTopics(const ExplainOptions& options, const schemas::Config& config, Streams& io) {
  OrderedJson rules = OrderedJson::array();
  OrderedJson writers = OrderedJson::array();
  OrderedJson keys = OrderedJson::array();
  std::string text;
  for (const std::string& word : options.topics) {
    const Topic topic = TopicNamed(word, config);
    if (topic.empty()) {
      PrintUnknown(word, config, io.err);
      return kExitUnusable;
    }
    if (topic.rule != nullptr) {
      rules.push_back(RuleJson(*topic.rule, config));
      text += (text.empty() ? "" : "\n") + RuleDocument(*topic.rule, config, io.width);
    }
    if (topic.mutator != nullptr) {
      writers.push_back(MutatorJson(*topic.mutator));
      text += (text.empty() ? "" : "\n") + MutatorDocument(*topic.mutator, config, io.width);
    }
    if (topic.key != nullptr) {
      keys.push_back(KeyJson(*topic.key));
      text += (text.empty() ? "" : "\n") + KeyDocument(*topic.key, io.width);
    }
  }
  if (options.output != "json") {
    io.out << text;
  } else if (rules.size() + writers.size() + keys.size() == 1) {
    const OrderedJson& only = !rules.empty() ? rules : !writers.empty() ? writers : keys;
    io.out << offline::Dump(only.front()) << "\n";
  } else {
    io.out << offline::Dump({{"rules", std::move(rules)},
                             {"mutators", std::move(writers)},
                             {"keys", std::move(keys)}})
           << "\n";
  }
  return kExitDone;
}

int PrintArgocdSettings(const ExplainOptions& options, const schemas::Config& config, Streams& io) {
  const json::Json settings = ArgocdSettings(config);
  io.out << (options.output == "json" ? settings.dump(2) + "\n" : json::EncodeYaml(settings));
  return kExitDone;
}

int WritePages(const std::string& folder, Streams& io) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto write = [&folder](const std::string& name, const std::string& text) {
    std::ofstream file(std::filesystem::path(folder) / name, std::ios::binary);
    file << text;
    return file.flush().good();
  };
  if (!error && write("rules.md", RulePage()) && write("keys.md", KeyPage()) &&
      write("mutators.md", MutatorPage())) {
    return kExitDone;
  }
  PrintError(io.err, "cannot write pages to " + folder);
  return kExitUnusable;
}

int ExplainFiles(const ExplainOptions& options, Streams& io) {
  const auto evaluation = offline::Evaluate(options.input, {.explain = true}, io.in, io.err);
  if (!evaluation) return kExitUnusable;
  PrintFaults(evaluation->decisions, io.err);
  if (options.output == "json") {
    io.out << offline::Dump(ExplanationJson(evaluation->decisions, evaluation->skipped)) << "\n";
  } else {
    PrintExplanation(evaluation->decisions, options.all, Paint(options.color, io.out_is_terminal),
                     io.width, io.out);
  }
  io.out.flush();
  offline::PrintSkipped(evaluation->skipped, io.err);
  return ExitCode(evaluation->decisions);
}

}  // namespace

int RunExplain(const ExplainOptions& options, Streams& io) {
  if (!options.markdown_folder.empty()) return WritePages(options.markdown_folder, io);
  const bool files = !options.input.files.empty() || !options.input.kustomizations.empty();
  if (options.argocd && (files || !options.topics.empty() || !options.fault_codes.empty())) {
    PrintError(io.err, "--argocd prints settings for all kinds, and explains nothing else",
               "run the command twice");
    return kExitUnusable;
  }
  if (!options.fault_codes.empty()) {
    if (options.topics.empty() && !files) {
      return ExplainFaults(options.fault_codes, options.output, options.color, io);
    }
    PrintError(io.err, "--fault explains fault codes, not rules or files", "run the command twice");
    return kExitUnusable;
  }
  if (files) {
    if (options.topics.empty()) return ExplainFiles(options, io);
    PrintError(io.err, "both files and the rule " + Quote(options.topics.front()) + " are given",
               "-f takes one path: write -f " + options.topics.front() +
                   " if it is another file, else remove -f");
    return kExitUnusable;
  }
  const auto config =
      offline::LoadConfigFile(options.input.config_file, io.err, options.input.policies);
  if (!config) return kExitUnusable;
  if (options.argocd) return PrintArgocdSettings(options, *config, io);
  const bool list = options.topics.empty() || (options.topics.size() == 1 &&
                                               std::ranges::count(kLists, options.topics[0]) > 0);
  return list ? ListAll(options, *config, io) : ExplainTopics(options, *config, io);
}

void AddExplain(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = parent.add_subcommand(
      "explain", "Explain rules, mutators and keys, or their effect on objects");
  command
      ->add_option(
          "RULE", options->topics,
          "Rules and mutators by ID or name, and labels and annotations of MindCluster. If "
          "several share a name, rule/NAME, mutator/NAME and key/NAME select one")
      ->type_name("");
  command
      ->add_option("--fault", options->fault_codes,
                   "Explain a fault code of MindCluster, such as 80E18005: its level, and what it "
                   "leads to")
      ->type_name("CODE")
      ->allow_extra_args(false)
      ->envname("MINDGATE_EXPLAIN_FAULT");
  command
      ->add_flag(
          "--argocd", options->argocd,
          "Print what Argo CD must ignore of objects that are injected: ignoreDifferences of "
          "an Application")
      ->envname("MINDGATE_EXPLAIN_ARGOCD");
  AddInputOptions(*command, options->input);
  SetChoices(*command->add_option("-o,--output", options->output, "Output format")
                  ->capture_default_str()
                  ->envname("MINDGATE_EXPLAIN_OUTPUT"),
             {"text", "json"});
  command
      ->add_flag("-v,--all", options->all,
                 "Also list rules that passed, are off or do not apply to the objects")
      ->envname("MINDGATE_EXPLAIN_ALL");
  AddColorOption(*command, options->color);
  command->add_option("--markdown", options->markdown_folder)->group("");
  command->footer(R"(Examples:
  mindgate explain                       list all rules, mutators and keys
  mindgate explain mutators              only what mindgate writes; also: rules, keys
  mindgate explain MG050                 what a rule checks, why, and how to comply
  mindgate explain scheduler-name        what a mutator writes, where, and when it does not
  mindgate explain mutator/visible-devices  the mutator, not the rule of that name
  mindgate explain sp-block              who reads a label or annotation, where, and which values
  mindgate explain --fault 80E18005      what a fault code means, and what happens to pods
  mindgate explain --argocd              what Argo CD must ignore of objects that are injected
  mindgate explain policy/NAME --policies DIR  what a policy of your own demands
  mindgate explain -f job.yaml           what was injected, what was not, and which rules failed
  mindgate explain -f job.yaml --all     the result of every rule
  mindgate explain -f job.yaml -o json)");
  command->callback([options, &io, &exit_code] {
    options->input.now = SystemClock().WallNow();
    exit_code = RunExplain(*options, io);
  });
}

}  // namespace mindgate::cli
