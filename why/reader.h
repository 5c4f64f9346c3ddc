#pragma once

#include <stop_token>
#include <string>

#include "base/time.h"
#include "kube/client.h"
#include "schemas/config.h"
#include "what_if/snapshot.h"
#include "why/facts.h"
#include "why/subject.h"

namespace mindgate::why {

struct ReadOptions {
  Time now{};
  what_if::SnapshotOptions snapshot{};  // without workloads
  schemas::ElasticScaling scaling{};    // as the watcher of the cluster has them
  WatcherFacts watcher{};
};

// Reads what there is to know about the subject: its namespace, and of the cluster a snapshot as
// what-if takes it. Nothing is written. What may not be read, or is too much, is noted as unread,
// and the rest is read all the same.
Facts ReadFacts(kube::Client& client, const Subject& subject, const ReadOptions& options,
                const std::stop_token& stop = {});

}  // namespace mindgate::why
