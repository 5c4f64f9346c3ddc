#include "schemas/reading.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "json/pointer.h"
#include "json/scanner.h"

namespace mindgate::schemas {

void ReadContext::Fault(std::string_view path, std::string message, std::string hint) {
  if (faults_.size() == kMaxKept) {
    ++dropped_;
  } else {
    faults_.push_back(Describe(path, std::move(message), std::move(hint)));
  }
}

void ReadContext::Warn(std::string_view path, std::string message, std::string hint) {
  if (warnings_.size() == kMaxKept) return;
  warnings_.push_back(Describe(path, "warning: " + std::move(message), std::move(hint)));
}

ReadContext::LocatedIssue ReadContext::Describe(std::string_view path, std::string message,
                                                std::string hint) const {
  return {std::string(path),
          {At(path), json::FieldPath(root_, path), std::move(message), std::move(hint)}};
}

json::Issues ReadContext::Faults() const {
  json::Issues issues = ByPosition(faults_);
  issues.Drop(dropped_);
  return issues;
}

json::Issues ReadContext::ByPosition(std::vector<LocatedIssue> found) {
  std::stable_sort(found.begin(), found.end(), [](const LocatedIssue& a, const LocatedIssue& b) {
    const json::Position& left = a.issue.at;
    const json::Position& right = b.issue.at;
    return std::pair(left.line, left.column) < std::pair(right.line, right.column);
  });
  json::Issues issues;
  for (LocatedIssue& each : found) issues.Add(std::move(each.issue));
  return issues;
}

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

namespace {

constexpr size_t kMaxDepth = 64;

// An object or a list that is open.
struct Level {
  bool object = false;
  size_t member = 0;                                    // where the member at hand begins
  bool wants_key = true;                                // of an object: before its key
  std::unordered_map<std::string_view, size_t> begins;  // of earlier members, by key
};

class Finder {
 public:
  explicit Finder(std::string_view text) : text_(text) { found_.blanked = text; }

  RepeatedKeys Find() {
    for (size_t at = 0; at < text_.size(); ++at) {
      if (text_[at] == '"') {
        const size_t end = json::EndOfString(text_, at);
        if (end == std::string_view::npos) return {};
        if (!levels_.empty()) TakeString(at, end - 1);
        at = end - 1;
      } else if (!Take(text_[at], at)) {
        return {};
      }
    }
    return levels_.empty() ? std::move(found_) : RepeatedKeys();
  }

 private:
  // A string between two quotes that may be a key.
  void TakeString(size_t open, size_t end) {
    Level& level = levels_.back();
    if (!level.object || !level.wants_key) return;
    level.wants_key = false;
    level.member = open;
    const std::string_view name = text_.substr(open + 1, end - open - 1);
    const auto [seen, is_new] = level.begins.try_emplace(name, open);
    if (is_new) return;
    Blank(seen->second);
    seen->second = open;
    found_.keys.push_back({PositionOf(open), name});
  }

  // False when the text is not JSON that is followed further.
  bool Take(char c, size_t at) {
    switch (c) {
      case '\n':
        ++line_;
        line_start_ = at + 1;
        return true;
      case '{':
      case '[':
        if (levels_.size() == kMaxDepth) return false;
        levels_.emplace_back().object = c == '{';
        return true;
      case '}':
      case ']':
        if (levels_.empty() || levels_.back().object != (c == '}')) return false;
        levels_.pop_back();
        return true;
      case ',':
        if (!levels_.empty()) {
          levels_.back().wants_key = true;
          if (levels_.back().object) ends_[levels_.back().member] = at;
        }
        return true;
      default:
        return true;
    }
  }

  // A member that has another behind it ends with its comma.
  void Blank(size_t begin) {
    for (size_t at = begin; at <= ends_[begin]; ++at) {
      if (text_[at] != '\n') found_.blanked[at] = ' ';
    }
  }

  json::Position PositionOf(size_t at) const {
    return {line_, static_cast<int>(at - line_start_) + 1};
  }

  std::string_view text_;
  RepeatedKeys found_;
  std::vector<Level> levels_;
  std::unordered_map<size_t, size_t> ends_;  // of members, by where they begin
  int line_ = 1;
  size_t line_start_ = 0;
};

}  // namespace

RepeatedKeys FindRepeatedKeys(std::string_view text) { return Finder(text).Find(); }

}  // namespace mindgate::schemas
