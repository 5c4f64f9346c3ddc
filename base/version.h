#pragma once

#include <string>

namespace mindgate {

// The version, as in CHANGELOG.md.
std::string Version();
// "mindgate/0.1.0", for the logs of API servers.
std::string UserAgent();

}  // namespace mindgate
