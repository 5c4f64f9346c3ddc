#pragma once

#include "what_if/snapshot.h"
#include "why/facts.h"

namespace mindgate::why {

// What a snapshot of the cluster says about the pods of `facts`: nodes against what waits, faults
// in its way and under it, and what follows. Pure.
void AddCluster(const what_if::ClusterSnapshot& snapshot, Facts& facts);

}  // namespace mindgate::why
