#pragma once

#include <cstddef>
#include <iosfwd>

namespace mindgate::cli {

// Width of output that is not a terminal.
inline constexpr size_t kDefaultWidth = 100;

// The streams of a command; tests use string streams.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  size_t width = kDefaultWidth;  // of human-readable output, in columns
  bool in_is_terminal = false;   // somebody can be asked
};

// Exit codes of every command.
inline constexpr int kExitDone = 0;      // success, or everything admitted
inline constexpr int kExitDenied = 1;    // something denied or failed
inline constexpr int kExitUnusable = 2;  // invalid input or arguments

}  // namespace mindgate::cli
