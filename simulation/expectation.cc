#include "simulation/expectation.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "base/time.h"

namespace mindgate::simulation {
namespace {

using State = Claim::State;

constexpr size_t kMaxNamed = 12;  // a line for people has no room for thousands

std::string NamesText(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  std::vector<std::string> shown(names.begin(), names.begin() + std::min(names.size(), kMaxNamed));
  if (names.size() > kMaxNamed) {
    shown.push_back(std::to_string(names.size() - kMaxNamed) + " more");
  }
  return Join(shown, ", ");
}

std::string GroupName(const std::string& group) { return group.empty() ? "no group" : group; }

bool IsIn(State state, const watcher::scaling::Instance& instance) {
  switch (state) {
    case State::kRunning:
      return instance.phase == watcher::scaling::Phase::kRunning;
    case State::kStarting:
      return instance.phase == watcher::scaling::Phase::kStarting;
    case State::kNoRoom:
      return instance.phase == watcher::scaling::Phase::kStarting &&
             instance.unschedulable.has_value();
    case State::kHeld:
      return instance.phase == watcher::scaling::Phase::kHeld;
    case State::kGivenUp:
    case State::kWithdrawn:
    case State::kWouldGiveUp:
      return false;
  }
  return false;
}

// What has happened, rather than what is; else null.
const std::map<std::string, std::string>* PastOf(State state, const History& history) {
  switch (state) {
    case State::kGivenUp:
      return &history.given_up;
    case State::kWithdrawn:
      return &history.withdrawn;
    case State::kWouldGiveUp:
      return &history.would_give_up;
    default:
      return nullptr;
  }
}

// The names that are in the state, by group, both in order.
std::map<std::string, std::vector<std::string>> NamesIn(State state, const ServiceNow& now) {
  std::map<std::string, std::vector<std::string>> names;
  if (const auto* past = PastOf(state, now.history)) {
    for (const auto& [name, group] : *past) names[group].push_back(name);
    return names;
  }
  for (const watcher::scaling::Instance& instance : now.service.instances) {
    if (IsIn(state, instance)) names[instance.group].push_back(instance.name);
  }
  for (auto& [group, list] : names) std::sort(list.begin(), list.end());
  return names;
}

CheckResult CheckClaim(const Claim& claim, const ServiceNow& now) {
  CheckResult result;
  result.what = StateName(claim.state);
  const auto by_group = NamesIn(claim.state, now);
  if (claim.names) {
    std::vector<std::string> names;
    for (const auto& [group, list] : by_group) names.insert(names.end(), list.begin(), list.end());
    std::sort(names.begin(), names.end());
    result.expected = NamesText(*claim.names);
    result.found = NamesText(names);
    result.met = names == *claim.names;
    return result;
  }
  static const std::vector<std::string> kNobody;
  std::vector<std::string> expected;
  std::vector<std::string> found;
  result.met = true;
  for (const auto& [group, count] : claim.counts) {
    const auto entry = by_group.find(group);
    const auto& names = entry == by_group.end() ? kNobody : entry->second;
    const std::string of_group = " of " + GroupName(group);
    expected.push_back(std::to_string(count) + of_group);
    found.push_back(std::to_string(names.size()) + of_group +
                    (names.empty() ? "" : " (" + NamesText(names) + ")"));
    result.met = result.met && std::ssize(names) == count;
  }
  result.expected = Join(expected, " and ");
  result.found = Join(found, " and ");
  return result;
}

CheckResult CheckShape(int64_t shape, const ServiceNow& now) {
  const int64_t reached =
      now.decision.reached ? static_cast<int64_t>(*now.decision.reached) + 1 : 0;
  const auto text = [](int64_t number) {
    return number == 0 ? std::string("none") : std::to_string(number);
  };
  CheckResult result;
  result.what = "shape";
  result.expected = text(shape);
  result.found = text(reached);
  if (now.service.rule && reached > 0) {
    result.found += " of " + std::to_string(now.service.rule->tiers.size());
  }
  result.met = shape == reached;
  return result;
}

CheckResult CheckNever(const Never& never, const ServiceNow& now) {
  CheckResult result;
  result.what = "never";
  result.met = true;
  std::vector<std::string> expected;
  std::vector<std::string> found;
  for (const auto& [group, most] : never.more_than) {
    const auto peak = now.history.peaks.find(group);
    const Peak reached = peak == now.history.peaks.end() ? Peak{} : peak->second;
    expected.push_back("at most " + std::to_string(most) + " of " + GroupName(group));
    found.push_back(std::to_string(reached.running) + " of " + GroupName(group) + " at " +
                    FormatDuration(reached.at));
    result.met = result.met && reached.running <= most;
  }
  const auto check = [&](const std::vector<std::string>& names, State state, const char* what) {
    if (names.empty()) return;
    const auto& past = *PastOf(state, now.history);
    std::vector<std::string> happened;
    for (const std::string& name : names) {
      if (past.contains(name)) happened.push_back(name);
    }
    expected.push_back(NamesText(names) + " not " + what);
    found.push_back(NamesText(happened) + " " + what);
    result.met = result.met && happened.empty();
  };
  check(never.given_up, State::kGivenUp, "given up");
  check(never.withdrawn, State::kWithdrawn, "withdrawn");
  result.expected = Join(expected, " and ");
  result.found = Join(found, " and ");
  return result;
}

CheckResult CheckReasons(const Labels& reasons, const ServiceNow& now) {
  CheckResult result;
  result.what = "reason";
  result.met = true;
  std::vector<std::string> expected;
  std::vector<std::string> found;
  for (const auto& [name, text] : reasons) {
    const auto said = now.history.reasons.find(name);
    const bool is_known = said != now.history.reasons.end();
    expected.push_back(name + " with " + Quote(text));
    found.push_back(name + (is_known ? " with " + Quote(said->second) : " with none"));
    result.met = result.met && is_known && said->second.find(text) != std::string::npos;
  }
  result.expected = Join(expected, " and ");
  result.found = Join(found, " and ");
  return result;
}

// How many run of each group that `limits` names, and whether `holds` says yes to all.
template <typename Holds>
CheckResult CheckRunning(const char* word, const Counts& limits, const ServiceNow& now,
                         const Holds& holds) {
  CheckResult result;
  result.met = true;
  const auto by_group = NamesIn(State::kRunning, now);
  std::vector<std::string> expected;
  std::vector<std::string> found;
  for (const auto& [group, limit] : limits) {
    const auto names = by_group.find(group);
    const int64_t running = names == by_group.end() ? 0 : std::ssize(names->second);
    expected.push_back(word + std::to_string(limit) + " of " + GroupName(group));
    found.push_back(std::to_string(running) + " of " + GroupName(group));
    result.met = result.met && holds(running, limit);
  }
  result.what = "running";
  result.expected = Join(expected, " and ");
  result.found = Join(found, " and ");
  return result;
}

}  // namespace

std::vector<CheckResult> Check(const Expectation& expectation, const std::string& job_id,
                               std::chrono::seconds at, const ServiceNow& now) {
  std::vector<CheckResult> results;
  for (const Claim& claim : expectation.claims) {
    results.push_back(CheckClaim(claim, now));
    results.back().line = claim.line;
  }
  if (expectation.shape) {
    results.push_back(CheckShape(*expectation.shape, now));
    results.back().line = expectation.shape_line;
  }
  if (!expectation.never.empty()) {
    results.push_back(CheckNever(expectation.never, now));
    results.back().line = expectation.never.line;
  }
  if (!expectation.reasons.empty()) {
    results.push_back(CheckReasons(expectation.reasons, now));
    results.back().line = expectation.reasons_line;
  }
  std::stable_sort(results.begin(), results.end(),
                   [](const CheckResult& a, const CheckResult& b) { return a.line < b.line; });
  for (CheckResult& result : results) {
    result.at = at;
    result.service = job_id;
  }
  return results;
}

std::vector<CheckResult> CheckNow(const Always& always, const ServiceNow& now) {
  std::vector<CheckResult> results;
  for (const Claim& claim : always.claims) results.push_back(CheckClaim(claim, now));
  if (!always.at_least.empty()) {
    results.push_back(CheckRunning("at least ", always.at_least, now, std::greater_equal<>()));
  }
  if (!always.at_most.empty()) {
    results.push_back(CheckRunning("at most ", always.at_most, now, std::less_equal<>()));
  }
  if (always.shape) results.push_back(CheckShape(*always.shape, now));
  for (CheckResult& result : results) result.line = always.line;
  return results;
}

}  // namespace mindgate::simulation
