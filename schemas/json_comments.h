#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/issues.h"

namespace mindgate::schemas {

// JSON text whose comments have been overwritten with spaces, so that every other place stays where
// it was.
struct CommentedJson {
  std::string text;
  std::vector<json::Position> comments;  // where each began
};

// Finds comments from "#" or "//" to the end of the line and from "/*" to "*/" outside strings.
// JSON has none, but people copy documented samples that do; a reader that says so and reads on can
// name the other faults too.
CommentedJson BlankComments(std::string_view text);

}  // namespace mindgate::schemas
