#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "what_if/forecast.h"
#include "what_if/snapshot.h"

// What the death of a card or of a node does to each workload that runs, each supposed alone (N-1).
namespace mindgate::audit {

// The mildest first.
enum class Recovery : uint8_t {
  kRecovers,    // all of its pods have a place again
  kDegraded,    // some have none, and the others serve
  kHangs,       // too few of its pods have a place, or it waits behind the gate
  kUnattended,  // it stays on faulty hardware, and nobody does anything
  kLost,        // its pods are gone, and nobody makes them again
};
std::string_view RecoveryName(Recovery recovery);  // "recovers", as in JSON
Recovery RecoveryOf(what_if::Outcome outcome);

// Stand for a rule in reports (offline/report.h).
inline constexpr std::string_view kLossOfCard = "loss-of-a-card";
inline constexpr std::string_view kLossOfNode = "loss-of-a-node";

struct LossEffect {
  Recovery recovery = Recovery::kRecovers;
  std::string loss;  // what dies: "npu-3", "npu-3/Ascend910-5"
  what_if::InstanceForecast instance;
};

// Of one workload: the worst of its losses.
struct Losses {
  std::optional<LossEffect> card{};  // nothing: none of its pods has a card
  std::optional<LossEffect> node{};  // nothing: none of its pods has a node
  int64_t npus = 0;                  // that its pods ask for
  size_t pods = 0;                   // that ask for NPUs
  size_t waiting = 0;                // of these, without a node even now
};

using WorkloadName = std::pair<std::string, std::string>;  // namespace, and "Deployment/chat"

// Of all workloads with pods that ask for NPUs. `topmost` gives the workload that a pod's owner
// belongs to. A node is supposed lost once for all its pods; a card once for each instance of a
// workload, the first of its first pod. `step` is called with how many of how many losses were
// supposed.
std::map<WorkloadName, Losses> LossesOf(
    const what_if::ClusterSnapshot& snapshot,
    const std::function<WorkloadName(const WorkloadName&)>& topmost,
    const std::function<void(size_t done, size_t of)>& step = [](size_t, size_t) {});

}  // namespace mindgate::audit
