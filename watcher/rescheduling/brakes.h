#pragma once

#include <string>

#include "json/value.h"
#include "watcher/frame/leader_client.h"

// What people write on objects to stop rescheduling. It is read again before each step that cannot
// be undone, not only before the first one.
namespace mindgate::watcher::rescheduling {

struct Brake {
  std::string why{};        // empty: it does not hold
  bool unreadable = false;  // it is not known whether it holds, and so it does
};

// mindgate.io/pause-rescheduling on the watcher's Lease. Without a namespace or name there is none.
Brake PausedBy(LeaderClient& client, const std::string& ns, const std::string& lease);
// mindgate.io/rescheduling: disabled on the namespace.
Brake ExcludedBy(LeaderClient& client, const std::string& ns);
// The same on the controller of the object, or on the controller of that one: the PodGroup's
// ReplicaSet and its Deployment. Owners of kinds that the chart does not let the watcher read, and
// such as may not be read, hold nothing.
Brake DisabledByOwner(LeaderClient& client, const json::Value& object, const std::string& ns);

}  // namespace mindgate::watcher::rescheduling
