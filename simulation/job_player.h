#pragma once

#include "simulation/player.h"

namespace mindgate::simulation {

// As Play, of a scenario with jobs: the reconciler of rescheduling (JobReplica), and those who
// make, place and run pods (Jobs), at one API server.
Playback PlayJobs(const Scenario& scenario, const PlayLimits& limits);

}  // namespace mindgate::simulation
