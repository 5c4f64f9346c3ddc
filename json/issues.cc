#include "json/issues.h"

#include <algorithm>

#include "base/lookalikes.h"
#include "base/text.h"
#include "json/text_places.h"

namespace mindgate::json {
namespace {

using internal::LineOf;

constexpr size_t kMaxWidth = 160;
constexpr size_t kAhead = 60;  // of the column, when a line is cut

bool IsTail(char c) { return (c & 0xC0) == 0x80; }

// The line, cut to kMaxWidth bytes around the column, and below it a caret.
std::string Excerpt(std::string_view line, int column) {
  size_t at = column < 1 ? 0 : static_cast<size_t>(column - 1);
  at = std::min(at, line.size());
  size_t begin = 0;
  if (line.size() > kMaxWidth) {
    begin = at > kMaxWidth - kAhead ? at - (kMaxWidth - kAhead) : 0;
    begin = std::min(begin, line.size() - kMaxWidth);
  }
  size_t end = std::min(line.size(), begin + kMaxWidth);
  // Whole characters only.
  while (begin < end && IsTail(line[begin])) ++begin;
  while (end < line.size() && end > begin && IsTail(line[end])) --end;

  std::string shown;
  std::string caret;
  for (size_t i = begin; i < end;) {
    const size_t length = Utf8Length(line.substr(i, end - i));
    const std::string_view character = line.substr(i, std::max<size_t>(length, 1));
    const bool tab = character == "\t";
    const bool printable = length > 0 && (tab || !IsControl(character));
    shown += printable ? character : "?";
    i += character.size();
    // A tab under a tab and one space under a character keep the caret in its column.
    if (i <= at) caret += tab ? '\t' : ' ';
  }
  return shown + "\n" + caret + "^\n";
}

}  // namespace

void Issues::Add(Issue issue) {
  if (items_.size() < kMax) {
    items_.push_back(std::move(issue));
  } else {
    ++dropped_;
  }
}

void Issues::Append(const Issues& other) {
  for (const Issue& issue : other.items_) Add(issue);
  dropped_ += other.dropped_;
}

std::string LookalikeHint(const Issue& issue, std::string_view text) {
  if (issue.at.line < 1) return "";
  const auto hint = [](const FoundLookalike& found, const std::string& place) {
    return place + "column " + std::to_string(found.offset + 1) + " is " + found.character.name +
           (found.character.instead.empty() ? "; remove it"
                                            : "; write " + Quote(found.character.instead));
  };
  const auto column = static_cast<size_t>(std::max(issue.at.column, 1) - 1);
  if (const auto here = FindLookalike(LineOf(text, issue.at.line), column)) return hint(*here, "");
  if (!issue.field.empty()) return "";
  // The line before it that is not blank.
  std::string_view before = text.substr(0, internal::OffsetOfLine(text, issue.at.line));
  for (int line = issue.at.line - 1; line > 0 && !before.empty(); --line) {
    before.remove_suffix(1);
    const size_t begin = before.rfind('\n') + 1;
    const std::string_view above = before.substr(begin);
    before = before.substr(0, begin);
    if (above.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto there = FindLookalike(above, above.size());
    return there ? hint(*there, "line " + std::to_string(line) + ", ") : "";
  }
  return "";
}

std::string PlaceText(std::string_view file, Position at) {
  std::string text(file);
  if (at.line > 0) text += ":" + std::to_string(at.line);
  if (at.line > 0 && at.column > 0) text += ":" + std::to_string(at.column);
  return text;
}

std::string LineText(Position at) {
  return "line " + std::to_string(at.line) + ", column " + std::to_string(at.column);
}

std::string Render(const Issue& issue, std::string_view file, std::string_view text) {
  std::string out = PlaceText(file, issue.at) + ": " + issue.message + "\n";
  if (issue.at.line > 0) {
    const std::string_view line = LineOf(text, issue.at.line);
    if (!line.empty()) out += Excerpt(line, issue.at.column);
  }
  if (!issue.hint.empty()) out += "hint: " + issue.hint + "\n";
  if (const std::string hint = LookalikeHint(issue, text); !hint.empty()) {
    out += "hint: " + hint + "\n";
  }
  return out;
}

std::string Render(const Issues& issues, std::string_view file, std::string_view text) {
  std::string out;
  for (const Issue& issue : issues.items()) out += Render(issue, file, text);
  if (issues.dropped() > 0) {
    out += std::string(file) + ": " + std::to_string(issues.dropped()) + " more not shown\n";
  }
  return out;
}

}  // namespace mindgate::json
