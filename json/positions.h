#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
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

}  // namespace mindgate::json
