#pragma once

#include <string>
#include <string_view>

// Text of others on a terminal or in a line of a log.
namespace mindgate {

// Whether a character in UTF-8 may act on a terminal, or change how the text around it reads:
// control characters (C0, delete, C1), the separators of lines and paragraphs (U+2028, U+2029), and
// what sets the direction of text (Unicode's Bidi_Control). So is a byte that is not UTF-8.
bool IsUnsafe(std::string_view character);

// As an escape of JSON, "\u2028", so that what was JSON stays JSON. In JSON itself no control
// character below 0x20 stands as it is: those are "\x1b", as in our messages, and so is a byte that
// is not UTF-8.
std::string Escaped(std::string_view character);

// Whether nothing in the text is unsafe but tabs and ends of lines, so that ForTerminal changes
// nothing.
bool IsSafeText(std::string_view text);

// The text with each unsafe character escaped, but for tabs and ends of lines.
std::string ForTerminal(std::string_view text);

}  // namespace mindgate
