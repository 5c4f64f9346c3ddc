#pragma once

#include <string>
#include <string_view>

#include "cli/console/paint.h"

namespace mindgate::cli {

// The unified difference of two texts, three lines of context, without the two header lines; empty
// when they are equal. If the texts differ too much, all lines are shown as removed and added.
std::string UnifiedDiff(std::string_view before, std::string_view after, const Paint& paint);

}  // namespace mindgate::cli
