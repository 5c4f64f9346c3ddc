#include "watcher/rescheduling/policy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <utility>

#include "base/text.h"
#include "schemas/names.h"

namespace mindgate::watcher::rescheduling {
namespace {

FaultScheduling ReadFaultScheduling(std::string_view text, bool there) {
  if (!there || text == "off") return FaultScheduling::kOff;
  if (text == "force") return FaultScheduling::kForce;
  if (text == "grace") return FaultScheduling::kGrace;
  if (text == "external-force" || text == "external-grace") return FaultScheduling::kExternal;
  return FaultScheduling::kUnknown;
}

SubHealthyStrategy ReadStrategy(std::string_view text) {
  if (text == "graceExit") return SubHealthyStrategy::kGraceExit;
  if (text == "forceExit") return SubHealthyStrategy::kForceExit;
  if (text == "hotSwitch") return SubHealthyStrategy::kHotSwitch;
  return SubHealthyStrategy::kIgnore;
}

// What the scheduler also takes from a pod. ProcessRecoverStrategy is not among them.
constexpr std::array<std::string_view, 5> kAlsoOfPods = {
    schemas::kRecoverPolicyPath, schemas::kMinAvailable, schemas::kSchedulePolicy,
    schemas::kRaBlock, schemas::kAffinityConfig};

// The only policy that makes rack blocks and that has rules of its own for rescheduling.
constexpr std::string_view kRackPolicy = "chip8-node8-ra64-sp";

// Rack blocks have ra-block chips, a power of two up to 64, in servers of 8
// (mind-cluster: component/ascend-for-volcano/internal/npu/policy/chip8node8ra64sp). A block of one
// pod is no wider than the pod.
int64_t RackPods(std::string_view policy, std::string_view block) {
  if (policy != kRackPolicy) return 0;
  const int64_t chips = ParseGoInt(block).value_or(0);
  if (chips <= 8 || chips > 64 || !std::has_single_bit(static_cast<uint64_t>(chips))) return 0;
  return chips / 8;
}

// level1 of "level1=2,level2=4". Wider levels are never restarted: when it would be their turn, the
// whole job goes (mind-cluster: component/ascend-for-volcano/internal/npu/multilevelscheduling,
// getMaxEscalationLevel).
int64_t LevelPods(std::string_view policy, std::string_view levels) {
  if (policy != "multilevel") return 0;
  for (const std::string_view pair : Split(levels, ',')) {
    if (!pair.starts_with("level1=")) continue;
    const int64_t pods = ParseGoInt(pair.substr(std::string_view("level1=").size())).value_or(0);
    return pods > 1 ? pods : 0;
  }
  return 0;
}

}  // namespace

JobMetadata::Map JobMetadata::Choose(const json::Value* map,
                                     std::span<const std::string_view> keys) {
  Map chosen;
  for (const std::string_view key : keys) {
    if (const auto text = json::FindString(map, key)) chosen.emplace(key, *text);
  }
  return chosen;
}

void JobMetadata::AddLabels(const Map& labels) {
  for (const auto& [key, value] : labels) {
    const auto [there, is_new] = labels_.try_emplace(key, value);
    if (!is_new && !EqualIgnoreCase(there->second, value)) there->second += "|" + value;
  }
}

void JobMetadata::AddAnnotations(const Map& annotations) {
  annotations_.insert(annotations.begin(), annotations.end());
}

void JobMetadata::AddPodAnnotations(const Map& annotations) {
  for (const std::string_view key : kAlsoOfPods) {
    const auto found = annotations.find(key);
    if (found != annotations.end()) annotations_.insert(*found);
  }
}

std::string_view JobMetadata::Label(std::string_view key) const {
  const auto found = labels_.find(key);
  return found == labels_.end() ? std::string_view() : found->second;
}

int64_t JobMetadata::MinAvailable(int64_t min_member) const {
  if (min_member != 1) return min_member;
  return ParseGoInt(Annotation(schemas::kMinAvailable)).value_or(1);
}

std::string_view JobMetadata::Annotation(std::string_view key) const {
  const auto found = annotations_.find(key);
  return found == annotations_.end() ? std::string_view() : found->second;
}

FaultPolicy JobMetadata::Policy(bool asks_for_npus) const {
  const std::string_view app = Label(schemas::kApp);
  FaultPolicy policy;
  policy.written = Label(schemas::kFaultScheduling);
  policy.fault_scheduling =
      ReadFaultScheduling(policy.written, labels_.contains(schemas::kFaultScheduling));
  policy.sub_healthy = ReadStrategy(Label(schemas::kSubHealthyStrategy));
  policy.pod_rescheduling = Label(schemas::kPodRescheduling) == "on";
  policy.process_recover = Label(schemas::kProcessRecover) == "on";
  policy.retries = ParseGoInt(Label(schemas::kFaultRetryTimes)).value_or(0);
  policy.only_faulty_pods =
      labels_.contains(schemas::kOmeInferenceService) || app == schemas::kMindieController ||
      app == schemas::kMindieCoordinator || Annotation(schemas::kRecoverPolicyPath) == "pod";
  policy.decided_outside = annotations_.contains(schemas::kProcessRecoverStrategy);
  const std::string_view schedule_policy = Annotation(schemas::kSchedulePolicy);
  policy.rack_pods = RackPods(schedule_policy, Annotation(schemas::kRaBlock));
  policy.level_pods = LevelPods(schedule_policy, Annotation(schemas::kAffinityConfig));
  if (asks_for_npus) {
    policy.master =
        schedule_policy == kRackPolicy ? MasterRule::kAnyReplica : MasterRule::kNoWorker;
  }
  return policy;
}

namespace {

bool IsSubHealthy(const Task& task, const faults::NodeFaults* node) {
  if (task.fault_type == "SubHealth") return true;
  if (node == nullptr) return false;
  if (node->switches.status == faults::NodeStatus::kSubHealthy) return true;
  return std::any_of(task.chips.begin(), task.chips.end(),
                     [&](const std::string& chip) { return node->devices.IsSubHealthy(chip); });
}

}  // namespace

bool AnyHasChips(const std::vector<Task>& tasks) {
  return std::any_of(tasks.begin(), tasks.end(),
                     [](const Task& task) { return !task.chips.empty(); });
}

std::string_view FaultTypeName(FaultType type) {
  switch (type) {
    case FaultType::kHealthy:
      return "Healthy";
    case FaultType::kNodeUnhealthy:
      return "NodeUnhealthy";
    case FaultType::kCardUnhealthy:
      return "CardUnhealthy";
    case FaultType::kPodFailed:
      return "pod-failed";
    case FaultType::kRelationFault:
      return "RelationFault";
    case FaultType::kSubHealthFault:
      return "SubHealthFault";
  }
  return "";
}

FaultType Classify(const Task& task, const FaultPolicy& policy, const Hardware& hardware) {
  if (task.node.empty()) return FaultType::kHealthy;
  const auto found = hardware.nodes.find(task.node);
  const faults::NodeFaults* node = found == hardware.nodes.end() ? nullptr : &found->second;
  if (node != nullptr) {
    if (node->IsUnhealthy()) return FaultType::kNodeUnhealthy;
    const bool chip = std::any_of(
        task.chips.begin(), task.chips.end(),
        [&](const std::string& each) { return node->devices.unhealthy.contains(each); });
    if (chip) return FaultType::kCardUnhealthy;
  }
  if (hardware.not_ready.contains(task.node)) return FaultType::kNodeUnhealthy;
  if (task.failed && policy.retries != 0) return FaultType::kPodFailed;
  if (task.fault_type == "Separate") return FaultType::kRelationFault;
  if (policy.sub_healthy == SubHealthyStrategy::kIgnore || !IsSubHealthy(task, node)) {
    return FaultType::kHealthy;
  }
  const bool switches = policy.sub_healthy == SubHealthyStrategy::kHotSwitch;
  return switches && !task.may_be_switched ? FaultType::kHealthy : FaultType::kSubHealthFault;
}

FaultType ReasonOf(const std::vector<FaultType>& types) {
  FaultType reason = FaultType::kHealthy;
  const auto weight = [](FaultType type) {
    switch (type) {
      case FaultType::kHealthy:
        return 0;
      case FaultType::kPodFailed:
        return 1;
      case FaultType::kSubHealthFault:
        return 2;
      default:
        return 3;
    }
  };
  for (const FaultType type : types) {
    if (weight(type) > weight(reason)) reason = type;
  }
  return reason;
}

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
    response.requests_graceful_exit = policy.requests_graceful_exit();
  }
  return answer(force ? Step::kDelete : Step::kEvict, ScopeOf(tasks, types, policy, escalation),
                std::move(why));
}

}  // namespace mindgate::watcher::rescheduling
