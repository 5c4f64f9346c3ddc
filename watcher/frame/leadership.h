#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/threads.h"
#include "base/time.h"
#include "kube/client.h"
#include "kube/election.h"

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

  // When it began, by the wall clock. Two terms in a row differ in it.
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

// Whether this replica leads, by a Lease. Safe from many threads.
class Leadership {
 public:
  struct Options {
    bool elect = true;  // if false, this replica always leads
    std::string ns{};   // of the Lease
    std::string lease{};
    std::string identity{};
  };

  // `client` should have a connection of its own, no retries and a timeout of 10 s, so that slow
  // requests do not delay the renewal. All must outlive it.
  Leadership(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, log::Logger& logger,
             Options options, uint64_t seed);
  // Releases the Lease. All work that requires leadership must have finished.
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  // `on_change` is called from another thread when a term begins or ends; never if
  // Options::elect is false, and never again once Resign has returned. It must not call Resign.
  void Start(std::function<void()> on_change);
  // Ends the term for good, before work is stopped: calls that are under way end. Waits for an
  // `on_change` that is running, so that what it uses may be destroyed afterwards. The destructor
  // releases the Lease.
  void Resign();

  bool leading() const { return term().has_value(); }
  // Nothing while this replica does not lead.
  std::optional<Term> term() const;
  const std::string& identity() const { return options_.identity; }

 private:
  bool Holds() const { return elector_ == nullptr || elector_->leading(); }
  void Changed(bool leads);
  void Report(bool leads);

  const Options options_;
  const Clock& clock_;
  log::Logger& logger_;
  std::unique_ptr<kube::Elector> elector_;  // null: no election
  mutable Mutex mutex_;
  std::optional<Time> since_ GUARDED_BY(mutex_);  // nothing: this replica does not lead
  Time began_ GUARDED_BY(mutex_){};               // the last term
  std::stop_source ended_ GUARDED_BY(mutex_);     // of the term
  bool resigned_ GUARDED_BY(mutex_) = false;
  Mutex calling_;  // held while `on_change_` runs; never together with `mutex_`
  std::function<void()> on_change_ GUARDED_BY(calling_);  // null: resigned, or not started
  std::stop_source stop_;
  std::jthread thread_;  // last: ends first
};

}  // namespace mindgate::watcher
