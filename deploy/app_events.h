#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "deploy/cluster.h"
#include "deploy/health.h"
#include "kube/client.h"

namespace mindgate::deploy {

// The newest Events, oldest first, about the objects of an application, its pods and PodGroups, and
// what controllers made in between: quotas refuse pods in Events of ReplicaSets, Volcano says in
// those of PodGroups why nothing is placed, and the watcher decides in those of all of them. Those
// of the watcher are counted by themselves, so that others do not displace them. What may not be
// read is left out.
std::vector<EventState> EventsOf(kube::Client& client, const std::string& ns,
                                 const std::string& app, const AppObjects& objects,
                                 const std::stop_token& stop);

}  // namespace mindgate::deploy
