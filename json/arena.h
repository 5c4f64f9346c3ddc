#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <type_traits>

namespace mindgate::json {

// Memory that is handed out bit by bit and given back at once. What is in it is never destroyed, so
// it must not own anything. One thread at a time.
class Arena {
 public:
  // Its first block has that many bytes; later ones grow.
  explicit Arena(size_t first_block) : first_block_(first_block) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A row of `count` objects whose content is undefined.
  template <typename T>
  T* Row(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (count == 0) return nullptr;
    used_ += count * sizeof(T);
    return static_cast<T*>(Memory().allocate(count * sizeof(T), alignof(T)));
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
      memory_.reset();
      block_.reset();
    } else if (used_ > 0) {
      memory_->release();
    }
    used_ = 0;
  }

  size_t used() const { return used_; }  // bytes handed out

 private:
  std::pmr::memory_resource& Memory() {
    if (!memory_) {
      block_ = std::make_unique_for_overwrite<std::byte[]>(first_block_);
      memory_.emplace(block_.get(), first_block_);
    }
    return *memory_;
  }

  size_t first_block_;
  std::unique_ptr<std::byte[]> block_;
  std::optional<std::pmr::monotonic_buffer_resource> memory_;
  size_t used_ = 0;
};

}  // namespace mindgate::json
