#pragma once

#include <cstdint>
#include <optional>
#include <set>
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
  std::optional<Deed> deed{};
  std::string why{};   // of the deed
  std::string mend{};  // of one that is broken or lost
};

// The reason of pods that go because their job did not run again without its faulty pods.
inline constexpr const char* kWithoutWholeJob = "it did not run again without the whole job";
inline constexpr const char* kWithoutRackBlock = "it did not run again without its rack blocks";

// Who goes and why, by the pod's place in the inventory.
struct Losses {
  std::vector<PodLoss> pods;
  size_t others = 0;  // Forecast::others
  // Jobs that lose some of their pods, and more of them when that does not help.
  std::set<GroupName> may_widen{};
};

// `widened`: jobs that did not run again without their faulty pods, so that the pods of the
// widest scope go, mostly all of theirs.
Losses LossesOf(const ClusterSnapshot& snapshot, const Inventory& inventory,
                const SurveyedFaults& faults, const std::set<std::string, std::less<>>& drained,
                const std::set<GroupName>& widened);

}  // namespace mindgate::what_if
