#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "watcher/faults/told.h"
#include "watcher/frame/leader_client.h"
#include "watcher/rescheduling/decision.h"

namespace mindgate::watcher::rescheduling {

// What a job is at this moment, as the API server and not the watches tell it.
struct FreshLook {
  Job job{};                                       // with the pods that were read again
  std::set<std::string, std::less<>> not_ready{};  // of those given, the nodes that still are
  std::string changed{};                           // what is another one than was decided about
  std::string held{};                              // by whose owner nothing may be done
  bool late = false;                               // what changed is on its way by a watch
  bool failed = false;                             // something could not be read
};

// The reports on which it rests that this is known of a node, as the watches told them; nothing
// when they have told something else since. Null: it rests on none.
using ReportsOf = std::function<std::optional<std::vector<faults::ReportVersion>>(
    const std::string& node, const faults::NodeFaults& known)>;

// Reads again what a decision rests on: the PodGroup and its owners, the faulty pods, and the nodes
// that Kubernetes lost, since pods and nodes come by different watches and either may be late. Of
// the reports of faults it asks for the version: when it is another one, their watch is late. For a
// wider restart, which is about pods that did not come back, those that are not placed.
FreshLook LookAgain(LeaderClient& client, const JobKey& key, const Job& job,
                    const Decision& decision, const Hardware& hardware,
                    const ReportsOf& reports_of = {});

}  // namespace mindgate::watcher::rescheduling
