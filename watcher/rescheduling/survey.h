#pragma once

#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/client.h"
#include "watcher/faults/node_faults.h"
#include "watcher/rescheduling/response.h"

namespace mindgate::watcher::rescheduling {

// A pod on a node that is faulty, as a whole or in a part.
struct SurveyedPod {
  std::string ns;
  std::string pod_group;  // empty: it has none, and nobody moves it
  Task task;
};

// The pods of a PodGroup, one of which is faulty.
struct SurveyedJob {
  std::string ns;
  std::string pod_group;
  std::vector<Task> tasks;  // by name
  Response response;
};

// The faults of a cluster at one moment, and what they lead to.
struct Survey {
  // Who told: ClusterD for all nodes, or, where it is absent, each node for itself.
  bool by_clusterd = false;
  size_t reports = 0;            // ConfigMaps that were read
  faults::FaultsByNode nodes{};  // those that are not clean
  std::set<std::string, std::less<>> not_ready{};
  std::vector<SurveyedPod> pods{};      // by namespace and name
  std::vector<SurveyedJob> jobs{};      // likewise
  std::vector<std::string> problems{};  // what could not be understood, for people
};

// Reads it in pages, and keeps what concerns faults. The fault is that of the first list that
// cannot be read; a cluster without PodGroups has no jobs.
kube::Answer<Survey> TakeSurvey(kube::Client& client, const std::stop_token& stop);

}  // namespace mindgate::watcher::rescheduling
