#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulation/api_server.h"
#include "simulation/calls.h"
#include "simulation/expectation.h"
#include "simulation/manual_clock.h"
#include "simulation/scenario.h"
#include "simulation/timeline.h"
#include "simulation/world.h"

namespace mindgate::simulation {

// What the watcher did to each job, and why.
class JobStates {
 public:
  // All must outlive it.
  JobStates(const Scenario& scenario, const ManualClock& clock, const ApiServer& server,
            const World& world)
      : scenario_(scenario),
        clock_(clock),
        server_(server),
        world_(world),
        states_(scenario.jobs.size()) {}

  void Note(const PodAction& action);
  // Of the job with that number.
  void Note(size_t job, const std::string& what, const std::string& reason);
  JobNow NowOf(size_t job) const;
  std::vector<JobEnd> Ends() const;

 private:
  const Scenario& scenario_;
  const ManualClock& clock_;
  const ApiServer& server_;
  const World& world_;
  std::vector<JobNow> states_;  // only what was done and why
};

}  // namespace mindgate::simulation
