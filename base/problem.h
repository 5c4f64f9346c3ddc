#pragma once

#include <iosfwd>
#include <string>

namespace mindgate {

// What is wrong, and what to do instead, where no text has a place of it: json::Issue is of those
// that have one.
struct Problem {
  std::string what;  // a sentence without its full stop
  std::string hint;  // may be empty
};

// Prints "error: <what>" and "hint: <hint>".
void PrintError(std::ostream& err, const Problem& problem);
inline void PrintError(std::ostream& err, const std::string& what, const std::string& hint = "") {
  PrintError(err, Problem{what, hint});
}

}  // namespace mindgate
