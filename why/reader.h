#pragma once

#include <set>
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

// The parts of it that are in files of their own.

// What a snapshot of the cluster says about the pods of `facts`: nodes against what waits, faults
// in its way and under it, and what follows. Pure.
void AddCluster(const what_if::ClusterSnapshot& snapshot, Facts& facts);

// The newest Events of a namespace that are about one of these objects ("Pod/chat-0"), the oldest
// first: kMaxEvents at most.
void ReadEvents(kube::Client& client, const std::set<std::string>& about, Facts& facts,
                const std::stop_token& stop);

// What MindCluster's plugin noted: restarts of the PodGroups of `facts` and what is left of their
// retries, and the nodes in its cache of faults.
void ReadPluginRecords(kube::Client& client, Facts& facts, const std::stop_token& stop);

}  // namespace mindgate::why
