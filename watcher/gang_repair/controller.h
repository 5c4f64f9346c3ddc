#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "base/clock.h"
#include "base/log.h"
#include "kube/client.h"
#include "kube/events.h"
#include "kube/wait.h"
#include "schemas/config.h"

namespace mindgate::watcher::gang_repair {

struct ControllerOptions {
  // Whether this replica may act now; asked in the thread of Run, often, so that it must be quick.
  // Null: always.
  std::function<bool()> leading{};
  schemas::EnforcementMode mode =
      schemas::EnforcementMode::kEnforce;  // off follows nothing, observe writes nothing
  // How often the controller checks whether it may act again, and what must be retried.
  std::chrono::milliseconds look{1000};
  uint64_t seed = 1;  // spreads pauses; another one for each replica
};

// Follows Deployments, ReplicaSets, RoleSets, PodGroups and Pods of all namespaces, and while a
// rolling update cannot bring up as many pods as the gang of its new ReplicaSet needs, keeps K on
// the PodGroup at the number of pods that exist; while the roles of a RoleSet ask for fewer pods
// than their gang, at the number that they ask for (decision.h). A change leads to a new decision
// about the one Deployment or RoleSet that it concerns.
//
// It acts only while it leads and every collection is current. What it writes names the PodGroup's
// uid, so that no other object is met, and no resourceVersion: the scheduler writes PodGroups all
// the time. Without Volcano's CRD there is nothing to do, and it waits for it; without AIBrix's, or
// without permission to read RoleSets, it repairs Deployments.
//
// It needs list and watch of the five, patch of PodGroups, and what the recorder needs.
class Controller {
 public:
  // The arguments must outlive it.
  Controller(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, log::Logger& logger,
             kube::Recorder& recorder, ControllerOptions options);
  ~Controller();

  // Until `stop`, once, in the caller's thread and five of its own, which end before it returns.
  // With the mode off it returns at once. What was lowered stays so: the next leader goes on with
  // it.
  void Run(const std::stop_token& stop);

  // Whether all that there is has been seen once; PodGroups need not exist in this cluster. From
  // any thread.
  bool synced() const;

  // From any thread.
  struct Counts {
    uint64_t lowered = 0;    // values written to PodGroups
    uint64_t restored = 0;   // PodGroups given back
    uint64_t conflicts = 0;  // a PodGroup was replaced or gone when it was written
    uint64_t failed = 0;     // writes that failed otherwise; each is tried again
    uint64_t looks = 0;      // decisions about a Deployment or RoleSet
    uint64_t marked = 0;     // PodGroups that hold a value of ours at the moment
    uint64_t left_out = 0;   // objects that are too large to be read; while there are any, it waits
  };
  Counts counts() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mindgate::watcher::gang_repair
