#pragma once

#include "watcher/simulation/scenario.h"
#include "watcher/simulation/timeline.h"

namespace mindgate::watcher::simulation {

// After the last entry a play goes on until nothing more happens, but at most for so long.
inline constexpr std::chrono::seconds kAfterLast = std::chrono::hours(1);

// What a play may write: each entry may move many instances. About 200 MB.
inline constexpr size_t kMostEvents = 1'000'000;

// Plays a scenario with the decision that the watcher makes (scaling::Decide), a scheduler that
// places whole instances on the first nodes with room, the longest waiting first, and controllers
// that make lost pods anew behind the gate. At each moment the scheduler and the decision run until
// neither changes anything. Deterministic: no clock, no threads, no randomness. A scenario that was
// read without faults always comes to an end.
Playback Play(const Scenario& scenario);

}  // namespace mindgate::watcher::simulation
