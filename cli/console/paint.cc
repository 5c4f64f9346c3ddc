#include "cli/console/paint.h"

#include "cli/console/streams.h"
#include "kube/environment.h"

namespace mindgate::cli {
namespace {

// NO_COLOR (https://no-color.org), and terminals without color support.
bool IsUnwanted() {
  return !kube::Environment("NO_COLOR").empty() || kube::Environment("TERM") == "dumb";
}

std::string_view CodeOf(Color color) {
  switch (color) {
    case Color::kRed:
      return "\033[31m";
    case Color::kGreen:
      return "\033[32m";
    case Color::kYellow:
      return "\033[33m";
    case Color::kCyan:
      return "\033[36m";
    case Color::kBold:
      return "\033[1m";
  }
  return "";
}

}  // namespace

Paint::Paint(ColorMode mode, bool is_terminal)
    : on_(mode == ColorMode::kAlways ||
          (mode == ColorMode::kAuto && is_terminal && !IsUnwanted())) {}

std::string Paint::operator()(Color color, std::string_view text) const {
  if (!on_ || text.empty()) return std::string(text);
  return kOwnMark + std::string(CodeOf(color)) + std::string(text) + kOwnMark + "\033[0m";
}

}  // namespace mindgate::cli
