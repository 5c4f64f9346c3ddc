#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mindgate::json {

// Memory that is handed out bit by bit and given back at once. What is in it is never destroyed, so
// it must not own anything. One thread at a time.
class Arena {
 public:
  // Its first block has that many bytes; later ones grow by half.
  explicit Arena(size_t first_block) : first_block_(first_block) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { FreeBlocks(0); }

  // A row of `count` objects whose content is undefined.
  template <typename T>
  T* Row(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    static_assert(alignof(T) <= alignof(std::max_align_t));
    if (count == 0) return nullptr;
    const size_t bytes = count * sizeof(T);
    used_ += bytes;
    const size_t padding = -reinterpret_cast<uintptr_t>(next_) % alignof(T);
    if (room_ < padding + bytes) [[unlikely]] {
      return static_cast<T*>(FromNewBlock(bytes));
    }
    std::byte* const row = next_ + padding;
    next_ = row + bytes;
    room_ -= padding + bytes;
    return reinterpret_cast<T*>(row);
  }

  // A copy of the text.
  std::string_view Text(std::string_view text) {
    if (text.empty()) return {};
    char* copy = Row<char>(text.size());
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  // Everything that was handed out is gone. One block is kept, as large as what was handed out.
  void Clear() {
    if (used_ > first_block_) {
      first_block_ = std::bit_ceil(used_);
      FreeBlocks(0);
    } else {
      FreeBlocks(1);
    }
    next_ = newest_ == nullptr ? nullptr : BytesOf(newest_);
    room_ = newest_ == nullptr ? 0 : first_block_;
    last_block_ = room_;
    used_ = 0;
  }

  size_t used() const { return used_; }  // bytes handed out

 private:
  // In front of the bytes that it hands out.
  struct alignas(std::max_align_t) Block {
    Block* before;
  };
  static std::byte* BytesOf(Block* block) { return reinterpret_cast<std::byte*>(block + 1); }

  [[gnu::noinline]] void* FromNewBlock(size_t bytes) {
    const size_t wanted = newest_ == nullptr ? first_block_ : last_block_ + last_block_ / 2;
    last_block_ = std::max(bytes, wanted);
    newest_ = ::new (::operator new(sizeof(Block) + last_block_)) Block{newest_};
    ++blocks_;
    next_ = BytesOf(newest_) + bytes;
    room_ = last_block_ - bytes;
    return BytesOf(newest_);
  }

  // All but the oldest ones.
  void FreeBlocks(size_t kept) {
    for (; blocks_ > kept; --blocks_) ::operator delete(std::exchange(newest_, newest_->before));
  }

  size_t first_block_;
  Block* newest_ = nullptr;
  size_t blocks_ = 0;
  size_t last_block_ = 0;      // bytes of the newest
  std::byte* next_ = nullptr;  // what is left of it
  size_t room_ = 0;
  size_t used_ = 0;
};

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
