#pragma once

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "json/issues.h"
#include "json/pointer.h"

namespace mindgate::testing {

// Aborts, so that the fuzzer keeps the input.
inline void Require(bool holds) {
  if (!holds) std::abort();
}

// Every value of the tree has a place. The decoders bound the depth.
inline void RequirePlaces(const json::Json& value, const std::string& pointer,
                          const json::Positions& places) {
  Require(places.At(pointer).line > 0 && places.At(pointer).column > 0);
  if (value.is_object()) {
    for (const auto& [key, item] : value.items())
      RequirePlaces(item, json::Child(pointer, key), places);
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i)
      RequirePlaces(value[i], json::Child(pointer, i), places);
  }
}

}  // namespace mindgate::testing
