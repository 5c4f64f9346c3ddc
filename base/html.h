#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mindgate {

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
