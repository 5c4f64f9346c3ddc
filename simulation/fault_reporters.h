#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "faults/node_faults.h"
#include "simulation/api_server.h"
#include "simulation/replica.h"
#include "simulation/scenario.h"

namespace mindgate::simulation {

// Those who write what is reported of nodes where the watcher reads it: device plugins and NodeD on
// each node, who reports public faults, and ClusterD while it runs.
class FaultReporters {
 public:
  // All must outlive it.
  FaultReporters(const ManualClock& clock, const ScenarioOptions& options, Replica& replica)
      : clock_(clock), options_(options), replica_(replica) {}

  // ClusterD has written before anything happens.
  void Start();
  void Report(const ReportFaults& report);
  // ScenarioOptions::clusterd has changed.
  void RunClusterD(bool runs);

 private:
  const ManualClock& clock_;
  const ScenarioOptions& options_;
  Replica& replica_;
  std::map<size_t, ReportFaults> reported_;  // by node
};

// "Ascend910-3".
std::string ChipName(int64_t chip);

// What is true of the node by ClusterD's report. Nothing is known of one that is healthy.
faults::NodeFaults Reported(const ReportFaults& report);

// For people: "unhealthy Ascend910-3; machine PreSeparate".
std::string ReportText(const ReportFaults& report);

}  // namespace mindgate::simulation
