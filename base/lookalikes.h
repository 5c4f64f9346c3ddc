#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mindgate {

// A character that looks like an ASCII one, or like nothing, and is none: what input methods and
// word processors leave in a file.
struct Lookalike {
  std::string name;        // "U+FF1A FULLWIDTH COLON", as the Unicode standard calls it
  std::string instead;     // ":"; empty: nothing belongs there
  bool invisible = false;  // also spaces that are not the ASCII one
};

// Of one whole character in UTF-8; nothing for all others.
std::optional<Lookalike> LookalikeOf(std::string_view character);

struct FoundLookalike {
  size_t offset = 0;  // bytes before it
  Lookalike character;
};

// The one nearest to byte `near` in a line of YAML or JSON, outside of quotes and comments: inside
// of them any text is right.
std::optional<FoundLookalike> FindLookalike(std::string_view line, size_t near);

}  // namespace mindgate
