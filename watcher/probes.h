#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/snapshot.h"
#include "http/router.h"
#include "schemas/config.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/decision_log.h"

namespace mindgate::watcher {

// What a replica's probe port tells about it. Null is what this replica does not have. Everything
// in it outlives the routes.
struct ProbeSources {
  std::function<bool()> leading;
  std::vector<const Controller*> controllers{};
  const Snapshot<schemas::Config>* config = nullptr;
  // What is wrong with the newest configuration; empty: nothing, or it is not known.
  std::function<std::string()> config_fault{};
  const DecisionLog* decisions = nullptr;
  std::function<std::string()> metrics{};  // in Prometheus' text format
};

// `/livez` and `/readyz`, which shows a fault of the configuration with `?verbose` also where an
// older one is in use; `/decisions` and `/metrics` where there are any. A standby replica is
// ready: it can take over.
std::vector<http::Router::Route> ProbeRoutes(const ProbeSources& sources);

}  // namespace mindgate::watcher
