#pragma once

#include <string_view>

#include "deploy/application.h"

namespace mindgate::deploy {

// A configuration to start from, with comments on every key. It is accepted as it stands.
std::string_view StarterOf(Framework framework);

}  // namespace mindgate::deploy
