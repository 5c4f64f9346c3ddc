#pragma once

#include <string>

#include "watcher/faults/node_faults.h"
#include "watcher/faults/reports.h"
#include "watcher/simulation/job_scenario.h"

// Faults as ClusterD writes them.
namespace mindgate::watcher::simulation {

// "Ascend910-3".
std::string ChipName(int64_t chip);

// What the watcher reads when ClusterD reports this of a node: written as ConfigMaps, and read as
// `mindgate watch` reads them. Nothing is known of a node that is healthy.
faults::FaultsByNode Reported(const ReportFaults& report);

}  // namespace mindgate::watcher::simulation
