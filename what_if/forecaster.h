#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "what_if/convergence.h"
#include "what_if/forecast.h"
#include "what_if/hypothesis.h"
#include "what_if/inventory.h"
#include "what_if/scheduler.h"
#include "what_if/snapshot.h"

namespace mindgate::what_if {

// Answers many questions about one cluster, each as ForecastOf does, but for why nodes take no pods
// (Shortage::left_out). What no question changes is decided once; each then takes the time of the
// pods that it concerns, and of those that move in any case. One thread at a time.
class Forecaster {
 public:
  // Each question is asked in addition to `base`, and its forecast is what becomes worse by it.
  // `ground` must outlive the forecaster.
  explicit Forecaster(const InitialState& initial, const Hypothesis& base = {});

  Forecast Of(const Hypothesis& hypothesis);

 private:
  // A family that only waits, for room that no node has: it is left out while none gets it.
  struct Sleeper {
    size_t family = 0;
    std::vector<size_t> pods{};  // one of those that are alike
  };

  void FindThoseThatWait();
  std::optional<Sleeper> SleeperOf(size_t family);
  // `also`: pods of other families about which the hypothesis decides something, in ascending
  // order.
  Settled SettleWith(const Hypothesis& hypothesis,
                     const std::set<std::string, std::less<>>& drained,
                     const std::vector<size_t>& nodes, const std::set<size_t>& families,
                     const std::vector<size_t>& also, std::set<size_t>& woken);

  const InitialState& initial_;
  const std::set<std::string, std::less<>> drained_;  // without a question
  SurveyedFaults faults_;                             // likewise, but while a question is answered
  Board board_;                                       // likewise
  Settled before_;
  std::set<size_t> placing_;  // families that place pods without a hypothesis
  std::vector<Sleeper> sleepers_;
  std::vector<InstanceKey> always_reported_;  // instances that every forecast has
};

// What each single loss would stop (N-1).

// One of the losses that are supposed one after the other, each alone.
struct SingleLoss {
  std::string name;  // "npu-3", "npu-3/Ascend910-5", "rack=r1"
  Hypothesis hypothesis{};
};

// By name, numbers in names as numbers.
std::vector<SingleLoss> EachNode(const Inventory& inventory);
std::vector<SingleLoss> EachCard(const Inventory& inventory);
// Of all nodes with the same value of a label; none: no node has it.
std::vector<SingleLoss> EachValue(const Inventory& inventory, std::string_view label);

// An instance that ends worse than without the loss.
struct StoppedInstance {
  std::string ns;
  std::string owner;
  std::string pod_group;
  Outcome outcome = Outcome::kNoRoom;
  size_t without_place = 0;  // pods
  bool operator==(const StoppedInstance&) const = default;
};

// What one loss stops. What ends so without it does not count.
struct Impact {
  std::string name;
  std::vector<StoppedInstance> down{};      // without room for enough of its pods, broken or lost
  std::vector<StoppedInstance> degraded{};  // some of its pods serve, or the rule holds it back
  std::vector<ServiceForecast> shrunk{};    // services under a scaling rule
  size_t moved = 0;                         // instances that recover
  size_t without_place = 0;                 // pods
  // NPUs for which there is no room, by resource: more room for each instance alone, added up.
  std::map<std::string, int64_t> missing{};

  bool costs_nothing() const { return down.empty() && degraded.empty() && shrunk.empty(); }
  // Services of which no shape runs any more.
  size_t services_down() const;
  bool operator==(const Impact&) const = default;
};

Impact ImpactOf(std::string name, const Forecast& forecast);

// The worst first: who takes most services down, then most instances, then shrinks most services,
// degrades most instances and leaves most pods without a place; the others by name.
void Rank(std::vector<Impact>& impacts);

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
