#pragma once

#include <string>

#include "base/time.h"
#include "cli/streams.h"

namespace mindgate::cli {

// Says that a mindgate.yaml is fine, or every fault of it with excerpt and caret. Exceptions that
// have ended at `now` or end within a month are warned of. "-" is standard input.
int RunConfigValidate(const std::string& path, Time now, Streams& io);

// The JSON Schema of mindgate.yaml, with the rules and mutators of this binary.
int RunConfigSchema(Streams& io);

// A mindgate.yaml of all defaults, commented.
int RunConfigDefaults(Streams& io);

}  // namespace mindgate::cli
