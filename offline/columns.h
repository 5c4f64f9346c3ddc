#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "json/issues.h"

namespace mindgate::offline {

// Columns of a text in characters, which is what editors and CI servers show; json::Position counts
// bytes. The text must outlive it. It is read once, and a look-up costs no more than a part of a
// line.
class Columns {
 public:
  explicit Columns(std::string_view text);

  // The same place with its column in characters (code points). A place that is not in the text, or
  // not known, stays as it is.
  json::Position InCharacters(json::Position at) const;

 private:
  // Characters that begin before `offset`.
  size_t CharactersBefore(size_t offset) const;

  std::string_view text_;
  std::vector<size_t> lines_;   // where each line begins
  std::vector<size_t> before_;  // characters before each block; empty when all is ASCII
};

}  // namespace mindgate::offline
