#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/client.h"
#include "kube/election.h"
#include "watcher/frame/term.h"

namespace mindgate::watcher {

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
  std::stop_source ended_ GUARDED_BY(mutex_);     // of the term
  bool resigned_ GUARDED_BY(mutex_) = false;
  Mutex calling_;  // held while `on_change_` runs; never together with `mutex_`
  std::function<void()> on_change_ GUARDED_BY(calling_);  // null: resigned, or not started
  std::stop_source stop_;
  std::jthread thread_;  // last: ends first
};

}  // namespace mindgate::watcher
