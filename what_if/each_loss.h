#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "what_if/forecast.h"
#include "what_if/hypothesis.h"
#include "what_if/inventory.h"

// What each single loss would stop (N-1).
namespace mindgate::what_if {

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

}  // namespace mindgate::what_if
