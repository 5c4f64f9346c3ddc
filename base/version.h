#pragma once

#include <string>

namespace mindgate {

// What distinguishes one build from another.
struct Build {
  std::string version;       // as in CHANGELOG.md
  std::string commit;        // 12 digits, with "+changes" where files differ from it; or "unknown"
  std::string architecture;  // "x86_64" or "aarch64"
};

// Of this program.
Build ThisBuild();
std::string Version();
// "mindgate/0.2.0", for the logs of API servers.
std::string UserAgent();

}  // namespace mindgate
