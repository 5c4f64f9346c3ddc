#pragma once

#include <memory>
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

  // The value lives until the next call, the text no longer than this one.
  tl::expected<const Value*, Issue> Decode(std::string_view text);
  // Only what `kept` names.
  tl::expected<const Value*, Issue> Decode(std::string_view text, const Projection& kept);

  // The decoded value is not needed any more. Its buffers are kept for the next text, unless a
  // large one made them larger than 4 MB.
  void Release();

  // Bytes that the decoded value and its texts take.
  size_t held() const;

 private:
  struct Buffers;

  tl::expected<const Value*, Issue> DecodeFrom(std::string_view text, const Projection::Node* kept);

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
