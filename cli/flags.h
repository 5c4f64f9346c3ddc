#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/service.h"

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

void AddLogFlags(CLI::App& command, LogOptions& options);

}  // namespace mindgate::cli
