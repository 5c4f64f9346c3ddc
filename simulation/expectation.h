#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "simulation/api_server.h"
#include "simulation/player.h"
#include "simulation/scenario.h"

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

// Follows what must hold all the time between two moments.
class AlwaysChecks {
 public:
  // All that the scenario, which must outlive it, expects so.
  explicit AlwaysChecks(const Scenario& scenario);

  // When the next one begins, which is then to be checked whatever else happens.
  std::optional<Time> next() const;
  // At the end of each moment. Both are asked for services by number; one that has not changed is
  // only checked when something about it begins.
  void Check(Time now, const std::function<bool(size_t service)>& has_changed,
             const std::function<ServiceNow(size_t service)>& now_of);
  // Each part with the first time that it did not hold.
  const std::vector<CheckResult>& ResultsOf(const Always& always) const;

 private:
  struct Watched {
    size_t service = 0;
    std::vector<CheckResult> results{};
  };

  std::map<const Always*, Watched> watched_;
  std::multimap<Time, const Always*> begins_;
  std::set<const Always*> active_;  // whose time it is
};

}  // namespace mindgate::simulation
