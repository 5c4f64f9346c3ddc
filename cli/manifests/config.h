#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "cli/console/streams.h"

namespace mindgate::cli {

// Validates a mindgate.yaml and prints every error with excerpt and caret. Warns about exceptions
// that have expired at `now` or expire within a month. "-" is standard input.
// Its policies are those that it names, and those in `policies` (files and folders).
int RunConfigValidate(const std::string& path, const std::vector<std::string>& policies, Time now,
                      Streams& io);

// Prints the JSON Schema of a file format, with the rules and mutators of this binary: "config"
// (mindgate.yaml), "suite" or "scenario".
int RunConfigSchema(const std::string& format, Streams& io);

// Prints a commented mindgate.yaml with all defaults.
int RunConfigDefaults(Streams& io);

}  // namespace mindgate::cli
