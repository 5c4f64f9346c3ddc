#pragma once

#include <string>
#include <string_view>

namespace mindgate {

// A text for the content or an attribute of an HTML page. Control characters and bytes that are not
// UTF-8 are shown as "\x1b".
std::string HtmlEscaped(std::string_view text);

}  // namespace mindgate
