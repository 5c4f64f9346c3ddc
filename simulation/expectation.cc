#include "simulation/expectation.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

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

// What is compared, part by part.
class Comparison {
 public:
  explicit Comparison(std::string_view what) {
    result_.what = what;
    result_.met = true;
  }

  void Add(std::string expected, std::string found, bool met) {
    expected_.push_back(std::move(expected));
    found_.push_back(std::move(found));
    result_.met = result_.met && met;
  }
  CheckResult Result(int line) {
    result_.line = line;
    result_.expected = Join(expected_, " and ");
    result_.found = Join(found_, " and ");
    return std::move(result_);
  }

 private:
  CheckResult result_;
  std::vector<std::string> expected_;
  std::vector<std::string> found_;
};

CheckResult CheckClaim(const Claim& claim, const ServiceNow& now) {
  Comparison comparison(StateName(claim.state));
  const auto by_group = NamesIn(claim.state, now);
  if (claim.names) {
    std::vector<std::string> names;
    for (const auto& [group, list] : by_group) names.insert(names.end(), list.begin(), list.end());
    std::sort(names.begin(), names.end());
    comparison.Add(NamesText(*claim.names), NamesText(names), names == *claim.names);
    return comparison.Result(claim.line);
  }
  for (const auto& [group, count] : claim.counts) {
    const auto entry = by_group.find(group);
    const auto names = entry == by_group.end() ? std::vector<std::string>() : entry->second;
    const std::string of_group = " of " + GroupName(group);
    comparison.Add(std::to_string(count) + of_group,
                   std::to_string(names.size()) + of_group +
                       (names.empty() ? "" : " (" + NamesText(names) + ")"),
                   std::ssize(names) == count);
  }
  return comparison.Result(claim.line);
}

CheckResult CheckShape(int64_t shape, int line, const ServiceNow& now) {
  const int64_t reached =
      now.decision.reached ? static_cast<int64_t>(*now.decision.reached) + 1 : 0;
  const auto text = [](int64_t number) {
    return number == 0 ? std::string("none") : std::to_string(number);
  };
  const bool is_one_of = now.service.rule && reached > 0;
  Comparison comparison("shape");
  comparison.Add(
      text(shape),
      text(reached) +
          (is_one_of ? " of " + std::to_string(now.service.rule->tiers.size()) : std::string()),
      shape == reached);
  return comparison.Result(line);
}

CheckResult CheckNever(const Never& never, const ServiceNow& now) {
  Comparison comparison("never");
  for (const auto& [group, most] : never.more_than) {
    const auto peak = now.history.peaks.find(group);
    const Peak reached = peak == now.history.peaks.end() ? Peak{} : peak->second;
    comparison.Add("at most " + std::to_string(most) + " of " + GroupName(group),
                   std::to_string(reached.running) + " of " + GroupName(group) + " at " +
                       FormatDuration(reached.at),
                   reached.running <= most);
  }
  const auto check = [&](const std::vector<std::string>& names, State state, const char* what) {
    if (names.empty()) return;
    const auto& past = *PastOf(state, now.history);
    std::vector<std::string> happened;
    for (const std::string& name : names) {
      if (past.contains(name)) happened.push_back(name);
    }
    comparison.Add(NamesText(names) + " not " + what, NamesText(happened) + " " + what,
                   happened.empty());
  };
  check(never.given_up, State::kGivenUp, "given up");
  check(never.withdrawn, State::kWithdrawn, "withdrawn");
  return comparison.Result(never.line);
}

CheckResult CheckReasons(const Expectation& expectation, const ServiceNow& now) {
  Comparison comparison("reason");
  for (const auto& [name, text] : expectation.reasons) {
    const auto last = now.history.reasons.find(name);
    const bool is_known = last != now.history.reasons.end();
    comparison.Add(name + " with " + Quote(text),
                   name + (is_known ? " with " + Quote(last->second) : " with none"),
                   is_known && last->second.find(text) != std::string::npos);
  }
  return comparison.Result(expectation.reasons_line);
}

