#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "json/arena.h"

namespace mindgate::cel {

// What stands between the quotes of a literal, without its escapes.
struct Unescaped {
  std::string_view text;  // in the arena
  std::string fault;      // why it is not a text, or empty
  size_t at = 0;          // of the fault
};

// In bytes, \x and octal escapes are bytes, and \u is refused; in strings they are characters.
Unescaped Unescape(std::string_view content, bool bytes, json::Arena& arena);

// Appends a Unicode character. At most 4 bytes.
void AppendUtf8(char32_t character, std::string& out);

// The character that a text begins with, which is well-formed.
char32_t CharacterAt(std::string_view text);

// Whether a number with a point or an exponent is nearer to zero than any double: "1e-400".
bool IsTooSmall(std::string_view number);

}  // namespace mindgate::cel
