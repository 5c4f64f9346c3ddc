#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/service.h"

// Every flag has an environment variable, by one rule: MINDGATE_ and the flag's long name. Where
// the name means the same in several commands they share it (MINDGATE_CONTEXT); else the command
// stands between (MINDGATE_STATUS_OUTPUT).
namespace mindgate::cli {

// An option with the variable MINDGATE_`variable`.
template <typename T>
CLI::Option* AddFlag(CLI::App& command, const std::string& name, T& value,
                     const std::string& description, const std::string& variable,
                     const std::string& type) {
  return command.add_option(name, value, description)
      ->capture_default_str()
      ->envname("MINDGATE_" + variable)
      ->type_name(type);
}

// One that is there or not.
inline CLI::Option* AddSwitch(CLI::App& command, const std::string& name, bool& value,
                              const std::string& description, const std::string& variable) {
  return command.add_flag(name, value, description)->envname("MINDGATE_" + variable);
}

// --dry-run as kubectl has it: none, client or server, client when no word is given. Without
// `server` nothing asks a server, and that word is refused with the reason.
enum class DryRun { kNone, kClient, kServer };
std::string_view DryRunName(DryRun dry_run);
CLI::Option* AddDryRun(CLI::App& command, DryRun& value, const std::string& description,
                       const std::string& variable, bool server);

void AddLogFlags(CLI::App& command, LogOptions& options);

}  // namespace mindgate::cli
