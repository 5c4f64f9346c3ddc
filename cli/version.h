#pragma once

#include <string>

#include "cli/streams.h"

namespace mindgate::cli {

// The version, as in CHANGELOG.md.
std::string Version();
// "mindgate/0.1.0", for the logs of API servers.
std::string UserAgent();

// Prints "mindgate 0.1.0", or a JSON object with build information.
int RunVersion(const std::string& output, Streams& io);

}  // namespace mindgate::cli
