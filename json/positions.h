#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "json/issues.h"

namespace mindgate::json {

// Where each value of a document is in its text, by RFC 6901 pointer ("" is the root). A scalar's
// place is its own first character; so is a list item's and the root's. An object's or list's that
// is a member is that of its key. Memory is bounded by the text: a value costs its own key, not its
// whole pointer.
class Positions {
 public:
  // Values are named by numbers while the places are collected.
  static constexpr size_t kRoot = 0;

  Positions() : nodes_(1) {}

  // Adds the value that `parent` holds under `token` (an unescaped key, or an index in decimal),
  // once each; returns its number. For decoders.
  size_t Add(size_t parent, std::string token, Position at);

  // Adds or moves one value by pointer; ancestors that are not there get no place. Text that is not
  // a pointer is ignored.
  void Set(std::string_view pointer, Position at);

  // The place of `pointer`, else of its nearest ancestor that has one: a missing field is
  // reported where it should have been written. Takes time linear in the number of values.
  Position At(std::string_view pointer) const;

  bool empty() const { return nodes_.size() == 1 && nodes_[kRoot].at == Position{}; }

 private:
  // A node comes after its parent.
  struct Node {
    size_t parent = 0;
    std::string token;
    Position at;
  };

  // The number of a child, 0 (which is nobody's child) when there is none.
  size_t ChildOf(size_t parent, std::string_view token) const;

  std::vector<Node> nodes_;
};

}  // namespace mindgate::json
