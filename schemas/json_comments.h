#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/issues.h"

namespace mindgate::schemas {

// What comments there are in JSON text, as far as anybody is told.
struct JsonComments {
  static constexpr size_t kMaxLines = 8;

  std::optional<json::Position> first;
  std::vector<int> lines;  // on which comments begin, each once, at most kMaxLines
  bool more = false;       // there are some on further lines
  // The text with spaces in the place of comments, so that every other place stays where it was.
  // Nothing when there are none.
  std::optional<std::string> blanked;
};

// Finds comments from "#" or "//" to the end of the line and from "/*" to "*/" outside strings.
// JSON has none, but people copy documented samples that do; a reader that says so and reads on can
// name the other faults too.
JsonComments FindComments(std::string_view text);

}  // namespace mindgate::schemas
