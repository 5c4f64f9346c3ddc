#pragma once

#include <chrono>

#include "base/clock.h"

namespace mindgate::simulation {

// Time of a play, which begins at zero and moves when it is set. One thread.
class ManualClock final : public Clock {
 public:
  Instant Now() const override { return Instant(now_.time_since_epoch()); }
  Time WallNow() const override { return now_; }
  void Set(Time now) { now_ = now; }

 private:
  Time now_{};
};

}  // namespace mindgate::simulation
