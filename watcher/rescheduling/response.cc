#include "watcher/rescheduling/response.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace mindgate::watcher::rescheduling {
namespace {

bool IsFaulty(FaultType type) { return type != FaultType::kHealthy; }

std::vector<size_t> FaultyOf(const std::vector<FaultType>& types) {
  std::vector<size_t> faulty;
  for (size_t i = 0; i < types.size(); ++i) {
    if (IsFaulty(types[i])) faulty.push_back(i);
  }
  return faulty;
}

std::vector<size_t> AllOf(const std::vector<Task>& tasks) {
  std::vector<size_t> all;
  for (size_t i = 0; i < tasks.size(); ++i) all.push_back(i);
  return all;
}

bool AnyMaster(const std::vector<Task>& tasks, const std::vector<size_t>& of,
               const FaultPolicy& policy) {
  return std::any_of(of.begin(), of.end(), [&](size_t i) { return IsMaster(tasks[i], policy); });
}

// Those that share a block with a faulty task.
template <typename BlockOf>
std::vector<size_t> BlocksOf(const std::vector<Task>& tasks, const std::vector<FaultType>& types,
                             const BlockOf& block_of) {
  std::set<int64_t> faulty;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const std::optional<int64_t> block = block_of(tasks[i]);
    if (IsFaulty(types[i]) && block) faulty.insert(*block);
  }
  std::vector<size_t> scope;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const std::optional<int64_t> block = block_of(tasks[i]);
    if ((block && faulty.contains(*block)) || IsFaulty(types[i])) scope.push_back(i);
  }
  return scope;
}

// Blocks of so many pods, by rank.
std::optional<int64_t> BlockOfRank(const Task& task, int64_t pods) {
  const auto rank = ParseGoInt(task.rank);
  if (pods <= 1 || !rank || *rank < 0) return std::nullopt;
  return *rank / pods;
}

bool IsOnlySubHealth(const std::vector<FaultType>& types) {
  return std::all_of(types.begin(), types.end(), [](FaultType type) {
    return type == FaultType::kHealthy || type == FaultType::kSubHealthFault;
  });
}

}  // namespace

bool IsMaster(const Task& task, const FaultPolicy& policy) {
  if (task.rank != "0") return false;
  switch (policy.master) {
    case MasterRule::kNone:
      return false;
    case MasterRule::kNoWorker:
      return !task.is_worker;
    case MasterRule::kAnyReplica:
      return true;
  }
  return false;
}

// mind-cluster: component/ascend-for-volcano/internal/rescheduling/job_a5.go, inTheSameTpBlock
std::optional<int64_t> RackOf(const Task& task, const FaultPolicy& policy) {
  return BlockOfRank(task, policy.rack_pods);
}

// mind-cluster: component/ascend-for-volcano/plugin/supernode.go, buildSuperNodeMap
std::optional<int64_t> SuperPodOf(const Task& task, const FaultPolicy& policy) {
  return policy.level_pods > 0 ? BlockOfRank(task, policy.level_pods) : task.super_pod;
}

std::vector<size_t> ScopeOf(const std::vector<Task>& tasks, const std::vector<FaultType>& types,
                            const FaultPolicy& policy, Escalation escalation) {
  const std::vector<size_t> faulty = FaultyOf(types);
  if (faulty.empty() || policy.only_faulty_pods) return faulty;
  if (AnyMaster(tasks, faulty, policy)) return AllOf(tasks);
  const Escalation scope = policy.begins_with_faulty_pods() ? std::min(escalation, policy.widest())
                                                            : Escalation::kWholeJob;
  std::vector<size_t> wider;
  switch (scope) {
    case Escalation::kFaultyPods:
      return faulty;
    case Escalation::kRacks:
      wider = BlocksOf(tasks, types, [&](const Task& task) { return RackOf(task, policy); });
      break;
    case Escalation::kSuperPods:
      wider = BlocksOf(tasks, types, [&](const Task& task) { return SuperPodOf(task, policy); });
      break;
    case Escalation::kWholeJob:
      return AllOf(tasks);
  }
  return AnyMaster(tasks, wider, policy) ? AllOf(tasks) : wider;
}

Response Respond(const std::vector<Task>& tasks, const std::vector<FaultType>& types,
                 const FaultPolicy& policy, std::optional<int64_t> retries_left,
                 Escalation escalation) {
  Response response;
  response.reason = ReasonOf(types);
  const auto answer = [&](Step step, std::vector<size_t> of, std::string why) {
    response.step = step;
    response.tasks = std::move(of);
    response.why = std::move(why);
    return response;
  };
  if (response.reason == FaultType::kHealthy) return answer(Step::kNothing, {}, "no pod is faulty");
  switch (policy.fault_scheduling) {
    case FaultScheduling::kOff:
      return answer(Step::kNothing, {}, "fault-scheduling is off or not written");
    case FaultScheduling::kUnknown:
      return answer(Step::kFails, {},
                    "fault-scheduling is " + Quote(policy.written) + ", which is not a value");
    case FaultScheduling::kExternal:
      return answer(Step::kAnnotate, FaultyOf(types), "fault-scheduling is " + policy.written);
    case FaultScheduling::kForce:
    case FaultScheduling::kGrace:
      break;
  }
  if (policy.decided_outside) {
    return answer(Step::kNothing, {}, "ProcessRecoverStrategy leaves it to another platform");
  }
  if (response.reason == FaultType::kPodFailed && retries_left.value_or(policy.retries) <= 0) {
    return answer(Step::kFails, {}, "fault-retry-times is used up");
  }
  bool force = policy.fault_scheduling == FaultScheduling::kForce;
  std::string why = "fault-scheduling is " + policy.written;
  if (IsOnlySubHealth(types)) {
    force = policy.sub_healthy != SubHealthyStrategy::kGraceExit;
    why = force ? "subHealthyStrategy takes them at once" : "subHealthyStrategy is graceExit";
    response.asks_to_exit = policy.asks_to_exit();
  }
  return answer(force ? Step::kDelete : Step::kEvict, ScopeOf(tasks, types, policy, escalation),
                std::move(why));
}

}  // namespace mindgate::watcher::rescheduling
