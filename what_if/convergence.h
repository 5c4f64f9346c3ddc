#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "watcher/scaling/decision.h"
#include "watcher/scaling/pod.h"
#include "what_if/forecast.h"
#include "what_if/inventory.h"
#include "what_if/scheduler.h"

namespace mindgate::what_if {

// The pods of an instance, and how it ended.
struct SettledInstance {
  InstanceForecast reported;
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

// A cluster after everything has come to rest, or a part of it.
struct Settled {
  std::map<InstanceKey, SettledInstance> instances{};
  std::map<watcher::scaling::ServiceKey, SettledService> services{};
  std::vector<Placed> placed{};
  std::vector<size_t> gone{};  // pods that go, whether they come back or not
  size_t others = 0;           // Forecast::others, of the whole cluster
};

// Lets the hypothesis happen: what is faulty goes as MindCluster's plugin decides
// (watcher/rescheduling), what is drained is evicted, groups of a LeaderWorkerSet are recreated;
// what was recreated is placed in Volcano's order, by priority and then by age; instances under a
// scaling rule wait behind the gate until the rule wants them (watcher/scaling). It ends when
// nothing moves any more, also after `start_deadline`: what has no room no longer holds its
// siblings back then. Pods that have a node and start are taken to run.
Settled Settle(const InitialState& initial, const Hypothesis& hypothesis);

// The same of a part of the cluster, on a board that has decided about the rest. `pods` are those
// of the part, and those of other families about which the situation decides something; `nodes` are
// those of which it differs from the board's. `decided` is called when the board has decided,
// before anything is placed. Chips are not given.
Settled SettlePart(
    const InitialState& initial, const Part& part, Situation situation,
    std::span<const size_t> pods, std::span<const size_t> nodes, Board& board,
    const std::function<void()>& decided = [] {});

// How one cluster differs from another: what is there only in `before` is not reported.
Forecast Compare(const Settled& before, const Settled& after);
// Only these services are compared.
Forecast Compare(const Settled& before, const Settled& after,
                 const std::set<watcher::scaling::ServiceKey>& services);

// The snapshot as it would be then.
ClusterSnapshot AfterSettling(const InitialState& initial, const Settled& settled);

}  // namespace mindgate::what_if
