#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"

namespace mindgate::watcher {

// How much of the whole cluster may be disrupted within a minute, whichever controller asks: what
// looks like many faults at once may be one mistake. Of that a namespace gets an equal share of
// all that asked within the minute, and half at most, so that one tenant's faults leave some to the
// others. Safe from many threads.
class DisruptionBudget {
 public:
  using Instant = Clock::Instant;

  // Takes one of `per_minute`; when there is none for the namespace, the time to ask again.
  std::optional<Instant> Take(const std::string& ns, int64_t per_minute, Instant now);
  // What Take would answer. Takes nothing, so that a look which is not worth it need not begin.
  std::optional<Instant> Ask(const std::string& ns, int64_t per_minute, Instant now);
  // The newest one of the namespace: nothing was disrupted after all.
  void GiveBack(const std::string& ns);

 private:
  static constexpr std::chrono::minutes kMinute{1};

  struct Taken {
    Instant when{};
    std::string ns;
  };

  std::optional<Instant> FreeAt(const std::string& ns, int64_t per_minute, Instant now)
      REQUIRES(mutex_);

  Mutex mutex_;
  std::deque<Taken> taken_ GUARDED_BY(mutex_);               // of the last minute, oldest first
  std::map<std::string, Instant> asked_ GUARDED_BY(mutex_);  // of the last minute, by namespace
};

}  // namespace mindgate::watcher
