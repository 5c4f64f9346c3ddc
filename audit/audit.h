#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "audit/losses.h"
#include "audit/object_source.h"
#include "base/time.h"
#include "json/json.h"
#include "offline/report.h"
#include "schemas/config.h"
#include "schemas/kinds.h"
#include "what_if/snapshot.h"

// Judges what a cluster runs as admission would if it were created now, and supposes the death of
// each card and node. Nothing is written.
namespace mindgate::audit {

struct AuditOptions {
  std::string ns{};  // empty: all namespaces, and objects that are in none
  std::vector<const schemas::KindInfo*> kinds{};  // of these alone; empty: of all
  json::Json selector{};                          // of labels (kube/label_selector.h); null: all
  bool strict = false;                            // warnings deny
  Time now{};
};

// An object that is judged: no controller that mindgate knows made it. For the pods of a controller
// that mindgate does not know it stands once, with one of its pods in `judged`.
struct Workload {
  std::string api_version;
  std::string kind;
  std::string ns;  // empty: it is in none
  std::string name;
  std::string uid{};
  std::string framework{};  // "deployment", the key of its profile
  bool npus = false;        // its pods ask for NPUs
  offline::ReportedObject judged;
  Losses losses{};

  std::string Title() const;  // "Deployment chat/llm"
};

struct Audit {
  Time taken{};
  std::string ns;  // as asked
  // With NPUs or findings: the worst first, then by namespace, kind and name.
  std::vector<Workload> workloads;
  offline::OutcomeCounts counts;  // of all that were judged
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
