#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "json/arena.h"
#include "json/decode.h"
#include "json/value.h"

namespace simdjson::internal {
class dom_parser_implementation;
}

namespace mindgate::json::internal {

// Where a text has escapes. Asked from its begin to its end, it reads every byte once.
class Escapes {
 public:
  explicit Escapes(std::string_view text);

  bool Within(std::string_view part) {
    if (next_ < part.data()) [[unlikely]] {
      next_ = From(part.data());
    }
    return next_ < part.data() + part.size();
  }

 private:
  const char* From(const char* begin) const;

  const char* const end_;
  const char* next_;
};

// Makes the value of a text out of the places where simdjson's first stage found a brace, bracket,
// comma, colon, or the begin of a string or of anything else that stands outside of strings. That
// stage has checked that the text is UTF-8, that each string ends, and that no string has control
// characters; all else of RFC 8259 is checked here. Views of the text are kept, not copies, except
// of strings with escapes. Recursion is bounded by limits.depth.
class Layout {
 public:
  struct Rows {
    Arena& arena;
    RowStack<Member>& members;
    RowStack<Value>& items;
    char* unescaped;  // as many bytes as the text has, and Text::kPadding: for strings with escapes
  };

  // `parser` has read `text`; behind it there are a NUL and Text::kPadding bytes. All must outlive
  // it.
  // `left_out` as for Decoder.
  Layout(std::string_view text, const simdjson::internal::dom_parser_implementation& parser,
         const Limits& limits, std::string_view left_out, const Rows& rows);

  // False when the text has a fault, a limit was passed or a key came twice; Scan then finds which
  // and where. `kept`: what of the value is kept; null: all of it.
  bool Root(Value& out, const Projection::Node* kept);
  // Whether the value has views of Rows::unescaped.
  bool has_unescaped() const { return has_unescaped_; }

 private:
  // Points to the place of what comes next. Functions that are compiled into their callers take it
  // by reference, so that it stays in a register; others begin at next_ and leave it where they
  // end.
  using Cursor = const uint32_t*;

  Value Fail() {
    failed_ = true;
    return {};
  }
  // What stands at the next place; NUL at the end: the last place is followed by that of the NUL
  // behind the text.
  char Peek(Cursor at) const { return text_.data()[*at]; }
  // Whether this character comes next; then the one after it does.
  bool Skip(Cursor& at, char wanted) const {
    if (Peek(at) != wanted) return false;
    ++at;
    return true;
  }

  [[gnu::always_inline]] std::string_view Token(Cursor& at) const;
  std::string_view Unescape(std::string_view text);
  [[gnu::always_inline]] std::string_view Quoted(Cursor& at);
  [[gnu::always_inline]] Value Build(Cursor& at, size_t depth, const Projection::Node* kept);
  Value Number();
  Value Object(size_t depth, const Projection::Node* kept);
  Value List(size_t depth, const Projection::Node* kept);
  [[gnu::always_inline]] const Projection::Node* Step(const Projection::Node* kept,
                                                      std::string_view key) const;

  const Projection::Node nothing_;
  const std::string_view text_;
  const simdjson::internal::dom_parser_implementation& parser_;
  Cursor next_;
  const Cursor end_;
  const size_t max_depth_;
  const size_t max_values_;
  const std::string_view left_out_;
  Escapes escapes_;
  Rows rows_;
  size_t values_ = 0;
  bool failed_ = false;
  bool has_unescaped_ = false;
};

}  // namespace mindgate::json::internal
