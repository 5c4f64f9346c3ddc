#pragma once

#include <string>
#include <string_view>

namespace mindgate::cli {

enum class ColorMode { kAuto, kAlways, kNever };

enum class Color { kRed, kGreen, kYellow, kCyan, kBold };

// Colors text, or returns it unchanged. The colors are for a TerminalStream.
class Paint {
 public:
  // kAuto colors on a terminal unless NO_COLOR (https://no-color.org) is set or TERM is dumb.
  Paint(ColorMode mode, bool is_terminal);

  std::string operator()(Color color, std::string_view text) const;

 private:
  bool on_;
};

}  // namespace mindgate::cli
