#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "what_if/forecast.h"

namespace mindgate::what_if {

// What becomes of a pod before anything is placed.
enum class Loss : uint8_t {
  kStays,
  kGoes,     // and its owner makes it again
  kLost,     // and nobody does
  kBroken,   // it stays on faulty hardware
  kWaits,    // it had no place before
  kIgnored,  // it has ended, or another one comes for it already
};

struct PodLoss {
  Loss loss = Loss::kStays;
  std::string hit{};  // Hit::why; empty: nothing hits it
  std::optional<Action> action{};
  std::string why{};      // of the action
  Due due{};              // likewise
  std::string fix{};      // of one that is broken or lost
  bool is_other = false;  // it counts for Forecast::others
};

// Whether the pod is on a node and keeps its chips.
inline bool KeepsItsPlace(Loss loss) { return loss == Loss::kStays || loss == Loss::kBroken; }

// The reason of pods that go because their job did not run again without its faulty pods.
inline constexpr const char* kWithoutWholeJob = "it did not run again without the whole job";
inline constexpr const char* kWithoutRackBlock = "it did not run again without its rack blocks";

// What is supposed, and what came of it so far. The references must outlive it.
struct Situation {
  const SurveyedFaults& faults;
  const std::set<std::string, std::less<>>& drained;
  // Jobs that did not run again without their faulty pods, so that the pods of the widest scope
  // go, mostly all of theirs.
  std::set<GroupName> widened{};
  // Why nodes take none of the pods that find no place: it takes time for each of these.
  bool explains = false;
  // Pods of instances that elastic scaling gives up, and why.
  std::map<size_t, std::string> given_up{};
  std::chrono::seconds rebalance_after{0};
};

// Writes into `losses`, which has a place for each pod of the inventory, who of `pods` goes and
// why. Whoever is among them needs all pods of its PodGroup and of its group of a LeaderWorkerSet
// there. Returns the jobs that lose some of their pods, and more of them when that does not help.
std::set<GroupName> DecideLosses(const Inventory& inventory, const Jobs& jobs,
                                 const Situation& situation, std::span<const size_t> pods,
                                 std::vector<PodLoss>& losses);

// Whether a pod may go or break when its node gets a fault, or is drained. Others on the node
// count for Forecast::others at most.
bool IsConcerned(const Inventory& inventory, const Pod& pod, bool drained);

}  // namespace mindgate::what_if
