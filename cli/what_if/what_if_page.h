#pragma once

#include <string>

#include "cli/what_if/what_if_print.h"

namespace mindgate::cli {

// One HTML page that needs nothing else: no script, no style sheet, no image, no link. All text is
// escaped.
std::string WhatIfPage(const WhatIfReport& report);

}  // namespace mindgate::cli
