#pragma once

#include <iosfwd>
#include <string>

namespace mindgate {

// Prints "error: <what>" and "hint: <hint>".
void PrintError(std::ostream& err, const std::string& what, const std::string& hint = "");

}  // namespace mindgate
