#include "base/html.h"

#include <algorithm>

#include "base/text.h"

namespace mindgate {

std::string HtmlEscaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text.substr(i));
    const std::string_view character = text.substr(i, std::max<size_t>(length, 1));
    i += character.size();
    if (length == 0 || IsControl(character)) {
      out += HexEscaped(character);
    } else if (character == "&") {
      out += "&amp;";
    } else if (character == "<") {
      out += "&lt;";
    } else if (character == ">") {
      out += "&gt;";
    } else if (character == "\"") {
      out += "&quot;";
    } else if (character == "'") {
      out += "&#39;";
    } else {
      out += character;
    }
  }
  return out;
}

}  // namespace mindgate
