#pragma once

#include <functional>
#include <vector>

#include "base/snapshot.h"
#include "http/router.h"
#include "schemas/config.h"
#include "watcher/certificate_loop.h"
#include "watcher/metrics.h"
#include "watcher/scaling/controller.h"

namespace mindgate::watcher {

// What a replica's probe port tells about it. Null is what this replica does not run. Everything in
// it outlives the routes.
struct ProbeSources {
  std::function<bool()> leading;
  const Snapshot<schemas::Config>* config = nullptr;  // with `scaling`
  const scaling::ScalingController* scaling = nullptr;
  const CertificateLoop* certificates = nullptr;
  const Metrics* metrics = nullptr;
};

// `/livez` and `/readyz`; `/decisions` with `scaling`, `/metrics` with `metrics`. A standby replica
// is ready: it can take over.
std::vector<http::Router::Route> ProbeRoutes(const ProbeSources& sources);

}  // namespace mindgate::watcher
