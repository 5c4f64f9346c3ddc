#include "base/text.h"
#include "base/time.h"
#include "simulation/expectation.h"

namespace mindgate::simulation {
namespace {

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

}  // namespace mindgate::simulation
