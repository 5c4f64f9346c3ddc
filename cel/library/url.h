#pragma once

#include <optional>
#include <string_view>

#include "cel/opaque.h"

namespace mindgate::cel {

// An absolute URI or an absolute path; nothing for any other text. Borrows from it.
std::optional<Url> ParseUrl(std::string_view text);

}  // namespace mindgate::cel
