#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "faults/fault_store.h"
#include "watcher/frame/call_threads.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/leader_client.h"
#include "watcher/rescheduling/decision.h"
#include "watcher/rescheduling/pod.h"

namespace mindgate::watcher::rescheduling {

// What a job is at this moment, as the API server and not the watches tell it.
struct Revalidation {
  Job job{};                                       // as its PodGroup and its pods are
  std::set<std::string, std::less<>> not_ready{};  // of those given, the nodes that still are
  std::string changed{};                           // what is another one than was decided about
  std::string held{};                              // by whose owner nothing may be done
  bool late = false;                               // what changed is on its way by a watch
  bool failed = false;                             // something could not be read
  PodGroupState group{};                           // that the job is of
};

// The reports on which it rests that this is known of a node, as the watches told them; nothing
// when they have told something else since. Null: it rests on none.
using ReportsOf = std::function<std::optional<std::vector<faults::ReportVersion>>(
    const std::string& node, const faults::NodeFaults& known)>;

// Up to so many pods are read one by one. Of the pods of a larger job only those that the step
// rests on are; labels, annotations and UIDs of the others come with one list of the namespace's
// metadata.
inline constexpr size_t kReadOneByOne = 64;

// Reads again what a decision rests on: the PodGroup and its owners, its pods, whose labels are its
// policy and any of which may opt out, and the nodes that Kubernetes lost, since pods and nodes
// come by different watches and either may be late. Of the reports of faults it asks for the
// version: when it is another one, their watch is late. What need not wait for each other is read
// at the same time, by `calls`.
Revalidation Revalidate(LeaderClient& client, CallThreads& calls, const JobKey& key, const Job& job,
                        const Decision& decision, const Hardware& hardware,
                        const ReportsOf& reports_of = {});

// The question right before a call: whether namespace, PodGroup and owners, and with `pods` what
// the pods say, are as they were in the look.
Refusal IsStillSo(LeaderClient& client, CallThreads& calls, const JobKey& key,
                  const PodGroupState& seen, const Job& job, bool pods);

}  // namespace mindgate::watcher::rescheduling
