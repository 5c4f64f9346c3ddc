#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "faults/fault_store.h"
#include "faults/node_faults.h"
#include "simulation/scenario.h"

// Faults as MindCluster writes them.
namespace mindgate::simulation {

// "Ascend910-3".
std::string ChipName(int64_t chip);

// A ConfigMap as `mindgate watch` keeps it.
struct ReportMap {
  faults::Writer writer{};
  std::string name;                             // with its namespace
  std::optional<faults::ReportSummary> told{};  // nothing: there is none any more
};

// What ClusterD writes when this is true of a node since `at`; one part for each node.
std::vector<ReportMap> OfClusterD(const ReportFaults& report, Time at);
// What the device plugin and NodeD of the node write, and who tells of public faults. `before` is
// what was reported before of it.
std::vector<ReportMap> OfNode(const ReportFaults& report, const ReportFaults& before, Time at);
// ClusterD, or all device plugins, wrote again at `at` what is true of the other nodes.
ReportMap BeatOf(faults::Writer writer, Time at);

// What is true of the node by ClusterD's report. Nothing is known of one that is healthy.
faults::NodeFaults Reported(const ReportFaults& report);

}  // namespace mindgate::simulation
