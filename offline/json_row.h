#pragma once

#include <string_view>
#include <vector>

namespace mindgate::offline {

// One of several JSON texts that follow each other.
struct JsonPart {
  std::string_view text;
  int lines_before = 0;
  int columns_before = 0;  // in the line in which it begins
};

// Cuts `{...} {...}` between the objects, which is how jq prints what it finds. Only brackets and
// quotes count here: whether a part is JSON is for its decoder. One part when the text does not
// begin as JSON, or there is no second object.
std::vector<JsonPart> CutJsonRow(std::string_view text);

}  // namespace mindgate::offline
