#pragma once

#include <string>

#include "cli/streams.h"

namespace mindgate::cli {

// Says that a mindgate.yaml is fine, or every fault of it with excerpt and caret. "-" is standard
// input.
int RunConfigValidate(const std::string& path, Streams& io);

// The JSON Schema of mindgate.yaml, with the rules and mutators of this binary.
int RunConfigSchema(Streams& io);

// A mindgate.yaml of all defaults, commented.
int RunConfigDefaults(Streams& io);

}  // namespace mindgate::cli
