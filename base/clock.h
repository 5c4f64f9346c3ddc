#pragma once

#include <chrono>

#include "base/time.h"

namespace mindgate {

// Where deadlines and timestamps come from, so that tests can move time by hand. Safe from many
// threads.
class Clock {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  virtual Instant Now() const = 0;   // for deadlines and durations: never jumps
  virtual Time WallNow() const = 0;  // for people and for dates in configuration
};

class SystemClock final : public Clock {
 public:
  Instant Now() const override { return std::chrono::steady_clock::now(); }
  Time WallNow() const override {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  }
};

}  // namespace mindgate
