#pragma once

#include <atomic>

#include "base/time.h"

namespace mindgate::testing {

// Time that passes and can be moved ahead besides. Safe from many threads.
class RunningClock final : public Clock {
 public:
  Instant Now() const override { return Instant(std::chrono::hours(1)) + Elapsed(); }
  Time WallNow() const override {
    // 2026-01-01T00:00:00Z
    return Time(std::chrono::seconds(1767225600)) +
           std::chrono::floor<std::chrono::seconds>(Elapsed());
  }
  void Advance(std::chrono::milliseconds by) { moved_ms_ += by.count(); }

 private:
  Instant::duration Elapsed() const {
    return std::chrono::steady_clock::now() - begin_ + std::chrono::milliseconds(moved_ms_.load());
  }

  const Instant begin_ = std::chrono::steady_clock::now();
  std::atomic<int64_t> moved_ms_{0};
};

}  // namespace mindgate::testing
