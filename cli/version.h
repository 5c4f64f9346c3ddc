#pragma once

#include <string>

#include "cli/streams.h"

namespace mindgate::cli {

// The release that this is, as in CHANGELOG.md.
std::string Version();
// As API servers see it in their logs: "mindgate/0.1.0".
std::string UserAgent();

// "mindgate 0.1.0", or as a JSON object with what it was built with.
int RunVersion(const std::string& output, Streams& io);

}  // namespace mindgate::cli
