#pragma once

#include <atomic>

#include "base/time.h"

namespace mindgate::testing {

// Time that moves when a test moves it. Safe from many threads.
class FakeClock final : public Clock {
 public:
  Instant Now() const override { return Instant(std::chrono::hours(1)) + Elapsed(); }
  Time WallNow() const override {
    // 2026-01-01T00:00:00Z
    return Time(std::chrono::seconds(1767225600)) +
           std::chrono::floor<std::chrono::seconds>(Elapsed());
  }
  void Advance(std::chrono::milliseconds by) { elapsed_ms_ += by.count(); }

 private:
  std::chrono::milliseconds Elapsed() const {
    return std::chrono::milliseconds(elapsed_ms_.load());
  }

  std::atomic<int64_t> elapsed_ms_{0};
};

}  // namespace mindgate::testing
