#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/mutex.h"
#include "kube/transport.h"
#include "simulation/api_server.h"
#include "simulation/manual_clock.h"
#include "simulation/scenario.h"

namespace mindgate::simulation {

// What the watcher did to a pod.
struct PodAction {
  enum class Kind : uint8_t { kDeleted, kEvicted, kMarked };
  Kind kind = Kind::kDeleted;
  ApiServer::PodName pod;
  auto operator<=>(const PodAction&) const = default;
};

// The calls of the watcher, from any thread, on their way to the API server: one at a time, since
// watches follow each change while a call is made. Some fail for a while, as `failCalls` asks; of
// several of these the last one counts.
class Calls final : public kube::Transport {
 public:
  // Both must outlive it.
  Calls(const ManualClock& clock, ApiServer& server) : clock_(clock), server_(server) {}

  void Fail(const FailCalls& calls, Time until) { failures_.push_back({calls, until}); }
  // Those since the last call, by kind and pod: threads make calls in any order.
  std::vector<PodAction> TakeActions();

  kube::Answer<kube::HttpAnswer> Send(const kube::HttpCall& call, std::stop_token stop) override;
  kube::Answer<kube::HttpAnswer> Stream(const kube::HttpCall& call, const Consume& consume,
                                        std::stop_token stop) override;

 private:
  struct Failure {
    FailCalls calls;
    Time until{};
  };

  // Nothing: the call does not fail.
  std::optional<kube::Answer<kube::HttpAnswer>> FailureOf(const kube::HttpCall& call) const;

  const ManualClock& clock_;
  ApiServer& server_;
  std::vector<Failure> failures_;
  Mutex mutex_;
  std::vector<PodAction> actions_;
};

}  // namespace mindgate::simulation
