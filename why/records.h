#pragma once

#include <stop_token>

#include "kube/client.h"
#include "why/facts.h"

namespace mindgate::why {

// What MindCluster's plugin noted: restarts of the PodGroups of `facts` and what is left of their
// retries, and the nodes in its cache of faults.
void ReadPluginRecords(kube::Client& client, Facts& facts, const std::stop_token& stop);

}  // namespace mindgate::why
