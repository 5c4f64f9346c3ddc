#pragma once

#include <string>
#include <string_view>

namespace mindgate {

// A text for the content or an attribute of an HTML page. Control characters and bytes that are not
// UTF-8 are shown as "\x1b".
std::string HtmlEscaped(std::string_view text);

// A page of our own up to its heading, which is its title. It loads nothing and runs no scripts.
// `style` is CSS; neither of the two is escaped.
std::string HtmlPageStart(std::string_view title, std::string_view style);

}  // namespace mindgate
