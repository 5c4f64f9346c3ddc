#pragma once

#include "simulation/scenario.h"
#include "simulation/timeline.h"

namespace mindgate::simulation {

// After the last entry a play goes on until nothing more happens, but at most for so long.
inline constexpr std::chrono::seconds kAfterLast = std::chrono::hours(1);

// A play that passes one of these stops, with an event; others would fill memory or never end.
struct PlayLimits {
  // About 200 MB. Each entry of a timeline may move many instances.
  size_t events = 1'000'000;
  // At one moment. Each round grants whatever may be granted, so that there is about one for each
  // shape; more only where nothing takes time, or the decision never comes to rest.
  int rounds = 1'000;
};

// Plays a scenario: the watcher's own reconcilers (Replica) and those who make, place and run pods
// (World) at one API server. At each moment all of them act until none changes anything; what
// is due between two seconds is due at the later one. Deterministic: no clock, no threads, no
// randomness. Takes what ReadScenarios found without faults.
Playback Play(const Scenario& scenario, const PlayLimits& limits = {});

}  // namespace mindgate::simulation
