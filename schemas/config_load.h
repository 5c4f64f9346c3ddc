#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "json/issues.h"
#include "json/json.h"
#include "schemas/config.h"

namespace mindgate::schemas {

// What mindgate.yaml may name but this folder does not know: the rules and mutators of the folders
// above it. Views of constants.
struct KnownNames {
  struct Name {
    std::string_view name;     // kebab-case
    std::string_view id;       // of a rule, "MG001"; empty for a mutator
    std::string_view summary;  // one sentence
  };
  std::vector<Name> rules;
  std::vector<Name> mutators;
};

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

// The JSON Schema (draft 7) of mindgate.yaml: the description of every key is its documentation.
// Keys are in the order in which people read them.
nlohmann::ordered_json ConfigSchema(const KnownNames& known);

// A mindgate.yaml that spells out every default, with the schema's descriptions as comments.
// Loading it gives Config().
std::string DefaultConfigFile(const KnownNames& known);

}  // namespace mindgate::schemas
