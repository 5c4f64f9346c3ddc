#include "base/version.h"

namespace mindgate {

std::string Version() { return MINDGATE_VERSION; }
std::string UserAgent() { return "mindgate/" + Version(); }

}  // namespace mindgate
