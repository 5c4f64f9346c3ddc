#pragma once

#include <cstddef>
#include <optional>
#include <span>
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

// Text of others on a terminal or in a line of a log.

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

// A text for the content or an attribute of an HTML page. Control characters and bytes that are not
// UTF-8 are shown as "\x1b".
std::string HtmlEscaped(std::string_view text);

// "&lt;" for a character that begins markup or ends an attribute of HTML or XML: & < > and ". Empty
// for all others.
std::string_view MarkupEntity(std::string_view character);

// The same of a name that may be long: its middle is left out, and its title has all of it.
std::string HtmlName(std::string_view name);

// Colors, tables and layout of our pages, on a screen, on a phone and on paper, in the light and in
// the dark. Every color of text has a contrast of 4.5 to 1 and more (WCAG 2.1, 1.4.3).
extern const std::string_view kHtmlStyle;

// A row of cells, which are HTML. On a phone each has the title of its column beside it.
// `attributes` of the row: `class="bad"`.
std::string HtmlRow(std::span<const std::string> titles, std::span<const std::string> cells,
                    std::string_view attributes = {});
// The row of the titles themselves, which a phone leaves out.
std::string HtmlTitles(std::span<const std::string> titles);

// A page of our own up to its heading, which is its title; what follows is its main part. It loads
// nothing and runs no scripts. `style` is CSS; neither of the two is escaped.
std::string HtmlPageStart(std::string_view title, std::string_view style);
std::string_view HtmlPageEnd();

}  // namespace mindgate
