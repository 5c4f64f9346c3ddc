#include "what_if/forecast.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "what_if/settling.h"

namespace mindgate::what_if {
namespace {

std::map<std::string, int64_t> RunningOf(const SettledService* service) {
  std::map<std::string, int64_t> running;
  if (service == nullptr) return running;
  for (const watcher::scaling::GroupCount& group : service->decision.groups) {
    running[group.group] = group.running;
  }
  return running;
}

const SettledService* Find(const Settled& settled, const watcher::scaling::ServiceKey& key) {
  const auto found = settled.services.find(key);
  return found == settled.services.end() ? nullptr : &found->second;
}

void CompareServices(const Settled& before, const Settled& after,
                     const std::set<watcher::scaling::ServiceKey>& services, Forecast& forecast) {
  for (const watcher::scaling::ServiceKey& key : services) {
    const SettledService* old = Find(before, key);
    const SettledService* now = Find(after, key);
    if (old == nullptr && now == nullptr) continue;
    ServiceForecast told{.service = key, .shapes = (now != nullptr ? now : old)->shapes};
    if (old != nullptr) told.before = old->decision.reached;
    if (now != nullptr) told.after = now->decision.reached;
    const auto running_before = RunningOf(old);
    const auto running_after = RunningOf(now);
    std::map<std::string, GroupChange> groups;
    for (const auto& [group, count] : running_before) groups[group] = {group, count, 0};
    for (const auto& [group, count] : running_after) {
      groups[group].group = group;
      groups[group].after = count;
    }
    bool changes = told.before != told.after;
    for (const auto& [name, group] : groups) {
      changes = changes || group.before != group.after;
      told.groups.push_back(group);
    }
    if (changes) forecast.services.push_back(std::move(told));
  }
}

Forecast ForecastOf(const Ground& ground, const Hypothesis& hypothesis) {
  return Compare(Settle(ground, {}), Settle(ground, hypothesis));
}

WithManifests RunManifests(const Ground& ground, const std::vector<ManifestObject>& manifests,
                           const schemas::ViewOptions& options) {
  Applied applied = Apply(ground.snapshot, manifests, options);
  const Ground planned(applied.snapshot);
  const Settled settled = Settle(planned, {});
  return {AfterSettling(planned, settled), Compare(Settle(ground, {}), settled),
          std::move(applied.problems)};
}

}  // namespace

std::string_view ActionName(Action action) {
  switch (action) {
    case Action::kDeleted:
      return "deleted";
    case Action::kEvicted:
      return "evicted";
    case Action::kAnnotated:
      return "annotated";
    case Action::kDrained:
      return "drained";
    case Action::kMovedByKubernetes:
      return "movedByKubernetes";
    case Action::kDeletedByKubernetes:
      return "deletedByKubernetes";
    case Action::kRecreated:
      return "recreated";
    case Action::kUntouched:
      return "untouched";
    case Action::kFails:
      return "fails";
    case Action::kGivenUp:
      return "givenUp";
  }
  return "";
}

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMoves:
      return "moves";
    case Outcome::kPartly:
      return "partly";
    case Outcome::kNoRoom:
      return "noRoom";
    case Outcome::kHeld:
      return "held";
    case Outcome::kBroken:
      return "broken";
    case Outcome::kLost:
      return "lost";
  }
  return "";
}

size_t InstanceForecast::without_place() const {
  return static_cast<size_t>(
      std::count_if(moves.begin(), moves.end(), [](const Move& move) { return move.to.empty(); }));
}

bool ServiceForecast::shrinks() const {
  if (before && (!after || *after > *before)) return true;
  return std::any_of(groups.begin(), groups.end(),
                     [](const GroupChange& group) { return group.after < group.before; });
}

bool Forecast::fine() const {
  return std::all_of(instances.begin(), instances.end(),
                     [](const InstanceForecast& one) {
                       return one.already || one.outcome == Outcome::kMoves;
                     }) &&
         std::none_of(services.begin(), services.end(),
                      [](const ServiceForecast& one) { return one.shrinks(); });
}

Forecast ForecastOf(const ClusterSnapshot& snapshot, const Hypothesis& hypothesis) {
  return ForecastOf(Ground(snapshot), hypothesis);
}

Answer AnswerOf(const ClusterSnapshot& snapshot, const std::vector<ManifestObject>& manifests,
                const Hypothesis& hypothesis, const schemas::ViewOptions& options) {
  Answer answer;
  const Ground ground(snapshot);
  answer.problems = ground.reported.problems;
  if (!hypothesis.codes.empty()) CodesIn(snapshot, answer.problems);
  if (manifests.empty()) {
    answer.happens = ForecastOf(ground, hypothesis);
    return answer;
  }
  WithManifests with = RunManifests(ground, manifests, options);
  answer.problems.insert(answer.problems.end(), with.problems.begin(), with.problems.end());
  answer.applied = std::move(with.applied);
  if (!hypothesis.empty()) answer.happens = ForecastOf(with.snapshot, hypothesis);
  return answer;
}

WithManifests RunManifests(const ClusterSnapshot& snapshot,
                           const std::vector<ManifestObject>& manifests,
                           const schemas::ViewOptions& options) {
  return RunManifests(Ground(snapshot), manifests, options);
}

Forecast Compare(const Settled& before, const Settled& after) {
  std::set<watcher::scaling::ServiceKey> services;
  for (const auto& [key, service] : before.services) services.insert(key);
  for (const auto& [key, service] : after.services) services.insert(key);
  return Compare(before, after, services);
}

Forecast Compare(const Settled& before, const Settled& after,
                 const std::set<watcher::scaling::ServiceKey>& services) {
  Forecast forecast;
  forecast.others = after.others - std::min(after.others, before.others);
  for (const auto& [key, instance] : after.instances) {
    InstanceForecast told = instance.told;
    const auto base = before.instances.find(key);
    if (base != before.instances.end()) {
      const InstanceForecast& old = base->second.told;
      told.already = old.hits == told.hits && old.steps == told.steps &&
                     old.outcome == told.outcome && base->second.missing >= instance.missing;
    }
    const bool is_worse = instance.missing > 0 && !told.already;
    if (told.is_new || !told.hits.empty() || !told.steps.empty() || is_worse) {
      forecast.instances.push_back(std::move(told));
    }
  }
  std::stable_sort(forecast.instances.begin(), forecast.instances.end(),
                   [](const InstanceForecast& a, const InstanceForecast& b) {
                     return std::tie(a.ns, a.owner, a.pod_group) <
                            std::tie(b.ns, b.owner, b.pod_group);
                   });
  CompareServices(before, after, services, forecast);
  return forecast;
}

}  // namespace mindgate::what_if
