#pragma once

#include <string_view>

#include "schemas/kinds.h"

namespace mindgate::schemas {

// Whether the controller of the owner's kind makes objects of `made`. Their template is a part of
// the owner, so they were judged and injected with it. No other owner reference says so. The chart
// tells the API server the same (templates/_registrations.tpl).
bool Makes(std::string_view owner_group, std::string_view owner_kind, Kind made);

}  // namespace mindgate::schemas
