#include "simulation/always.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "base/time.h"

namespace mindgate::simulation {

AlwaysChecks::AlwaysChecks(const Scenario& scenario) {
  for (const Entry& entry : scenario.timeline) {
    const auto* expectation = std::get_if<Expectation>(&entry.action);
    if (expectation == nullptr || !expectation->always) continue;
    begins_.emplace(Time(expectation->always->from), &*expectation->always);
    watched_[&*expectation->always].service = expectation->service;
  }
}

std::optional<Time> AlwaysChecks::next() const {
  return begins_.empty() ? std::nullopt : std::optional(begins_.begin()->first);
}

void AlwaysChecks::Look(Time now, const std::function<bool(size_t)>& has_changed,
                        const std::function<ServiceNow(size_t)>& now_of) {
  for (; !begins_.empty() && begins_.begin()->first <= now; begins_.erase(begins_.begin())) {
    active_.insert(begins_.begin()->second);
  }
  std::erase_if(active_, [&](const Always* always) { return now > Time(always->to); });
  for (const Always* always : active_) {
    auto& [service, results] = watched_.at(always);
    const bool first = results.empty();
    if (!first && !has_changed(service)) continue;
    std::vector<CheckResult> found = CheckNow(*always, now_of(service));
    if (first) results.resize(found.size());
    for (size_t i = 0; i < found.size(); ++i) {
      if (!first && !results[i].met) continue;
      found[i].expected = found[i].what + ": " + found[i].expected + ", from " +
                          FormatDuration(always->from) + " to " + FormatDuration(always->to);
      found[i].what = "always";
      if (!found[i].met) found[i].found += " at " + FormatDuration(now.time_since_epoch());
      results[i] = std::move(found[i]);
    }
  }
}

const std::vector<CheckResult>& AlwaysChecks::ResultsOf(const Always& always) const {
  return watched_.at(&always).results;
}

}  // namespace mindgate::simulation
