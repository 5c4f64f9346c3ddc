#pragma once

#include <string>
#include <string_view>

namespace mindgate {

// Without the escapes of RFC 3986, 2.1: "%2F" is "/". What is no escape stays as it is.
std::string PercentDecoded(std::string_view text);

}  // namespace mindgate
