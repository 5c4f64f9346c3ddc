#include "schemas/config.h"

#include <CLI/CLI.hpp>
#include <istream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/config_files.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/manifests/manifests.h"
#include "json/pointer.h"
#include "json/yaml.h"
#include "offline/evaluate.h"
#include "offline/inputs.h"
#include "offline/report.h"
#include "offline/suite.h"
#include "policies/site/site_policies.h"
#include "simulation/scenario_table.h"

namespace mindgate::cli {
namespace {

constexpr std::chrono::days kSoon(30);

// An exception that expires unnoticed makes objects fail that were admitted the day before.
void WarnOfEnds(const schemas::Config& config, const offline::InputText& input, Time now,
                Streams& io) {
  const auto documents = json::DecodeYaml(input.text);
  for (size_t i = 0; i < config.exceptions.size(); ++i) {
    const schemas::Exception& exception = config.exceptions[i];
    if (exception.expires - now > kSoon) continue;
    const std::string path = "/exceptions/" + std::to_string(i) + "/expires";
    json::Issue issue;
    if (documents && !documents->empty()) issue.at = documents->front().positions.At(path);
    const bool ended = exception.expires <= now;
    issue.message = "warning: the exception of " + exception.owner + " for " +
                    Join(exception.rules, ", ") + (ended ? " expired on " : " expires on ") +
                    FormatTime(exception.expires) +
                    (ended ? " and has no effect: the objects it covered are checked again"
                           : ": the objects it covers are checked again from then on");
    issue.hint =
        ended ? "remove it, or set a later date" : "fix the objects by then, or set a later date";
    io.err << json::Render(issue, input.name, input.text);
  }
}

// A policy may be named before it is there. Those of ConfigMaps are not known here.
void WarnOfUnknownPolicies(const schemas::Config& config, const offline::InputText& input,
                           Streams& io) {
  if (config.policy_sources.config_maps) return;
  const auto documents = json::DecodeYaml(input.text);
  const auto check = [&](const std::string& id, const std::string& path) {
    if (!id.starts_with(policies::kPolicyPrefix)) return;
    if (config.policies != nullptr && config.policies->Find(id) != nullptr) return;
    json::Issue issue;
    if (documents && !documents->empty()) issue.at = documents->front().positions.At(path);
    issue.message = "warning: no policy " + Quote(id.substr(policies::kPolicyPrefix.size())) +
                    " is bound here, so this has no effect";
    issue.hint = "name its file under policies.files, or give --policies";
    io.err << json::Render(issue, input.name, input.text);
  };
  for (const auto& rule : config.rules) check(rule.first, json::Child("/rules", rule.first));
  for (size_t i = 0; i < config.namespaces.size(); ++i) {
    const std::string rules = json::Child("/namespaces", i) + "/rules";
    for (const auto& rule : config.namespaces[i].rules)
      check(rule.first, json::Child(rules, rule.first));
  }
  for (size_t i = 0; i < config.exceptions.size(); ++i) {
    const std::string rules = json::Child("/exceptions", i) + "/rules";
    const auto& all = config.exceptions[i].rules;
    for (size_t j = 0; j < all.size(); ++j) check(all[j], json::Child(rules, j));
  }
}

}  // namespace

int RunConfigValidate(const std::string& path, const std::vector<std::string>& policies, Time now,
                      Streams& io) {
  const offline::InputText input = std::move(offline::ReadInputs({path}, io.in).front());
  if (!input.fault.empty()) {
    PrintError(io.err, path + ": " + input.fault);
    return kExitUnusable;
  }
  json::Issues warnings;
  auto config = schemas::LoadConfig(input.text, admission::KnownNames(), &warnings);
  if (!config) {
    io.err << json::Render(config.error(), input.name, input.text);
    return kExitUnusable;
  }
  io.err << json::Render(warnings, input.name, input.text);
  WarnOfEnds(*config, input, now, io);
  if (!offline::LoadPolicies(path, policies, *config, io.err)) return kExitUnusable;
  WarnOfUnknownPolicies(*config, input, io);
  io.out << input.name << ": valid, generation " << config->generation << "\n";
  return kExitDone;
}

int RunConfigSchema(const std::string& format, Streams& io) {
  const auto schema = format == "suite"      ? offline::SuiteSchema()
                      : format == "scenario" ? simulation::ScenarioSchema()
                                             : schemas::ConfigSchema(admission::KnownNames());
  io.out << offline::Dump(schema) << "\n";
  return kExitDone;
}

int RunConfigDefaults(Streams& io) {
  io.out << schemas::DefaultConfigFile(admission::KnownNames());
  return kExitDone;
}

void AddConfig(CLI::App& parent, Streams& io, int& exit_code) {
  CLI::App* command =
      parent.add_subcommand("config", "Validate mindgate.yaml, and print its schema and defaults");
  command->require_subcommand(1);
  command->footer(R"(Examples:
  mindgate config defaults > mindgate.yaml    start from a commented file with all defaults
  mindgate config validate mindgate.yaml      report every error with its position
  mindgate config schema > mindgate.schema.json   for validation in an editor)");

  auto path = std::make_shared<std::string>();
  CLI::App* validate =
      command->add_subcommand("validate", "Report every error in a configuration file");
  validate->add_option("FILE", *path, "Configuration file, or - for standard input")
      ->required()
      ->type_name("")
      ->envname("MINDGATE_CONFIG");
  auto policies = std::make_shared<std::vector<std::string>>();
  AddPoliciesOption(*validate, *policies);
  validate->footer("Example:\n  mindgate config validate mindgate.yaml");
  validate->callback([path, policies, &io, &exit_code] {
    exit_code = RunConfigValidate(*path, *policies, SystemClock().WallNow(), io);
  });

  CLI::App* schema = command->add_subcommand(
      "schema", "Print the JSON Schema (draft 7) of mindgate.yaml, test suites or scenarios");
  auto format = std::make_shared<std::string>("config");
  SetChoices(*schema->add_option("FORMAT", *format, "The file format")
                  ->type_name("")
                  ->capture_default_str()
                  ->envname("MINDGATE_CONFIG_SCHEMA_FORMAT"),
             {"config", "suite", "scenario"});
  schema->footer(
      "Examples:\n  mindgate config schema > mindgate.schema.json\n"
      "  mindgate config schema scenario > scenario.schema.json");
  schema->callback([format, &io, &exit_code] { exit_code = RunConfigSchema(*format, io); });

  CLI::App* defaults =
      command->add_subcommand("defaults", "Print a commented configuration file with all defaults");
  defaults->footer("Example:\n  mindgate config defaults > mindgate.yaml");
  defaults->callback([&io, &exit_code] { exit_code = RunConfigDefaults(io); });
}

}  // namespace mindgate::cli
