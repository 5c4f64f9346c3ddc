#pragma once

#include <set>
#include <string>

#include "watcher/frame/leader_client.h"
#include "watcher/rescheduling/decision.h"

namespace mindgate::watcher::rescheduling {

// What a job is at this moment, as the API server and not the watches tell it.
struct FreshLook {
  Job job{};                                       // with the pods that were read again
  std::set<std::string, std::less<>> not_ready{};  // of those given, the nodes that still are
  std::string changed{};                           // what is another one than was decided about
  std::string held{};                              // by whose owner nothing may be done
  bool failed = false;                             // something could not be read
};

// Reads again what a decision rests on: the PodGroup and its owners, the faulty pods, and the nodes
// that Kubernetes lost, since pods and nodes come by different watches and either may be late. For
// a wider restart, which is about pods that did not come back, those that are not placed.
FreshLook LookAgain(LeaderClient& client, const JobKey& key, const Job& job,
                    const Decision& decision, const Hardware& hardware);

}  // namespace mindgate::watcher::rescheduling
