#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
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
std::string PositionText(std::string_view file, Position at);

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

namespace mindgate::json::internal {

// The text after its UTF-8 byte order mark, if it has one. The mark counts in no column.
std::string_view WithoutByteOrderMark(std::string_view text);

// Where the line with this number begins, 1-based; the size of the text when there is none.
size_t OffsetOfLine(std::string_view text, int line);

// That line without its end, of the text without its byte order mark; empty when there is none.
std::string_view LineOf(std::string_view text, int line);

// "the text is UTF-16": what the first bytes say when the text is in an encoding that we do not
// read, else empty.
std::string_view ForeignEncoding(std::string_view text);

// Offset of the first byte that is not part of a well-formed UTF-8 sequence, npos when all are.
size_t FindBadUtf8(std::string_view text);

// The fault that text is not UTF-8, at its place; `bad` is the offset of the first wrong byte.
Issue NotUtf8(std::string_view text, size_t bad);

// Offsets to lines and columns. Lines end with '\n'. Refers to nothing after construction.
class Lines {
 public:
  explicit Lines(std::string_view text);
  Position At(size_t offset) const;

 private:
  std::vector<size_t> starts_;
};

// The same for a single offset.
Position PositionAt(std::string_view text, size_t offset);

}  // namespace mindgate::json::internal

namespace mindgate::json {

// The places in `text` of what is at these offsets, in their order, of a scalar's value that begins
// at `at`, in whatever style it is written; `at` where it cannot be found, as behind an escape in
// quotes. Costs one walk over the scalar.
std::vector<Position> PlacesInScalar(std::string_view text, Position at, std::string_view value,
                                     std::span<const size_t> offsets);
// The same of one place, by line and column of the value.
Position PlaceInScalar(std::string_view text, Position at, std::string_view value, Position within);

// Where each value of a document is in its text, by RFC 6901 pointer ("" is the root). A scalar's
// place is its own first character; so is a list item's and the root's. An object's or list's that
// is a member is that of its key. Memory is bounded by the text: a value costs its own key, not its
// whole pointer.
class Positions {
 public:
  // Values are named by numbers while the places are collected.
  static constexpr size_t kRoot = 0;

  Positions() : places_(1) {}

  // Adds the value that `parent` holds under `token` (an unescaped key, or an index in decimal),
  // once each; returns its number. For decoders.
  size_t Add(size_t parent, std::string token, Position at);

  // Adds or moves one value by pointer; ancestors that are not there get no place. Text that is not
  // a pointer is ignored.
  void Set(std::string_view pointer, Position at);

  // The place of `pointer`, else of its nearest ancestor that has one: a missing field is
  // reported where it should have been written. Costs one look-up a token.
  Position At(std::string_view pointer) const;

  bool empty() const { return places_.size() == 1 && places_[kRoot] == Position{}; }

 private:
  struct Name {
    size_t parent;
    std::string token;
  };
  struct NameView {
    size_t parent;
    std::string_view token;
    NameView(size_t of, std::string_view name) : parent(of), token(name) {}
    NameView(const Name& name) : parent(name.parent), token(name.token) {}  // NOLINT: a view of it
    bool operator==(const NameView&) const = default;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const NameView& name) const {
      return std::hash<std::string_view>()(name.token) ^ (name.parent * 0x9E3779B97F4A7C15u);
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const NameView& a, const NameView& b) const { return a == b; }
  };

  // The number of a child, 0 (which is nobody's child) when there is none.
  size_t ChildOf(size_t parent, std::string_view token) const;

  std::vector<Position> places_;  // by number
  std::unordered_map<Name, size_t, Hash, Equal> children_;
};

// One node of a YAML or JSON document as it is written, aliases not expanded.
struct TextNode {
  enum class Kind : uint8_t { kScalar, kMapping, kSequence, kAlias };
  Kind kind = Kind::kScalar;
  bool flow = false;      // a mapping or sequence in brackets; all of JSON
  bool shared = false;    // it has an anchor to which an alias refers
  bool merge = false;     // the key "<<"
  uint32_t next = 0;      // the node after this one and all that it holds
  uint32_t target = 0;    // of an alias
  size_t first_byte = 0;  // in the text, of its anchor or tag if it has one
  size_t begin = 0;       // of its content; `end` where it has none, as after "key:"
  size_t end = 0;  // behind its last character. A collection without brackets ends with the last of
                   // what it holds, a block scalar with the empty lines after it
  std::string key;  // of a key: as the decoder reads it

  bool IsEmpty() const { return begin == end; }
};

// The nodes of one document in the order of its text: a mapping is followed by its keys and values
// by turns, a sequence by its items. Offsets count in the text that was read, with its byte order
// mark.
using Outline = std::vector<TextNode>;

// Of each document that DecodeYaml gives. An issue for a text that is not YAML.
tl::expected<std::vector<Outline>, Issue> OutlineYaml(std::string_view text);

// Of a text that Decode took. Its byte order mark, if any, counts.
Outline OutlineJson(std::string_view text);

// The places of a mapping's keys or of a sequence's items in the outline. A value follows its key.
std::vector<uint32_t> ChildrenOf(const Outline& outline, uint32_t index);

}  // namespace mindgate::json
