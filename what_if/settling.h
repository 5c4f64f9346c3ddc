#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "watcher/scaling/decision.h"
#include "watcher/scaling/pod.h"
#include "what_if/forecast.h"

namespace mindgate::what_if {

// The pods of an instance, and how it ended.
struct SettledInstance {
  InstanceForecast told;
  size_t missing = 0;  // pods without a place, or on faulty hardware
};

// A pod that found a place.
struct Placed {
  size_t pod = 0;  // of the inventory
  size_t node = 0;
  std::set<std::string> chips{};
};

struct SettledService {
  size_t shapes = 0;
  watcher::scaling::Decision decision{};
};

// A cluster after everything has come to rest.
struct Settled {
  Inventory inventory{};
  std::map<std::pair<std::string, std::string>, SettledInstance> instances{};  // by ns and key
  std::map<watcher::scaling::ServiceKey, SettledService> services{};
  std::vector<Placed> placed{};
  std::vector<size_t> gone{};  // pods that go, whether they come back or not
  size_t others = 0;           // Forecast::others
};

// Lets the hypothesis happen: what is faulty goes as MindCluster's plugin decides
// (watcher/rescheduling), what is drained is evicted, groups of a LeaderWorkerSet are made anew;
// what was made again is placed in Volcano's order, by priority and then by age; instances under a
// scaling rule wait behind the gate until the rule wants them (watcher/scaling). It ends when
// nothing moves any more, also after `start_deadline`: what has no room no longer holds its
// siblings back then. Pods that have a node and start are taken to run.
Settled Settle(const ClusterSnapshot& snapshot, const Hypothesis& hypothesis);

// How one cluster differs from another: what is there only in `before` is not told.
Forecast Compare(const Settled& before, const Settled& after);

// The snapshot as it would be then.
ClusterSnapshot AfterSettling(const ClusterSnapshot& snapshot, const Settled& settled);

}  // namespace mindgate::what_if