// How many run of each group that `limits` names, and whether `holds` is true of all.
template <typename Holds>
CheckResult CheckRunning(const char* word, const Counts& limits, const Always& always,
                         const ServiceNow& now, const Holds& holds) {
  Comparison comparison("running");
  const auto by_group = NamesIn(State::kRunning, now);
  for (const auto& [group, limit] : limits) {
    const auto names = by_group.find(group);
    const int64_t running = names == by_group.end() ? 0 : std::ssize(names->second);
    comparison.Add(word + std::to_string(limit) + " of " + GroupName(group),
                   std::to_string(running) + " of " + GroupName(group), holds(running, limit));
  }
  return comparison.Result(always.line);
}

std::string ListText(const std::vector<std::string>& names) {
  return names.empty() ? "none" : Join(names, ", ");
}

std::string ByTimeText(const PodsByTime& pods) {
  std::vector<std::string> texts;
  for (const auto& [at, names] : pods) {
    texts.push_back(ListText(names) + " at " + FormatDuration(at));
  }
  return texts.empty() ? "none" : Join(texts, "; ");
}

}  // namespace

std::vector<CheckResult> Check(const Expectation& expectation, const std::string& job_id,
                               std::chrono::seconds at, const ServiceNow& now) {
  std::vector<CheckResult> results;
  for (const Claim& claim : expectation.claims) results.push_back(CheckClaim(claim, now));
  if (expectation.shape) {
    results.push_back(CheckShape(*expectation.shape, expectation.shape_line, now));
  }
  if (!expectation.never.empty()) results.push_back(CheckNever(expectation.never, now));
  if (!expectation.reasons.empty()) results.push_back(CheckReasons(expectation, now));
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
    results.push_back(
        CheckRunning("at least ", always.at_least, always, now, std::greater_equal<>()));
  }
  if (!always.at_most.empty()) {
    results.push_back(CheckRunning("at most ", always.at_most, always, now, std::less_equal<>()));
  }
  if (always.shape) results.push_back(CheckShape(*always.shape, always.line, now));
  for (CheckResult& result : results) result.line = always.line;
  return results;
}

std::vector<CheckResult> CheckJob(const JobExpectation& expectation, const std::string& job,
                                  std::chrono::seconds at, const JobNow& now) {
  std::vector<CheckResult> results;
  const auto check = [&](const char* what, std::string expected, std::string found, bool met) {
    results.push_back({.at = at,
                       .line = expectation.line,
                       .service = job,
                       .what = what,
                       .expected = std::move(expected),
                       .found = std::move(found),
                       .met = met});
  };
  const auto by_time = [&](const char* what, PodAction::Kind kind,
                           const std::optional<PodsByTime>& expected) {
    if (!expected) return;
    const auto found = now.done.find(kind);
    const PodsByTime pods = found == now.done.end() ? PodsByTime() : found->second;
    check(what, ByTimeText(*expected), ByTimeText(pods), *expected == pods);
  };
  const auto names = [&](const char* what, const std::optional<std::vector<std::string>>& expected,
                         const std::vector<std::string>& found) {
    if (expected) check(what, ListText(*expected), ListText(found), *expected == found);
  };
  by_time("deleted", PodAction::Kind::kDeleted, expectation.deleted);
  by_time("evicted", PodAction::Kind::kEvicted, expectation.evicted);
  by_time("marked", PodAction::Kind::kMarked, expectation.marked);
  names("untouched", expectation.untouched, now.untouched);
  names("running", expectation.running, now.running);
  if (expectation.last) {
    check("last", *expectation.last, now.last, *expectation.last == now.last);
  }
  if (!expectation.reason.empty()) {
    check("reason", "with " + Quote(expectation.reason), Quote(now.reason),
          now.reason.find(expectation.reason) != std::string::npos);
  }
  if (expectation.retries_used) {
    check("retriesUsed", std::to_string(*expectation.retries_used),
          std::to_string(now.retries_used), *expectation.retries_used == now.retries_used);
  }
  names("isolated", expectation.isolated, now.isolated);
  return results;
}

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

void AlwaysChecks::Check(Time now, const std::function<bool(size_t)>& has_changed,
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
