#pragma once

#include <string>
#include <string_view>

namespace mindgate::cli {

// The text with spaces up to a width, for columns.
std::string Padded(std::string_view text, size_t width);

enum class ColorMode { kAuto, kAlways, kNever };

enum class Color { kRed, kGreen, kYellow, kCyan, kBold };

// Puts text in colour, or leaves it as it is.
class Paint {
 public:
  // kAuto paints on a terminal unless NO_COLOR (https://no-color.org) is set or TERM is dumb.
  Paint(ColorMode mode, bool is_terminal);

  std::string operator()(Color color, std::string_view text) const;

 private:
  bool on_;
};

}  // namespace mindgate::cli
