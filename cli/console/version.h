#pragma once

#include <string>

#include "cli/console/streams.h"

namespace mindgate::cli {

// Prints "mindgate 0.1.0", or a JSON object with build information.
int RunVersion(const std::string& output, Streams& io);

}  // namespace mindgate::cli
