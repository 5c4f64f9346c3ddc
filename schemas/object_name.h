#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace mindgate::schemas {

// What follows a generateName until the API server has chosen the name: five characters.
inline constexpr std::string_view kGeneratedSuffix = "*****";

// The name of an object for people and for patterns: metadata.name, or "legacy-*****" of
// metadata.generateName "legacy-"; empty when it has neither.
std::string ObjectName(const json::Value& object);

}  // namespace mindgate::schemas
