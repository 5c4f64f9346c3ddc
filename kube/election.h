#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <random>
#include <stop_token>
#include <string>

#include "base/time.h"
#include "json/value.h"
#include "kube/client.h"

namespace mindgate::kube {

// Chooses one of several replicas by a Lease. Clocks of hosts need not agree: another one's hold
// has ended only when its record stood unchanged for as long as it asked, by our own steady clock
// (client-go: tools/leaderelection).
class Elector {
 public:
  struct Options {
    std::string ns;
    std::string name;
    std::string identity;  // of this replica, no other's: its pod's name
    // How long others wait for a holder that does not renew. More than `renew_deadline`, by what
    // their clocks may run faster in that time.
    std::chrono::seconds lease{60};
    // A holder that has not renewed for so long no longer leads.
    std::chrono::seconds renew_deadline{40};
    // Between two reads of the Lease, and up to a fifth more, so that replicas do not come at once.
    std::chrono::seconds retry{10};
    // Why a read failed, for logs. It is not a failure that another one holds the Lease.
    std::function<void(const Fault& fault)> failed{};
  };

  // `client` should have a connection of its own, so that nothing is in the way of a renewal, a
  // timeout well below `renew_deadline` and no retries, as there is a next look. All three must
  // outlive this. `seed` spreads the pauses.
  Elector(Client& client, Sleeper& sleeper, const Clock& clock, Options options, uint64_t seed);

  // Takes the Lease when it is free and renews it, until `stop`; then it releases the Lease, so
  // that the next one need not wait. After losing the Lease it tries for it again. `on_change` is
  // called in this thread, the first time when it leads, and should return soon. It may learn of a
  // loss later than leading() shows it, by as long as a request may take, and learns of each: also
  // when a renewal that was under way succeeds after all.
  void Run(const std::stop_token& stop, const std::function<void(bool leading)>& on_change);

  // By the clock and not by what Run has got to: false as soon as the renewal is overdue, and then
  // until Run has reported that. From any thread, for the last check before an action.
  bool leading() const;

 private:
  using Report = std::function<void(bool leading)>;

  void TryToLead(const std::stop_token& stop, const Report& report);
  bool Extend(Clock::Instant until);
  Answer<bool> Hold(const std::stop_token& stop);
  Answer<bool> Create(const std::stop_token& stop);
  Answer<void> Update(Json spec, const std::stop_token& stop);
  Answer<void> Observe(Answer<Json> lease);
  bool IsOurs() const;
  bool IsTaken(Clock::Instant now) const;
  Json OurSpec() const;
  void Release();
  std::chrono::milliseconds NextPause();

  Client& client_;
  Sleeper& sleeper_;
  const Clock& clock_;
  const Options options_;
  std::minstd_rand random_;
  // We lead up to then. Whoever finds that it has passed ends it here, so that Run knows that
  // somebody may have seen it.
  mutable std::atomic<Clock::Instant::rep> until_;

  // What follows belongs to the thread of Run.
  Json lease_;                // as last seen or written; null: not yet
  Clock::Instant changed_{};  // when its spec was last seen to have changed
};

}  // namespace mindgate::kube
