#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/collections.h"
#include "base/time.h"
#include "json/value.h"
#include "offline/report.h"
#include "schemas/config.h"
#include "schemas/kinds.h"
#include "what_if/forecast.h"
#include "what_if/snapshot.h"

namespace mindgate::audit {

// What the death of a card or of a node does to each workload that runs, each supposed alone (N-1).

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

// Evaluates what a cluster runs as admission would if it were created now, and supposes the death
// of each card and node. Nothing is written.

struct AuditOptions {
  std::string ns{};  // empty: all namespaces, and objects that are in none
  std::vector<const schemas::KindInfo*> kinds{};  // of these alone; empty: of all
  json::Json selector{};                          // of labels (kube/resource.h); null: all
  bool strict = false;                            // warnings deny
  Time now{};
};

// An object that is evaluated: no controller that mindgate knows made it. For the pods of a
// controller that mindgate does not know it stands once, with one of its pods in `evaluated`.
struct Workload {
  std::string api_version;
  std::string kind;
  std::string ns;  // empty: it is in none
  std::string name;
  std::string uid{};
  std::string framework{};  // "deployment", the key of its profile
  bool npus = false;        // its pods ask for NPUs
  offline::ReportedObject evaluated;
  Losses losses{};

  std::string Title() const;  // "Deployment chat/llm"
};

struct Audit {
  Time taken{};
  std::string ns;  // as asked
  // With NPUs or findings: the worst first, then by namespace, kind and name.
  std::vector<Workload> workloads;
  offline::OutcomeCounts counts;  // of all that were evaluated
  size_t ended = 0;               // jobs and pods that were left out, since they have ended
  bool supposed = false;          // whether losses were supposed
  std::chrono::seconds grace_over_time = schemas::Config().grace_over_time;  // of the configuration
  // What could not be read, a sentence each without its full stop: it is not in the audit.
  std::vector<std::string> unread;

  bool denies() const { return counts.denied + counts.errors > 0; }
};

// `snapshot`: of the same cluster, for losses; null: none are supposed. `step` is called as the
// audit goes on.
Audit Run(
    ObjectSource& source, const what_if::ClusterSnapshot* snapshot, const schemas::Config& config,
    const AuditOptions& options,
    const std::function<void(size_t done, size_t of)>& step = [](size_t, size_t) {});

}  // namespace mindgate::audit
