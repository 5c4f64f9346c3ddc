#pragma once

#include <string>

#include "cli/console/streams.h"

namespace mindgate::cli {

// Prints "mindgate 0.2.0" and, in a second line, the commit, the architecture and the compiler; or
// all of it as a JSON object.
int RunVersion(const std::string& output, Streams& io);

}  // namespace mindgate::cli
