#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/mutex.h"
#include "base/time.h"

namespace mindgate::watcher {

// How much of the whole cluster may be disrupted within a minute, whoever asks: what looks like
// many faults at once may be one mistake. Safe from many threads.
class DisruptionBudget {
 public:
  // Takes one of `per_minute`; when none is left, the time at which there is one again.
  std::optional<Time> Take(int64_t per_minute, Time now) {
    const MutexLock lock(mutex_);
    while (!taken_.empty() && taken_.front() + kMinute <= now) taken_.pop_front();
    if (std::ssize(taken_) < per_minute) {
      taken_.push_back(now);
      return std::nullopt;
    }
    // With fewer allowed than before, older ones must run out first.
    return taken_[taken_.size() - static_cast<size_t>(per_minute)] + kMinute;
  }

 private:
  static constexpr std::chrono::minutes kMinute{1};

  Mutex mutex_;
  std::deque<Time> taken_
      GUARDED_BY(mutex_);  // in ascending order, but for a clock that is set back
};

}  // namespace mindgate::watcher
