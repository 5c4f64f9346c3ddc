#include "what_if/forecast.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/value.h"
#include "schemas/names.h"
#include "what_if/convergence.h"

namespace mindgate::what_if {

std::string ShortageText(const Shortage& shortage) {
  const bool one = shortage.pods == 1;
  std::string text = "room for " + Counted(shortage.pods, "more pod");
  if (shortage.npus > 0) {
    text +=
        " with " + std::to_string(shortage.npus) + " " + shortage.resource + (one ? "" : " each");
  }
  std::vector<std::string> labels;
  for (const auto& [key, value] : shortage.node_selector) labels.push_back(key + "=" + value);
  if (!labels.empty()) {
    text += std::string(one ? " on a node" : " on nodes") + " with " + Join(labels, ", ");
  }
  return text + (shortage.one_super_pod ? ", in one super pod" : "");
}

std::string LeftOutText(const Shortage& shortage) {
  // Tenants choose labels, so that there may be any number of reasons.
  constexpr size_t kMaxReasons = 8;
  std::string text = JoinFirst(shortage.left_out, kMaxReasons, ", ", [](const LeftOut& one) {
    return one.why + " on " + std::to_string(one.nodes);
  });
  for (const std::string& each : shortage.unknown) {
    text += (text.empty() ? "" : "; ") + each;
  }
  return text;
}

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
    ServiceForecast reported{.service = key, .shapes = (now != nullptr ? now : old)->shapes};
    if (old != nullptr) reported.before = old->decision.reached;
    if (now != nullptr) reported.after = now->decision.reached;
    const auto running_before = RunningOf(old);
    const auto running_after = RunningOf(now);
    std::map<std::string, GroupChange> groups;
    for (const auto& [group, count] : running_before) groups[group] = {group, count, 0};
    for (const auto& [group, count] : running_after) {
      groups[group].group = group;
      groups[group].after = count;
    }
    bool changes = reported.before != reported.after;
    for (const auto& [name, group] : groups) {
      changes = changes || group.before != group.after;
      reported.groups.push_back(group);
    }
    if (changes) forecast.services.push_back(std::move(reported));
  }
}

Forecast ForecastOf(const InitialState& initial, const Hypothesis& hypothesis) {
  return Compare(Settle(initial, {}), Settle(initial, hypothesis));
}

