#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/time.h"
#include "simulation/expectation.h"

namespace mindgate::simulation {

// Follows what must hold all the time between two moments.
class AlwaysChecks {
 public:
  // All that the scenario, which must outlive it, expects so.
  explicit AlwaysChecks(const Scenario& scenario);

  // When the next one begins, which is then to be looked at whatever else happens.
  std::optional<Time> next() const;
  // At the end of each moment. Both are asked for services by number; one that has not changed is
  // only looked at when something about it begins.
  void Look(Time now, const std::function<bool(size_t service)>& has_changed,
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
