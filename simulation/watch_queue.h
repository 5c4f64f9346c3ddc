#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "simulation/manual_clock.h"

namespace mindgate::simulation {

// What watches tell a replica, each after a delay and no sooner than what the same watch told
// before.
class WatchQueue {
 public:
  explicit WatchQueue(const ManualClock& clock) : clock_(clock) {}

  // `watch` is one of several, by any number.
  void Push(std::chrono::seconds delay, std::function<void()> tell, int watch = 0) {
    Time& last = last_[watch];
    last = std::max(clock_.WallNow() + delay, last);
    told_.emplace(last, std::move(tell));
  }

  // Tells what is due and returns whether there was anything.
  bool Deliver() {
    bool any = false;
    while (!told_.empty() && told_.begin()->first <= clock_.WallNow()) {
      const auto next = told_.extract(told_.begin());
      next.mapped()();
      any = true;
    }
    return any;
  }

  std::optional<Time> next_due() const {
    return told_.empty() ? std::nullopt : std::optional(told_.begin()->first);
  }

 private:
  const ManualClock& clock_;
  std::map<int, Time> last_;
  std::multimap<Time, std::function<void()>> told_;  // in order of coming, where the time is one
};

}  // namespace mindgate::simulation
