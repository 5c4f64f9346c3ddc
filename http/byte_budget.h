#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace mindgate::http {

// Bytes of requests and answers that all connections may hold together. Safe from many threads.
class ByteBudget {
 public:
  explicit ByteBudget(size_t total) : total_(total) {}

  // A holder of more than this may not use the last quarter, so that a few senders of huge bodies
  // cannot keep reviews of ordinary size (10 KB typically, 60 KB at most in the field) out.
  static constexpr size_t kLarge = 256 * 1024;

  // Changes a holder's share from `held` to `wanted` bytes. Shrinking always succeeds; a refused
  // growth changes nothing.
  bool Resize(size_t held, size_t wanted) {
    if (wanted <= held) {
      used_ -= held - wanted;
      return true;
    }
    return Add(used_, wanted - held, wanted > kLarge ? total_ - total_ / 4 : total_);
  }

  // The same for an answer, which stays for as long as its reader pleases: all answers together get
  // a quarter, so that those who do not read keep nobody else out.
  bool ResizeAnswer(size_t held, size_t wanted) {
    if (wanted > held && !Add(answers_, wanted - held, total_ / 4)) return false;
    if (!Resize(held, wanted)) {
      answers_ -= wanted - held;
      return false;
    }
    if (wanted < held) answers_ -= held - wanted;
    return true;
  }

  size_t used() const { return used_; }

 private:
  static bool Add(std::atomic<size_t>& used, size_t more, size_t limit) {
    if (used.fetch_add(more) + more <= limit) return true;
    used -= more;
    return false;
  }

  const size_t total_;
  std::atomic<size_t> used_{0};
  std::atomic<size_t> answers_{0};  // of these
};

// Bytes that were charged to a budget and go back to it with the lease. Moves; must not outlive the
// budget.
class ByteLease {
 public:
  ByteLease() = default;
  ByteLease(ByteBudget& budget, size_t bytes) : budget_(&budget), bytes_(bytes) {}
  ByteLease(ByteLease&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
  ByteLease& operator=(ByteLease&&) = delete;
  ~ByteLease() {
    if (budget_ != nullptr) budget_->Resize(bytes_, 0);
  }

 private:
  ByteBudget* budget_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace mindgate::http
