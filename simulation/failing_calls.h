#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kube/transport.h"
#include "simulation/manual_clock.h"
#include "simulation/scenario.h"

namespace mindgate::simulation {

// The calls that fail for a while, as `failCalls` says. Of several the last one counts.
class FailingCalls {
 public:
  explicit FailingCalls(const ManualClock& clock) : clock_(clock) {}

  void Add(const FailCalls& calls, Time until) { failures_.push_back({calls, until}); }

  // Nothing: the call does not fail.
  std::optional<kube::Answer<kube::HttpAnswer>> Of(const kube::HttpCall& call) const;

 private:
  struct Failure {
    FailCalls calls;
    Time until{};
  };

  const ManualClock& clock_;
  std::vector<Failure> failures_;
};

}  // namespace mindgate::simulation
