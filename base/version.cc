#include "base/version.h"

#if __has_include("commit.h")
#include "commit.h"
#else
#define MINDGATE_COMMIT "unknown"
#endif

namespace mindgate {

Build ThisBuild() { return {MINDGATE_VERSION, MINDGATE_COMMIT, MINDGATE_ARCHITECTURE}; }
std::string Version() { return MINDGATE_VERSION; }
std::string UserAgent() { return "mindgate/" + Version(); }

}  // namespace mindgate
