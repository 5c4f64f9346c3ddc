#pragma once

#include <string>

#include "cli/what_if/what_if_each.h"
#include "cli/what_if/what_if_print.h"

namespace mindgate::cli {

// One HTML page that needs nothing else: no script, no style sheet, no image, no link. All text is
// escaped.
std::string WhatIfPage(const WhatIfReport& report);

// What each single loss costs: a picture of the cluster, and the worst.
std::string EachPage(const EachReport& report);

}  // namespace mindgate::cli
