#include "cli/config.h"

#include <CLI/CLI.hpp>
#include <istream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/known_names.h"
#include "cli/commands.h"
#include "cli/evaluate.h"
#include "cli/inputs.h"
#include "cli/results_json.h"
#include "schemas/config_load.h"

namespace mindgate::cli {

int RunConfigValidate(const std::string& path, Streams& io) {
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
  validate->callback([path, &io, &exit_code] { exit_code = RunConfigValidate(*path, io); });

  CLI::App* schema = command->add_subcommand("schema", "Print the JSON Schema (draft 7)");
  schema->footer("Example:\n  mindgate config schema > mindgate.schema.json");
  schema->callback([&io, &exit_code] { exit_code = RunConfigSchema(io); });

  CLI::App* defaults =
      command->add_subcommand("defaults", "Print a commented file of all defaults");
  defaults->footer("Example:\n  mindgate config defaults > mindgate.yaml");
  defaults->callback([&io, &exit_code] { exit_code = RunConfigDefaults(io); });
}

}  // namespace mindgate::cli
