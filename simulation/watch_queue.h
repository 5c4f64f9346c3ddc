#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "simulation/manual_clock.h"

namespace mindgate::simulation {

// What watches report to a replica, each after a delay and no sooner than what the same watch
// reported before.
class WatchQueue {
 public:
  explicit WatchQueue(const ManualClock& clock) : clock_(clock) {}

  // `watch` is one of several, by any number.
  void Push(std::chrono::seconds delay, std::function<void()> report, int watch = 0) {
    Time& last = last_[watch];
    last = std::max(clock_.WallNow() + delay, last);
    reports_.emplace(last, std::move(report));
  }

  // Delivers what is due and returns whether there was anything.
  bool Deliver() {
    bool any = false;
    while (!reports_.empty() && reports_.begin()->first <= clock_.WallNow()) {
      const auto next = reports_.extract(reports_.begin());
      next.mapped()();
      any = true;
    }
    return any;
  }

  std::optional<Time> next_due() const {
    return reports_.empty() ? std::nullopt : std::optional(reports_.begin()->first);
  }

 private:
  const ManualClock& clock_;
  std::map<int, Time> last_;
  std::multimap<Time, std::function<void()>> reports_;  // in order of coming, where the time is one
};

}  // namespace mindgate::simulation
