#include "cel/library/characters.h"

#include <algorithm>

#include "base/text.h"

namespace mindgate::cel {

size_t LengthOfCharacter(std::string_view text) {
  if (static_cast<signed char>(text[0]) >= 0) return 1;
  return std::max<size_t>(1, Utf8Length(text));
}

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at += LengthOfCharacter(text.substr(at))) ++count;
  return count;
}

std::optional<size_t> OffsetOf(std::string_view text, size_t character) {
  size_t at = 0;
  for (size_t count = 0; count < character; ++count) {
    if (at >= text.size()) return std::nullopt;
    at += LengthOfCharacter(text.substr(at));
  }
  return at;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace mindgate::cel
