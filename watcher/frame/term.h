#pragma once

#include <functional>
#include <stop_token>
#include <utility>

#include "base/time.h"

namespace mindgate::watcher {

// A time for which this replica leads, from taking the Lease to losing it; it never begins again.
// What is written is written under a term and ends with it. Copies are the same term. Safe from
// many threads.
class Term {
 public:
  // `holds` is asked before each write, from any thread; `ended` is requested when the term is over
  // or the replica stops.
  Term(Time since, std::function<bool()> holds, std::stop_token ended)
      : since_(since), holds_(std::move(holds)), ended_(std::move(ended)) {}

  // When it began, by the wall clock.
  Time since() const { return since_; }
  // By the clock: false as soon as the renewal is overdue, whoever has noticed.
  bool holds() const { return !ended_.stop_requested() && holds_(); }
  // Ends calls that are under way.
  const std::stop_token& ended() const { return ended_; }

 private:
  Time since_;
  std::function<bool()> holds_;
  std::stop_token ended_;
};

}  // namespace mindgate::watcher
