#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "json/arena.h"

namespace mindgate::json {

// Rows whose lengths are not known before they end, and which begin and end inside each other: a
// stack on which the innermost row grows. One that ends moves to an arena; a wide one takes the
// stack's own memory along instead, since a copy would double what it takes.
template <typename T>
class RowStack {
 public:
  // Of so many entries in all, which spares growing; memory is taken as it is used.
  void Reserve(size_t entries) { stack_.reserve(entries); }

  // Where a row begins.
  size_t size() const { return stack_.size(); }
  template <typename... Parts>
  void Push(const Parts&... parts) {
    stack_.emplace_back(parts...);
  }
  // Of the row that began at `begin`, until it ends.
  std::span<T> From(size_t begin) { return std::span(stack_).subspan(begin); }

  // Ends the innermost row. What is returned lives until Clear.
  std::span<const T> End(size_t begin, Arena& arena) {
    const std::span<T> row = From(begin);
    if (row.size() >= kWide && row.size() >= begin) return Keep(begin);
    T* const copy = arena.Row<T>(row.size());
    std::copy(row.begin(), row.end(), copy);
    stack_.resize(begin);
    return {copy, row.size()};
  }

  void Clear() {
    stack_.clear();
    kept_.clear();
  }

 private:
  // 64 KB of members.
  static constexpr size_t kWide = 2048;

  std::span<const T> Keep(size_t begin) {
    std::vector<T> below;
    below.reserve(stack_.capacity() - stack_.size() + begin);
    below.assign(stack_.begin(), stack_.begin() + static_cast<std::ptrdiff_t>(begin));
    kept_.push_back(std::exchange(stack_, std::move(below)));
    return std::span(std::as_const(kept_.back())).subspan(begin);
  }

  std::vector<T> stack_;
  std::vector<std::vector<T>> kept_;
};

}  // namespace mindgate::json
