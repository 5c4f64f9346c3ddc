#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "json/issues.h"

namespace mindgate::json {

// Where each value of a document stands in its text, by RFC 6901 pointer ("" is the root).
// A scalar's place is its own first character; an object's or list's is that of the key (or list item) that holds it.
class Positions {
 public:
  void Set(std::string pointer, Position at) { places_.insert_or_assign(std::move(pointer), at); }

  // The place of `pointer`, else of its nearest ancestor that exists: a missing field is
  // reported where it should have been written.
  Position At(std::string_view pointer) const;

  bool empty() const { return places_.empty(); }

 private:
  std::unordered_map<std::string, Position> places_;
};

}  // namespace mindgate::json
