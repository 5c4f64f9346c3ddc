#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mindgate::json {

// 1-based place in a text; 0 means unknown. Columns count bytes, as compilers do.
struct Position {
  int line = 0;
  int column = 0;
  bool operator==(const Position&) const = default;
};

// One fault in what a user wrote: what is wrong, where, and what to write instead.
struct Issue {
  Position at;
  std::string field;          // Kubernetes field path, empty for faults of syntax
  std::string message;        // one sentence, no final full stop
  std::string hint;           // what to write instead, may be empty
  bool beyond_limit = false;  // the text may be right, but is more than is read
};

// All the faults of one text, in the order found, at most kMax; later ones are counted only.
class Issues {
 public:
  static constexpr size_t kMax = 50;

  Issues() = default;
  explicit Issues(Issue only) { Add(std::move(only)); }

  void Add(Issue issue);
  void Append(const Issues& other);
  void Drop(size_t count) { dropped_ += count; }  // found, but not worth keeping
  bool empty() const { return items_.empty(); }
  const std::vector<Issue>& items() const& { return items_; }
  // Of a temporary, they outlive it: a loop may run over them.
  std::vector<Issue> items() && { return std::move(items_); }
  size_t dropped() const { return dropped_; }

 private:
  std::vector<Issue> items_;
  size_t dropped_ = 0;
};

// "a.yaml:3:7", without what is unknown.
std::string PlaceText(std::string_view file, Position at);

// "line 3, column 7", in a text that has no name.
std::string LineText(Position at);

// "column 21 is U+FF1A FULLWIDTH COLON; write \":\"" when the line of `at`, or for a fault of
// syntax the one before it, holds a character that only looks right; else empty.
std::string LookalikeHint(const Issue& issue, std::string_view text);

// "a.yaml:3:7: message", then the line of `text` and a caret under the column, then "hint: ...".
// Lines over 160 bytes are cut around the column; control characters and bytes that are not UTF-8
// are shown as '?'. A hint about a character that only looks right comes last.
std::string Render(const Issue& issue, std::string_view file, std::string_view text);
std::string Render(const Issues& issues, std::string_view file, std::string_view text);

}  // namespace mindgate::json
