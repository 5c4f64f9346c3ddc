#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/issues.h"

namespace mindgate::schemas {

// Keys that come twice in one object of a JSON text.
struct RepeatedKeys {
  struct Key {
    json::Position at;      // of the one that counts
    std::string_view name;  // as written, a view of the text
  };
  std::vector<Key> keys;
  // The text with spaces in the place of the earlier members, so that every other place stays where
  // it was.
  std::string blanked;
};

// Go's decoder takes the last member of a name. Finds nothing in text that is not JSON, or is
// nested deeper than 64.
RepeatedKeys FindRepeatedKeys(std::string_view text);

}  // namespace mindgate::schemas
