#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "watcher/simulation/manual_clock.h"

namespace mindgate::watcher::simulation {

// What watches tell a replica, each after a delay and no sooner than what was told before.
class WatchQueue {
 public:
  explicit WatchQueue(const ManualClock& clock) : clock_(clock) {}

  void Push(std::chrono::seconds delay, std::function<void()> tell) {
    Time due = clock_.WallNow() + delay;
    if (!told_.empty()) due = std::max(due, told_.back().due);
    told_.push_back({due, std::move(tell)});
  }

  // Tells what is due and returns whether there was anything.
  bool Deliver() {
    bool any = false;
    while (!told_.empty() && told_.front().due <= clock_.WallNow()) {
      const Told next = std::move(told_.front());
      told_.pop_front();
      next.tell();
      any = true;
    }
    return any;
  }

  std::optional<Time> next_due() const {
    return told_.empty() ? std::nullopt : std::optional(told_.front().due);
  }

 private:
  struct Told {
    Time due{};
    std::function<void()> tell;
  };

  const ManualClock& clock_;
  std::deque<Told> told_;
};

}  // namespace mindgate::watcher::simulation
