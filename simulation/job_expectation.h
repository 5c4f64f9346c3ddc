#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulation/job_replica.h"
#include "simulation/timeline.h"

namespace mindgate::simulation {

// What there is to compare an expectation about a job with.
struct JobNow {
  std::map<JobReplica::Deed, PodsByTime> done{};  // by the watcher so far
  std::vector<std::string> untouched{};
  std::vector<std::string> running{};
  std::string last = "nothing";
  std::string reason{};
  int64_t retries_used = 0;
  std::vector<std::string> isolated{};
};

// One result for each thing that is expected.
std::vector<CheckResult> CheckJob(const JobExpectation& expectation, const std::string& job,
                                  std::chrono::seconds at, const JobNow& now);

}  // namespace mindgate::simulation
