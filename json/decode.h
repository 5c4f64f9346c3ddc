#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "json/arena.h"
#include "json/issues.h"
#include "json/json.h"
#include "json/limits.h"
#include "json/positions.h"
#include "json/projection.h"
#include "json/value.h"

namespace mindgate::json {

// What a Decoder reads: a copy of a text, or the text where it stands.
class Text {
 public:
  Text(std::string_view text) : text_(text) {}    // NOLINT(google-explicit-constructor)
  Text(const std::string& text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  Text(const char* text) : text_(text) {}         // NOLINT(google-explicit-constructor)

  // No copy if the string has room for kPadding bytes more, whatever they hold. It must then live
  // and stay as it is for as long as the value.
  static Text InPlace(const std::string& text) {
    Text made(text);
    made.in_place_ = text.capacity() - text.size() >= kPadding;
    return made;
  }
  static Text InPlace(std::string&&) = delete;

  // simdjson reads so far beyond the end.
  static constexpr size_t kPadding = 64;

  std::string_view text() const { return text_; }
  bool in_place() const { return in_place_; }

 private:
  std::string_view text_;
  bool in_place_ = false;
};

// Strict JSON (RFC 8259, UTF-8, optional byte order mark) to a value. Integers keep all 64 bits and
// floats stay floats. Refused, each with its place: syntax faults, bad UTF-8, duplicate keys,
// numbers out of range, text after the value, and anything beyond a limit. Never throws, whatever
// the bytes. One thread at a time.
class Decoder {
 public:
  // Members named `left_out` (a view of text that outlives the decoder; empty: none) become null
  // whatever they hold: the managedFields of an object are often half of it, and no decision reads
  // them.
  explicit Decoder(const Limits& limits = {}, std::string_view left_out = {});
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  // The value lives until the next call, the text no longer than this one, unless it is decoded in
  // place. Beside the text this takes at most 4 bytes of memory for each of its bytes, and 1 more
  // for a copy.
  tl::expected<const Value*, Issue> Decode(Text text);
  // Only what `kept` names.
  tl::expected<const Value*, Issue> Decode(Text text, const Projection& kept);

  // No other text follows: what only decoding needs is freed, and the value stays. It is about half
  // a byte of memory for each byte of the text.
  void Finish();

  // The decoded value is not needed any more. Its buffers are kept for the next text, unless a
  // large one made them larger than 2 MB.
  void Release();

 private:
  struct Buffers;

  tl::expected<const Value*, Issue> DecodeFrom(Text from, const Projection::Node* kept);
  bool LayOut(Text from, const Limits& limits, const Projection::Node* kept);

  Limits limits_;
  std::string_view left_out_;
  std::unique_ptr<Buffers> buffers_;
};

// One value with all that it is a view of. Moves, and the addresses of its values stay good.
class Document {
 public:
  Document() : rows_(std::make_unique<Rows>()), root_(&rows_->root) {}  // null
  explicit Document(const Json& tree);
  static Document CopyOf(const Value& value);
  static tl::expected<Document, Issue> Decode(std::string_view text, const Limits& limits = {});

  const Value& root() const { return *root_; }

  // For one that is laid out by its owner: what SetRoot is given is in this arena, or lives longer
  // than the document.
  Arena& arena() { return rows_->arena; }
  void SetRoot(const Value& root) { rows_->root = root; }

 private:
  struct Rows {
    Arena arena{4 * 1024};
    Value root;
  };

  std::unique_ptr<Decoder> decoder_;  // of what was decoded
  std::unique_ptr<Rows> rows_;
  const Value* root_;
};

// The same as a tree that can be changed.
tl::expected<Json, Issue> Decode(std::string_view text, const Limits& limits = {});

// Places of all values of a text that Decode accepted. Costs a second pass: ask only when there is
// something to report.
Positions Locate(std::string_view text);

}  // namespace mindgate::json
