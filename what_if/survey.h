#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "faults/codes.h"
#include "faults/node_faults.h"
#include "watcher/rescheduling/policy.h"
#include "what_if/snapshot.h"

namespace mindgate::what_if {

// A pod on a node that is faulty, as a whole or in a part.
struct SurveyedPod {
  std::string ns;
  std::string pod_group;  // empty: it has none, and nobody moves it
  watcher::rescheduling::Task task;
};

// The pods of a PodGroup, one of which is faulty.
struct SurveyedJob {
  std::string ns;
  std::string pod_group;
  std::vector<watcher::rescheduling::Task> tasks;  // by name
  watcher::rescheduling::Response response;
  watcher::rescheduling::FaultPolicy policy{};
  std::vector<watcher::rescheduling::FaultType> types{};  // of the tasks
  Due due{};                                              // who responds, and when
  // By MindCluster's plugin, the last time.
  std::optional<watcher::rescheduling::PluginRestart> plugin_restarted{};
};

// The faults of a cluster at one moment.
struct SurveyedFaults {
  // Who reported: ClusterD for all nodes, or, where it is absent, each node for itself.
  bool by_clusterd = false;
  bool clusterd_is_gone = false;                   // and left its ConfigMaps, which do not count
  size_t reports = 0;                              // ConfigMaps that were read
  faults::FaultsByNode nodes{};                    // those that are not clean
  std::set<std::string, std::less<>> not_ready{};  // or gone
  std::set<std::string, std::less<>> gone{};       // the nodes of pods that the cluster has not
  std::vector<std::string> problems{};             // what could not be understood, for people
};

// What faults lead to.
struct Consequences {
  std::vector<SurveyedPod> pods{};  // by namespace and name
  std::vector<SurveyedJob> jobs{};  // likewise
};

struct Survey : SurveyedFaults, Consequences {};

SurveyedFaults FaultsIn(const ClusterSnapshot& snapshot);

// The fault codes of the cluster: those that MindCluster ships, or its own. What could not be read
// or understood of its own is added to `problems`.
std::shared_ptr<const faults::FaultTable> CodesIn(const ClusterSnapshot& snapshot,
                                                  std::vector<std::string>& problems);

// The jobs of a snapshot and their policies, which no fault changes. Safe from many threads.
class Jobs {
 public:
  // `snapshot` must outlive it.
  explicit Jobs(const ClusterSnapshot& snapshot);

  // What becomes of these pods of the snapshot, and of the jobs that they are in, if these are the
  // faults, whatever the reports of the snapshot say.
  Consequences Of(const SurveyedFaults& faults, std::span<const json::Value* const> pods) const;

 private:
  struct Job {
    std::vector<const json::Value*> pods{};  // by name
    watcher::rescheduling::FaultPolicy policy{};
    PluginMemory memory{};
  };
  bool TooManyFaults(const SurveyedFaults& faults) const;

  const Time taken_;
  const size_t nodes_;  // that the cluster has
  const WatcherSettings watcher_;
  std::map<std::pair<std::string, std::string>, Job> jobs_;  // by namespace and PodGroup
};

// The same of all pods.
Survey SurveyOf(const ClusterSnapshot& snapshot, SurveyedFaults faults);

}  // namespace mindgate::what_if
