#pragma once

#include <cstddef>
#include <iosfwd>

namespace mindgate::cli {

// Columns of what is not a terminal.
inline constexpr size_t kDefaultWidth = 100;

// What a command talks to; tests hand it strings.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  size_t width = kDefaultWidth;  // in columns, of what people read
};

// Exit codes of every command.
inline constexpr int kExitDone = 0;      // admitted, or done
inline constexpr int kExitDenied = 1;    // denied, or failed
inline constexpr int kExitUnusable = 2;  // input or arguments that cannot be used

}  // namespace mindgate::cli
