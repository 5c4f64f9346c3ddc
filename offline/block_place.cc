#include "offline/block_place.h"

namespace mindgate::offline {
namespace {

// What remains of the text from that line on; empty beyond its end.
std::string_view FromLine(std::string_view text, int line) {
  for (int at = 1; at < line; ++at) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text;
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

// Spaces before the content: that of the first line that has any.
size_t IndentOf(std::string_view block) {
  while (!block.empty()) {
    const std::string_view line = FirstLine(block);
    const size_t indent = line.find_first_not_of(" \r");
    if (indent != std::string_view::npos) return indent;
    block.remove_prefix(line.size() == block.size() ? line.size() : line.size() + 1);
  }
  return 0;
}

}  // namespace

std::optional<json::Position> InsideBlock(std::string_view text, json::Position at,
                                          json::Position within) {
  if (at.line < 1 || at.column < 1 || within.line < 1) return std::nullopt;
  const std::string_view header = FirstLine(FromLine(text, at.line));
  const size_t column = static_cast<size_t>(at.column) - 1;
  if (column >= header.size() || header[column] != '|') return std::nullopt;
  const std::string_view block = FromLine(text, at.line + 1);
  return json::Position{at.line + within.line, within.column + static_cast<int>(IndentOf(block))};
}

}  // namespace mindgate::offline
