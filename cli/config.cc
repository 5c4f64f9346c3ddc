#include "cli/config.h"

#include <CLI/CLI.hpp>
#include <istream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/known_names.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/evaluate.h"
#include "cli/inputs.h"
#include "cli/results_json.h"
#include "json/yaml.h"
#include "schemas/config_load.h"

namespace mindgate::cli {

namespace {

constexpr std::chrono::days kSoon(30);

// An exception that ends unnoticed makes objects be denied that were admitted the day before.
void WarnOfEnds(const schemas::Config& config, const InputText& input, Time now, Streams& io) {
  const auto documents = json::DecodeYaml(input.text);
  for (size_t i = 0; i < config.exceptions.size(); ++i) {
    const schemas::Exception& exception = config.exceptions[i];
    if (exception.expires - now > kSoon) continue;
    const std::string path = "/exceptions/" + std::to_string(i) + "/expires";
    json::Issue issue;
    if (documents && !documents->empty()) issue.at = documents->front().positions.At(path);
    const bool ended = exception.expires <= now;
    issue.message = "warning: the exception of " + exception.owner + " for " +
                    Join(exception.rules, ", ") + (ended ? " ended on " : " ends on ") +
                    FormatTime(exception.expires) +
                    (ended ? " and has no effect: what it let through is judged again"
                           : ": what it lets through is judged again from then on");
    issue.hint = ended ? "remove it, or give it a later date"
                       : "mend the objects until then, or give it a later date";
    io.err << json::Render(issue, input.name, input.text);
  }
}

}  // namespace

int RunConfigValidate(const std::string& path, Time now, Streams& io) {
  const InputText input = std::move(ReadInputs({path}, io.in).front());
  if (!input.fault.empty()) {
    PrintError(io.err, path + ": " + input.fault);
    return kExitUnusable;
  }
  const auto config = schemas::LoadConfig(input.text, admission::KnownNames());
  if (!config) {
    io.err << json::Render(config.error(), input.name, input.text);
    return kExitUnusable;
  }
  WarnOfEnds(*config, input, now, io);
  io.out << input.name << ": fine, generation " << config->generation << "\n";
  return kExitDone;
}

int RunConfigSchema(Streams& io) {
  io.out << Dump(schemas::ConfigSchema(admission::KnownNames())) << "\n";
  return kExitDone;
}

int RunConfigDefaults(Streams& io) {
  io.out << schemas::DefaultConfigFile(admission::KnownNames());
  return kExitDone;
}

void AddConfig(CLI::App& parent, Streams& io, int& exit_code) {
  CLI::App* command = parent.add_subcommand("config", "Check and describe mindgate.yaml");
  command->require_subcommand(1);
  command->footer(R"(Examples:
  mindgate config defaults > mindgate.yaml    begin with a commented file of all defaults
  mindgate config validate mindgate.yaml      find every fault, with its place
  mindgate config schema > mindgate.schema.json   let an editor check it while you type)");

  auto path = std::make_shared<std::string>();
  CLI::App* validate = command->add_subcommand("validate", "Find every fault of a configuration");
  validate->add_option("FILE", *path, "The configuration file, - for standard input")
      ->required()
      ->type_name("")
      ->envname("MINDGATE_CONFIG");
  validate->footer("Example:\n  mindgate config validate mindgate.yaml");
  validate->callback([path, &io, &exit_code] {
    exit_code = RunConfigValidate(*path, SystemClock().WallNow(), io);
  });

  CLI::App* schema = command->add_subcommand("schema", "Print the JSON Schema (draft 7)");
  schema->footer("Example:\n  mindgate config schema > mindgate.schema.json");
  schema->callback([&io, &exit_code] { exit_code = RunConfigSchema(io); });

  CLI::App* defaults =
      command->add_subcommand("defaults", "Print a commented file of all defaults");
  defaults->footer("Example:\n  mindgate config defaults > mindgate.yaml");
  defaults->callback([&io, &exit_code] { exit_code = RunConfigDefaults(io); });
}

}  // namespace mindgate::cli
