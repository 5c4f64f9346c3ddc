#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/time.h"
#include "deploy/apply.h"
#include "deploy/cluster.h"

namespace mindgate::deploy {

struct RemoveOptions {
  bool keep_store = false;  // the store stays, for the next application of the name
  bool wait = true;         // until objects, pods and PodGroups are gone
  bool dry_run = false;     // the API server tries it
  std::chrono::seconds timeout{300};
  Hold* hold = nullptr;                // as in ApplyOptions
  std::function<void()> settled = {};  // called once, when all is deleted and only waiting is left
};

// What deleting an application would delete, and what it leaves.
struct RemovalPlan {
  std::vector<Json> objects;         // in the order in which they are deleted
  std::vector<Json> kept;            // the store
  std::vector<std::string> foreign;  // carry the labels, but are not of the application
  // Of `objects`, those that somebody else applied, and may apply again.
  std::vector<std::string> applied_by_others;
  std::vector<Unread> unread;          // kinds that may have objects of the application
  std::optional<Framework> framework;  // nothing when there are no objects
};
kube::Answer<RemovalPlan> PlanRemoval(kube::Client& client, const std::string& ns,
                                      const std::string& app, bool keep_store,
                                      const std::stop_token& stop);

// Deletes what was planned, each object by its uid, and waits for what follows from it. What is
// gone already is fine. A call that an API server does not answer is retried, as when deploying.
// Of a plan without objects it waits for pods that are still terminating.
ApplyResult Remove(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                   const std::string& ns, const std::string& app, const RemovalPlan& plan,
                   const RemoveOptions& options, const Progress& progress,
                   const std::stop_token& stop);

}  // namespace mindgate::deploy
