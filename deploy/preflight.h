#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "deploy/check.h"
#include "deploy/plan.h"

namespace mindgate::deploy {

// What the cluster says before anything is written to it.
struct Preflight {
  std::vector<Problem> blockers;  // all at once
  std::vector<Problem> notes;     // what may become one, and what could not be found out
  ClusterContext surroundings;    // for Check
  bool outgrows_cluster = false;  // the nodes are too few even when they are empty
};

// Looks for what the application needs: the kinds of its objects, the namespace, the model, a
// runtime of the right shape, ConfigMaps, NPUs on nodes that may be chosen, and quota. What the
// user may not read is a note. Writes nothing.
kube::Answer<Preflight> LookAhead(kube::Client& client, const Application& application,
                                  const std::vector<RenderedObject>& objects,
                                  const std::stop_token& stop);

}  // namespace mindgate::deploy
