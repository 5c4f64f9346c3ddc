#pragma once

#include <iosfwd>

namespace mindgate::cli {

// What a command talks to; tests hand it strings.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

// Exit codes of every command.
inline constexpr int kExitDone = 0;      // admitted, or done
inline constexpr int kExitDenied = 1;    // denied, or failed
inline constexpr int kExitUnusable = 2;  // input or arguments that cannot be used

}  // namespace mindgate::cli
