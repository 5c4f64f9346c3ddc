#pragma once

#include <string_view>
#include <tl/expected.hpp>

#include "json/issues.h"
#include "schemas/config.h"
#include "schemas/config_schema.h"

namespace mindgate::schemas {

// mindgate.yaml to a Config whose generation is a hash of the text, or every fault of the text at
// once, each with its place. An empty text, and one of comments only, gives the defaults. Never
// throws; safe from many threads. Reading is exact, not lenient: whatever would have no effect
// (an unknown key, a rule set twice, an override that an earlier one hides) is a fault. `warnings`
// gets what a sound text should write differently (a duration without a unit).
tl::expected<Config, json::Issues> LoadConfig(std::string_view text, const KnownNames& known,
                                              json::Issues* warnings = nullptr);

// FNV-1a, 64 bits, as 16 hex digits. Tells texts apart that people write; no defence against
// forgery.
std::string HashText(std::string_view text);

}  // namespace mindgate::schemas