WithManifests RunManifests(const InitialState& initial,
                           const std::vector<ManifestObject>& manifests,
                           const schemas::ViewOptions& options) {
  Applied applied = Apply(initial.snapshot, manifests, options);
  const InitialState planned(applied.snapshot);
  const Settled settled = Settle(planned, {});
  return {AfterSettling(planned, settled), Compare(Settle(initial, {}), settled),
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
  return ForecastOf(InitialState(snapshot), hypothesis);
}

Answer AnswerOf(const ClusterSnapshot& snapshot, const std::vector<ManifestObject>& manifests,
                const Hypothesis& hypothesis, const schemas::ViewOptions& options) {
  Answer answer;
  const InitialState initial(snapshot);
  answer.problems = initial.reported.problems;
  if (!hypothesis.codes.empty()) CodesIn(snapshot, answer.problems);
  if (manifests.empty()) {
    answer.happens = ForecastOf(initial, hypothesis);
    return answer;
  }
  WithManifests with = RunManifests(initial, manifests, options);
  answer.problems.insert(answer.problems.end(), with.problems.begin(), with.problems.end());
  answer.applied = std::move(with.applied);
  if (!hypothesis.empty()) answer.happens = ForecastOf(with.snapshot, hypothesis);
  return answer;
}

WithManifests RunManifests(const ClusterSnapshot& snapshot,
                           const std::vector<ManifestObject>& manifests,
                           const schemas::ViewOptions& options) {
  return RunManifests(InitialState(snapshot), manifests, options);
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
    InstanceForecast reported = instance.reported;
    const auto base = before.instances.find(key);
    if (base != before.instances.end()) {
      const InstanceForecast& old = base->second.reported;
      reported.already = old.hits == reported.hits && old.steps == reported.steps &&
                         old.outcome == reported.outcome &&
                         base->second.missing >= instance.missing;
    }
    const bool is_worse = instance.missing > 0 && !reported.already;
    if (reported.is_new || !reported.hits.empty() || !reported.steps.empty() || is_worse) {
      forecast.instances.push_back(std::move(reported));
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

namespace {

using watcher::rescheduling::FaultScheduling;
using watcher::rescheduling::FaultType;

constexpr const char* kDrained = "Drained";
constexpr const char* kNodeGone = "NodeGone";

// Kubernetes moves pods from a node that is lost after their toleration, and deletes those of a
// Node that is gone after 40 s and a round every 20 s (kubernetes: pkg/controller/tainteviction,
// podgc).
constexpr std::chrono::seconds kToleration{300};
constexpr std::chrono::seconds kPodGarbage{60};
// From a restart that did not help to one of a wider scope: 3 and 12 sessions of the plugin, of one
// second each by default, and as long with the watcher's default.
constexpr std::chrono::seconds kUntilRackBlocks{3};
constexpr std::chrono::seconds kUntilWholeJob{12};

// Whether it runs on each node, so that it goes and comes with the node.
bool IsOfNode(const Pod& pod) { return pod.controller == "DaemonSet" || pod.controller == "Node"; }

// It needs no NPUs, and neither Volcano nor a scaling rule knows it.
bool IsNoConcern(const Pod& pod) {
  return pod.npus == 0 && pod.pod_group.empty() &&
         json::TextAt(pod.entry, {"metadata", "labels", schemas::kJobId}).empty();
}

// ReplicaSets count no pod that is being deleted, so that one which cannot end does not matter.
bool IsReplacedWhileItEnds(const Pod& pod) {
  return pod.controller == "ReplicaSet" || pod.controller == "Deployment";
}

PodLoss FirstLook(const Pod& pod) {
  if (pod.failed) return {.loss = Loss::kIgnored};
  if (pod.leaving) {
    const bool comes_back = !pod.controller.empty() && !IsReplacedWhileItEnds(pod);
    return {.loss = comes_back ? Loss::kGoes : Loss::kIgnored};
  }
  return {.loss = pod.node.empty() ? Loss::kWaits : Loss::kStays};
}

std::string FixOf(const watcher::rescheduling::FaultPolicy& policy) {
  switch (policy.fault_scheduling) {
    case FaultScheduling::kOff:
      return "the label fault-scheduling: force (or grace) in its pod template";
    case FaultScheduling::kUnknown:
      return "fault-scheduling: force (or grace) instead of " + Quote(policy.written) +
             " in its pod template";
    default:
      break;
  }
  if (policy.decided_outside) return "the platform that wrote ProcessRecoverStrategy has to act";
  return "a label fault-retry-times with more retries in its pod template";
}

class Losing {
 public:
  Losing(const Inventory& inventory, const Situation& situation, std::span<const size_t> pods,
         std::vector<PodLoss>& losses)
      : inventory_(inventory),
        faults_(situation.faults),
        drained_(situation.drained),
        widened_(situation.widened),
        given_up_(situation.given_up),
        rebalance_after_(situation.rebalance_after),
        pods_(pods),
        losses_(losses) {}

  std::set<GroupName> Run(const Consequences& consequences) {
    for (const size_t i : pods_) losses_[i] = FirstLook(inventory_.pods[i]);
    for (const SurveyedJob& job : consequences.jobs) LoseJob(job);
    for (const SurveyedPod& pod : consequences.pods) LosePodOfNoJob(pod);
    for (const size_t i : pods_) {
      if (drained_.contains(inventory_.pods[i].node)) Evict(i);
    }
    for (const auto& [i, why] : given_up_) {
      if (!KeepsItsPlace(losses_[i].loss)) continue;
      Go(i, Action::kGivenUp, why, {.by = Actor::kWatcher, .within = rebalance_after_});
    }
    RecreateGroups();
    return std::move(may_widen_);
  }

 private:
  void Go(size_t index, Action action, std::string why, Due due) {
    PodLoss& loss = losses_[index];
    loss.action = action;
    loss.why = std::move(why);
    loss.due = std::move(due);
    loss.fix.clear();
    loss.loss = Loss::kGoes;
    if (!inventory_.pods[index].controller.empty()) return;
    loss.loss = Loss::kLost;
    loss.fix = "a controller that makes it again, such as a Deployment";
  }

  // Nobody but Kubernetes itself moves it: it marks pods of a node that is lost for deletion, and
  // they end when the node comes back or goes. Pods of a node that no longer exists it deletes by
  // force.
  void Leave(size_t index, Action action, std::string why, std::string fix) {
    const Pod& pod = inventory_.pods[index];
    if (faults_.gone.contains(pod.node)) {
      Go(index, Action::kDeletedByKubernetes, std::move(why), {Actor::kKubernetes, kPodGarbage});
      return;
    }
    if (faults_.not_ready.contains(pod.node)) {
      if (IsReplacedWhileItEnds(pod)) {
        Go(index, Action::kMovedByKubernetes, std::move(why), {Actor::kKubernetes, kToleration});
        return;
      }
      why +=
          "; Kubernetes marks it for deletion, and it stays until the node comes back or is "
          "deleted";
    }
    losses_[index] = {.loss = Loss::kBroken,
                      .hit = losses_[index].hit,
                      .action = action,
                      .why = std::move(why),
                      .fix = std::move(fix)};
  }

  std::string HitOf(const watcher::rescheduling::Task& task, FaultType type) const {
    const bool gone = type == FaultType::kNodeUnhealthy && faults_.gone.contains(task.node);
    return gone ? kNodeGone : std::string(watcher::rescheduling::FaultTypeName(type));
  }

  void LoseJob(const SurveyedJob& job) {
    std::vector<std::optional<size_t>> places;
    for (size_t i = 0; i < job.tasks.size(); ++i) {
      places.push_back(inventory_.FindPod(job.ns, job.tasks[i].pod));
      if (places[i] && job.types[i] != FaultType::kHealthy) {
        losses_[*places[i]].hit = HitOf(job.tasks[i], job.types[i]);
      }
    }
    const watcher::rescheduling::Response& response = job.response;
    const auto each = [&](Action action) {
      const std::string why = response.why + (job.due.why.empty() ? "" : "; " + job.due.why);
      for (const size_t task : response.tasks) {
        if (places[task]) Go(*places[task], action, why, job.due);
      }
      Escalate(job, action, places);
    };
    switch (response.step) {
      case watcher::rescheduling::Step::kDelete:
        return each(Action::kDeleted);
      case watcher::rescheduling::Step::kEvict:
        return each(Action::kEvicted);
      case watcher::rescheduling::Step::kAnnotate:
        return each(Action::kAnnotated);
      case watcher::rescheduling::Step::kNothing:
      case watcher::rescheduling::Step::kFails:
        break;
    }
    const bool fails = response.step == watcher::rescheduling::Step::kFails;
    for (size_t i = 0; i < job.tasks.size(); ++i) {
      if (!places[i] || job.types[i] == FaultType::kHealthy) continue;
      Leave(*places[i], fails ? Action::kFails : Action::kUntouched, response.why,
            FixOf(job.policy));
    }
  }

  // mind-cluster: component/ascend-for-volcano/internal/rescheduling, the upgrade of pod-level
  // rescheduling after so many sessions; the watcher does likewise, after a time.
  void Escalate(const SurveyedJob& job, Action action,
                const std::vector<std::optional<size_t>>& places) {
    if (!job.policy.begins_with_faulty_pods()) return;
    const auto widest = ScopeOf(job.tasks, job.types, job.policy, job.policy.widest());
    if (widest.size() <= job.response.tasks.size()) return;
    may_widen_.emplace(job.ns, job.pod_group);
    if (!widened_.contains({job.ns, job.pod_group})) return;
    const bool all = widest.size() == job.tasks.size();
    const Due due{job.due.by, job.due.within + (all ? kUntilWholeJob : kUntilRackBlocks)};
    for (const size_t task : widest) {
      if (places[task] && losses_[*places[task]].loss == Loss::kStays) {
        Go(*places[task], action, all ? kWithoutWholeJob : kWithoutRackBlock, due);
      }
    }
  }

  void LosePodOfNoJob(const SurveyedPod& surveyed) {
    if (inventory_.gangs.contains({surveyed.ns, surveyed.pod_group})) return;
    const auto index = inventory_.FindPod(surveyed.ns, surveyed.task.pod);
    if (!index || losses_[*index].loss != Loss::kStays) return;
    const Pod& pod = inventory_.pods[*index];
    const FaultType type = Classify(surveyed.task, {}, {faults_.nodes, faults_.not_ready});
    if (type == FaultType::kHealthy || IsOfNode(pod)) return;
    if (IsNoConcern(pod)) {
      // The chips of its node do not matter to it, and others see to it when the node is lost.
      losses_[*index].is_other = faults_.not_ready.contains(pod.node);
      return;
    }
    losses_[*index].hit = HitOf(surveyed.task, type);
    Leave(*index, Action::kUntouched, "it is in no PodGroup, so that Volcano does not know it",
          "schedulerName: volcano and the label fault-scheduling: force in its pod template");
  }

  void Evict(size_t index) {
    const Pod& pod = inventory_.pods[index];
    PodLoss& loss = losses_[index];
    if (IsOfNode(pod) || (loss.loss != Loss::kStays && loss.loss != Loss::kBroken)) return;
    if (IsNoConcern(pod)) {
      loss.is_other = true;
      loss.loss = Loss::kIgnored;
      return;
    }
    if (loss.hit.empty()) loss.hit = kDrained;
    Go(index, Action::kDrained, "the node is drained", {.by = Actor::kDrain});
  }

  // Its default is RecreateGroupOnPodRestart (lws: pkg/controllers/pod_controller.go).
  void RecreateGroups() {
    std::set<std::string, std::less<>> groups;
    for (const size_t i : pods_) {
      const Pod& pod = inventory_.pods[i];
      if (!pod.lws_group.empty() && losses_[i].action && losses_[i].loss == Loss::kGoes) {
        groups.insert(pod.lws_group);
      }
    }
    for (const size_t i : pods_) {
      const PodLoss& loss = losses_[i];
      if (KeepsItsPlace(loss.loss) && groups.contains(inventory_.pods[i].lws_group)) {
        Go(i, Action::kRecreated, "LeaderWorkerSet recreates a group when one of its pods goes",
           {.by = Actor::kOwner});
      }
    }
  }

  const Inventory& inventory_;
  const SurveyedFaults& faults_;
  const std::set<std::string, std::less<>>& drained_;
  const std::set<GroupName>& widened_;
  const std::map<size_t, std::string>& given_up_;
  const std::chrono::seconds rebalance_after_;
  std::span<const size_t> pods_;
  std::vector<PodLoss>& losses_;
  std::set<GroupName> may_widen_;
};

}  // namespace

std::set<GroupName> DecideLosses(const Inventory& inventory, const Jobs& jobs,
                                 const Situation& situation, std::span<const size_t> pods,
                                 std::vector<PodLoss>& losses) {
  std::vector<const json::Value*> entries;
  for (const size_t i : pods) entries.push_back(inventory.pods[i].entry);
  return Losing(inventory, situation, pods, losses).Run(jobs.Of(situation.faults, entries));
}

bool IsConcerned(const Inventory& inventory, const Pod& pod, bool drained) {
  if (inventory.gangs.contains({pod.ns, pod.pod_group})) return true;
  return !IsOfNode(pod) && (drained || !IsNoConcern(pod));
}

}  // namespace mindgate::what_if
