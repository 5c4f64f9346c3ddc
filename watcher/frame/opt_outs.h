#pragma once

#include <string>
#include <vector>

#include "json/projection.h"
#include "json/value.h"
#include "watcher/frame/leader_client.h"

// What people write on objects so that nothing is taken away from them. It is read again before
// each step that cannot be undone, not only before the first one.
namespace mindgate::watcher {

struct OptOut {
  std::string why{};        // a clause for people; empty: nobody opts out
  bool unreadable = false;  // it is not known whether somebody does, and so nothing is done
};

// What the functions below read of an object.
std::vector<json::Projection::Path> OptOutFields();

// Label or annotation mindgate.io/rescheduling: disabled in the metadata of the object.
bool SaysDisabled(const json::Value& object);

// mindgate.io/pause-rescheduling on the watcher's Lease. Without a namespace or name there is none.
OptOut PauseOf(LeaderClient& client, const std::string& ns, const std::string& lease);
// mindgate.io/rescheduling: disabled on the namespace.
OptOut NamespaceOptOut(LeaderClient& client, const std::string& ns);
// The same on the controller of the object, or on the controller of that one: the PodGroup's
// ReplicaSet and its Deployment. Owners of kinds that the chart does not let the watcher read, and
// such as may not be read, opt nothing out.
OptOut DisabledByOwner(LeaderClient& client, const json::Value& object, const std::string& ns);
// The same on the pod, which was just read, its PodGroup, its namespace or its owners.
OptOut DisabledFor(LeaderClient& client, const json::Value& pod, const std::string& ns);

}  // namespace mindgate::watcher
