#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "what_if/snapshot.h"

namespace mindgate::what_if {

// Nodes that are drained one after the other, each back in service before the next one goes.
struct DrainOrder {
  std::vector<std::string> order{};     // none of them stops anything when its turn comes
  std::vector<std::string> stopping{};  // these do; by name
  size_t untried = 0;                   // stop nothing as the cluster is, and have had no turn
  bool operator==(const DrainOrder&) const = default;
};

// Pods that are read again after drains: after each that moves pods, all pods of the cluster.
inline constexpr size_t kMaxReadAgain = 300'000;

// Those that stop nothing as the cluster is come first, of these those that move fewest instances,
// then by name; what stops something is asked again after others have moved. `step` is called for
// each question.
DrainOrder OrderOfDrains(
    const ClusterSnapshot& snapshot, const std::vector<std::string>& nodes,
    size_t max_read_again = kMaxReadAgain, const std::function<void()>& step = [] {});

}  // namespace mindgate::what_if
