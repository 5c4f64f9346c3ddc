#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace mindgate::cel {

// Texts are UTF-8, and what CEL counts is characters. A byte that is none counts as one.
size_t CountCharacters(std::string_view text);
// The offset of a character; that of the end for the number of characters, nothing beyond.
std::optional<size_t> OffsetOf(std::string_view text, size_t character);
// The length of the character that the text begins with, which is not empty.
size_t LengthOfCharacter(std::string_view text);
// Whether all of it is well-formed UTF-8.
bool IsUtf8(std::string_view text);

}  // namespace mindgate::cel
