#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "json/arena.h"
#include "json/issues.h"
#include "json/value.h"

namespace mindgate::json {

// What a document may cost. An API server takes at most 3 MiB in one object, and an AdmissionReview
// holds two of them and the rest of the request: 7 MiB is the ceiling that controller-runtime uses
// too.
struct Limits {
  // Of its text. YAML aliases may add as much again, in texts and keys, over a whole stream.
  size_t bytes = 7 * 1024 * 1024;
  // Objects and lists inside each other. The deepest real CRD has under 40; nlohmann::json copies
  // and prints recursively and overflows the stack far beyond this.
  size_t depth = 128;
  // Values in one document after aliases are expanded. Also what aliases may pull in over a whole
  // stream of documents.
  size_t elements = 500'000;
  // Of a JSON text, beyond its first 32 Ki values: at most one for so many bytes. Compact JSON of
  // real objects has 25 bytes a value, managedFields by themselves 12; a list of digits has 2, and
  // would take 20 times its text while it is decoded. What a projection leaves out counts as well,
  // since all of it is read. 0: no such limit.
  size_t bytes_a_value = 16;

  // The values that a JSON text of so many bytes may have: of all of it, and of what is kept.
  size_t ValuesIn(size_t text_bytes) const {
    if (bytes_a_value == 0) return std::numeric_limits<size_t>::max();
    return 32 * 1024 + text_bytes / bytes_a_value;
  }
  size_t ElementsIn(size_t text_bytes) const { return std::min(elements, ValuesIn(text_bytes)); }
};

// The text of one file, which may hold many documents.
inline constexpr size_t kLargestFile = 64 * 1024 * 1024;

// Which members of a value are worth a tree: a watcher of 100,000 pods keeps a few of each. Made
// once, then safe from many threads.
class Projection {
 public:
  // Keys from the root down; "*" means every key and every element. What a path ends at is kept
  // whole, what no path leads to is left out. Elements of a list keep their places.
  using Path = std::vector<std::string>;

  explicit Projection(const std::vector<Path>& paths);

  struct Node {
    std::map<std::string, std::unique_ptr<Node>, std::less<>> members;
    bool whole = false;  // with all that is below it

    const Node* Step(std::string_view key) const;  // null: no path leads there
  };
  const Node& root() const { return root_; }

  // The same paths one root further up (the items of a list, the object of an event), and others
  // beside them.
  Projection Below(const Path& above, const std::vector<Path>& besides = {}) const;

 private:
  std::vector<Path> paths_;
  Node root_;
};

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
Positions PositionsOf(std::string_view text);

}  // namespace mindgate::json
