#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

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

}  // namespace mindgate::json
