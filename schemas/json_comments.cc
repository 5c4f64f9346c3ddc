#include "schemas/json_comments.h"

#include <algorithm>

namespace mindgate::schemas {
namespace {

// The offset behind the string that begins at `at`: behind its closing quote, or at the end of its
// line.
size_t SkipString(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n') ++at;
  }
  return at;
}

// The offset behind the comment that begins at `at`; `at` itself when none does.
size_t SkipComment(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("/*")) {
    const size_t close = text.find("*/", at + 2);
    return close == std::string_view::npos ? text.size() : close + 2;
  }
  if (!rest.starts_with('#') && !rest.starts_with("//")) return at;
  return std::min(text.find('\n', at), text.size());
}

void Note(JsonComments& comments, json::Position at) {
  if (!comments.first) comments.first = at;
  if (!comments.lines.empty() && comments.lines.back() == at.line) return;
  if (comments.lines.size() == JsonComments::kMaxLines) {
    comments.more = true;
  } else {
    comments.lines.push_back(at.line);
  }
}

}  // namespace

JsonComments FindComments(std::string_view text) {
  JsonComments found;
  int line = 1;
  size_t line_start = 0;
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = SkipString(text, at);
      continue;
    }
    const size_t end = SkipComment(text, at);
    if (end != at) {
      Note(found, {line, static_cast<int>(at - line_start) + 1});
      if (!found.blanked) found.blanked.emplace(text);
    }
    do {
      if (text[at] == '\n') {
        ++line;
        line_start = at + 1;
      } else if (at < end) {
        (*found.blanked)[at] = ' ';
      }
      ++at;
    } while (at < end);
  }
  return found;
}

}  // namespace mindgate::schemas
