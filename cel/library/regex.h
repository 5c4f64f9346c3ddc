#pragma once

#include <string>
#include <string_view>

#include "cel/context.h"

namespace mindgate::cel {

// Compiles a pattern and keeps it. Why it is none, or nothing.
std::string AddPattern(std::string_view pattern, Patterns& patterns);

}  // namespace mindgate::cel
