#include "simulation/fault_reporters.h"

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "simulation/fault_text.h"

namespace mindgate::simulation {
namespace {

// mind-cluster: component/ascend-device-plugin, although nothing changed.
constexpr std::chrono::minutes kWriteAgain{5};

}  // namespace

void FaultReporters::Start() {
  if (!options_.clusterd) return;
  replica_.ReportAfter(BeatOf(faults::Writer::kClusterD, clock_.WallNow()),
                       std::chrono::seconds(0));
}

void FaultReporters::Report(const ReportFaults& report) {
  ReportFaults& before = reported_[report.node];
  if (options_.clusterd) {
    for (ReportMap& map : OfClusterD(report, clock_.WallNow())) {
      replica_.ReportChanged(std::move(map));
    }
  }
  for (ReportMap& map : OfNode(report, before, clock_.WallNow())) {
    replica_.ReportChanged(std::move(map));
  }
  before = report;
}

// It writes down all that is true when it starts, and what it wrote last stays when it stops.
// Device plugins go on to write at least every 5 minutes.
void FaultReporters::RunClusterD(bool runs) {
  const Time now = clock_.WallNow();
  replica_.ReportChanged(BeatOf(faults::Writer::kClusterD, now));
  if (!runs) {
    replica_.ReportAfter(BeatOf(faults::Writer::kNodes, now + kWriteAgain), kWriteAgain);
    return;
  }
  for (const auto& [node, report] : reported_) {
    for (ReportMap& map : OfClusterD(report, now)) replica_.ReportChanged(std::move(map));
  }
}

std::string ReportText(const ReportFaults& report) {
  const auto chips = [](const char* word, const std::vector<int64_t>& of) {
    std::vector<std::string> texts;
    for (const int64_t chip : of) texts.push_back(ChipName(chip));
    return texts.empty() ? "" : std::string(word) + " " + Join(texts, ", ");
  };
  std::vector<std::string> texts = {
      chips("unhealthy", report.unhealthy),
      chips("network unhealthy", report.network_unhealthy),
      chips("sub-healthy", report.sub_healthy),
      chips("separated", report.separated),
      report.machine == "Healthy" ? "" : "machine " + report.machine,
      report.switches == "Healthy" ? "" : "switch " + report.switches};
  std::erase(texts, "");
  return texts.empty() ? "healthy" : Join(texts, "; ");
}

}  // namespace mindgate::simulation
