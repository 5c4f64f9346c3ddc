#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "simulation/calls.h"
#include "simulation/scenario.h"
#include "simulation/timeline.h"

namespace mindgate::simulation {

// The most instances of a group that ran at once, and when they first did.
struct Peak {
  int64_t running = 0;
  std::chrono::seconds at{0};
};

// What has happened to a service so far.
struct History {
  std::map<std::string, Peak> peaks{};            // by group
  std::map<std::string, std::string> given_up{};  // group by name, as the next two
  std::map<std::string, std::string> withdrawn{};
  std::map<std::string, std::string> would_give_up{};  // were it enforced
  std::map<std::string, std::string> reasons{};        // the last one of each instance
};

// What there is to compare expectations with.
struct ServiceNow {
  const watcher::scaling::Service& service;
  const watcher::scaling::Decision& decision;
  const History& history;
};

// One result for each thing that is expected, in the order of their lines.
std::vector<CheckResult> Check(const Expectation& expectation, const std::string& job_id,
                               std::chrono::seconds at, const ServiceNow& now);

// The same for what must hold all the time, as it is now. Always as many, in the same order.
std::vector<CheckResult> CheckNow(const Always& always, const ServiceNow& now);

// What there is to compare an expectation about a job with.
struct JobNow {
  std::map<PodAction::Kind, PodsByTime> done{};  // by the watcher so far
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
