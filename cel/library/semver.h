#pragma once

#include "cel/opaque.h"

namespace mindgate::cel {

// By the precedence of semver.org: -1, 0 or 1. Builds do not count.
int CompareSemvers(const Semver& a, const Semver& b);

}  // namespace mindgate::cel
