#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "json/arena.h"
#include "json/value.h"

namespace mindgate::kube {

// How many objects to ask for in the next page of a list. Nobody knows before how large they are:
// a namespace may be full of objects of a megabyte. So it begins low, halves when an answer was too
// large, and doubles only when the page before filled no more than a quarter of what a page may, so
// that the next one is expected to fill half of it.
class PageSize {
 public:
  static constexpr int64_t kFirst = 50;
  static constexpr int64_t kMax = 500;  // client-go's (tools/pager, defaultPageSize)

  explicit PageSize(int64_t first) : objects_(std::clamp<int64_t>(first, 1, kMax)) {}

  int64_t objects() const { return objects_; }

  // False: it was one object already.
  bool Halve() {
    if (objects_ == 1) return false;
    objects_ /= 2;
    return true;
  }

  // A page came that took so many of the bytes that one may take.
  void Came(size_t bytes, size_t of_bytes) {
    if (bytes <= of_bytes / 4) objects_ = std::min(objects_ * 2, kMax);
  }

 private:
  int64_t objects_;
};

// Cuts a stream into lines: a watch is one JSON value a line. One thread.
class LineSplitter {
 public:
  // `limit`: bytes of the longest line.
  explicit LineSplitter(size_t limit) : limit_(limit) {}

  // Gives each whole line, without its end and never empty, to `consume`, which returns false to
  // end. False when it did, or when a line passed the limit (see too_long).
  template <typename Consume>
  bool Feed(std::string_view piece, const Consume& consume) {
    while (!piece.empty()) {
      const size_t end = piece.find('\n');
      const std::string_view part = piece.substr(0, end);
      if (rest_.size() + part.size() > limit_) {
        too_long_ = true;
        return false;
      }
      if (end == std::string_view::npos) {
        rest_ += part;
        return true;
      }
      piece.remove_prefix(end + 1);
      bool more = true;
      if (rest_.empty()) {
        if (!part.empty()) more = consume(part);
      } else {
        rest_ += part;
        more = consume(std::string_view(rest_));
        rest_.clear();
        // One large object must not be paid for until the watch ends.
        if (rest_.capacity() > kMaxKept) rest_.shrink_to_fit();
      }
      if (!more) return false;
    }
    return true;
  }

  bool too_long() const { return too_long_; }
  bool in_a_line() const { return !rest_.empty(); }

 private:
  static constexpr size_t kMaxKept = 256 * 1024;

  const size_t limit_;
  std::string rest_;
  bool too_long_ = false;
};

// The text of a list, cut into the texts of its parts, so that a page costs its text and the tree
// of one item at a time. It looks at brackets and strings only: a part is JSON if a decoder says
// so. Views of the text that it was made of.
class ListText {
 public:
  // The error says why the text is not that of a list.
  static tl::expected<ListText, std::string> Of(std::string_view text);

  std::string_view metadata() const { return metadata_; }  // empty: there is none

  // The next item, once each; nothing after the last.
  std::optional<std::string_view> Next();

 private:
  std::string_view metadata_;
  std::string_view rest_;  // of the items, from the next one on
};

// What tenants write into objects is free text in many places where Kubernetes expects a name: the
// API server checks neither the name nor the kind nor the apiVersion of an ownerReference
// (kubernetes: apimachinery/pkg/api/validation/objectmeta.go), and an annotation may have 256 KiB.
// Whoever reads objects of a cluster gets them through Understand, so that no reader has to check.

// Of a name: no name of Kubernetes is longer (RFC 1123 subdomain).
inline constexpr size_t kMaxName = 253;
// Of any other text. The longest that MindCluster or Volcano write on a pod has some 200 bytes.
inline constexpr size_t kMaxValue = 1024;

// No longer than a name, and no control characters in it. What PathOf makes of it is one segment.
bool IsName(std::string_view text);
// No longer than a value, and no control characters in it but tabs and ends of lines.
bool IsValue(std::string_view text);

struct Understood {
  // The object; nothing where its own name or namespace is none.
  std::optional<json::Value> object{};
  size_t bytes = 0;       // of its texts, without `data`
  std::string problem{};  // what of it was left out first: a path and why; empty: all is there
};

// The object without texts that are not understood: each is null, which readers take for absent. A
// name is a text whose key ends with "name", or is "apiVersion", "kind", "namespace" or "uid". An
// item of a list without its name is null as a whole: an owner is one that can be found, or none.
// `data` and `binaryData` of a ConfigMap or Secret stay: they are documents, and their readers have
// limits of their own.
//
// What is null takes rows in `arena`. All else is a view of what `object` is a view of.
Understood Understand(const json::Value& object, json::Arena& arena);

}  // namespace mindgate::kube
