#include "schemas/repeated_keys.h"

#include <algorithm>
#include <unordered_map>

namespace mindgate::schemas {
namespace {

constexpr size_t kMaxDepth = 64;

// An object or a list that is open.
struct Level {
  bool object = false;
  size_t member = 0;                                    // where the member at hand begins
  bool wants_key = true;                                // of an object: before its key
  std::unordered_map<std::string_view, size_t> begins;  // of earlier members, by key
};

// The offset of the closing quote; npos when there is none.
size_t EndOfString(std::string_view text, size_t open) {
  for (size_t at = open + 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at;
    }
  }
  return std::string_view::npos;
}

class Finder {
 public:
  explicit Finder(std::string_view text) : text_(text) { found_.blanked = text; }

  RepeatedKeys Find() {
    for (size_t at = 0; at < text_.size(); ++at) {
      if (text_[at] == '"') {
        const size_t end = EndOfString(text_, at);
        if (end == std::string_view::npos) return {};
        if (!levels_.empty()) TakeString(at, end);
        at = end;
      } else if (!Take(text_[at], at)) {
        return {};
      }
    }
    return levels_.empty() ? std::move(found_) : RepeatedKeys();
  }

 private:
  // A string that may be a key.
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
    found_.keys.push_back({PlaceOf(open), name});
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

  json::Position PlaceOf(size_t at) const {
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
