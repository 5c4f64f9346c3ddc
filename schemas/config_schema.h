#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

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

// The JSON Schema (draft 7) of mindgate.yaml: the description of every key is its documentation.
// Keys are in the order in which people read them.
nlohmann::ordered_json ConfigSchema(const KnownNames& known);

// A mindgate.yaml that spells out every default, with the schema's descriptions as comments.
// Loading it gives Config().
std::string DefaultConfigFile(const KnownNames& known);

}  // namespace mindgate::schemas
