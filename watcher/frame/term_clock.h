#pragma once

#include <optional>

#include "base/clock.h"
#include "base/mutex.h"
#include "watcher/frame/term.h"

namespace mindgate::watcher {

// The time of deadlines that are kept as wall times, because the next leader must know them. Within
// one term it runs with the steady clock: whoever sets the wall clock of the host, forward or back,
// neither ends a grace period early nor makes it longer. Times that another leader wrote are not
// comparable to the second; who reads them bounds them by Now(). Safe from many threads.
class TermClock {
 public:
  // `clock` must outlive it.
  explicit TermClock(const Clock& clock) : clock_(clock) {}

  // The wall time of the first call in this term, plus what has passed since by the steady clock.
  Time Now(const Term& term) {
    const Clock::Instant now = clock_.Now();
    const MutexLock lock(mutex_);
    if (!anchor_ || anchor_->term != term.since()) {
      anchor_ = Anchor{term.since(), clock_.WallNow(), now};
    }
    return anchor_->wall + std::chrono::floor<std::chrono::seconds>(now - anchor_->steady);
  }

 private:
  struct Anchor {
    Time term;
    Time wall;
    Clock::Instant steady;
  };

  const Clock& clock_;
  Mutex mutex_;
  std::optional<Anchor> anchor_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher
