#pragma once

#include <optional>
#include <string_view>

#include "json/issues.h"

namespace mindgate::offline {

// The place in `text` of what is at `within` of a literal block scalar ("key: |") that begins at
// `at`; nothing when no such block begins there: the lines of a quoted or folded scalar are not
// those of its value.
std::optional<json::Position> InsideBlock(std::string_view text, json::Position at,
                                          json::Position within);

}  // namespace mindgate::offline
