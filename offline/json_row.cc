#include <algorithm>

#include "offline/documents.h"

namespace mindgate::offline {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool Opens(char c) { return c == '{' || c == '['; }
bool Closes(char c) { return c == '}' || c == ']'; }

// Where the value that opens at `at` ends; the end of the text when it does not.
size_t EndOf(std::string_view text, size_t at) {
  size_t depth = 0;
  bool in_quotes = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_quotes) {
      if (c == '\\') ++at;
      in_quotes = c != '"';
    } else if (c == '"') {
      in_quotes = true;
    } else if (Opens(c)) {
      ++depth;
    } else if (Closes(c) && --depth == 0) {
      return at + 1;
    }
  }
  return text.size();
}

}  // namespace

std::vector<JsonPart> CutJsonRow(std::string_view text) {
  std::vector<JsonPart> parts;
  JsonPart next;
  size_t begin = 0;
  const auto add = [&](size_t end) {
    next.text = text.substr(begin, end - begin);
    parts.push_back(next);
    const size_t line = next.text.rfind('\n');
    next.lines_before += static_cast<int>(std::count(next.text.begin(), next.text.end(), '\n'));
    next.columns_before = line == std::string_view::npos
                              ? next.columns_before + static_cast<int>(next.text.size())
                              : static_cast<int>(next.text.size() - line - 1);
    begin = end;
  };
  for (size_t at = 0;;) {
    const size_t first = text.find_first_not_of(kBlanks, at);
    if (first == std::string_view::npos && begin > 0) return parts;  // blanks at the end
    if (first == std::string_view::npos || !Opens(text[first])) break;
    at = EndOf(text, first);
    const size_t after = text.find_first_not_of(kBlanks, at);
    if (after != std::string_view::npos && !Opens(text[after])) break;
    add(at);
  }
  add(text.size());
  return parts;
}

}  // namespace mindgate::offline
