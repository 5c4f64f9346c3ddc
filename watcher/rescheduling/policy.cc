#include "watcher/rescheduling/policy.h"

#include <array>
#include <bit>
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

}  // namespace mindgate::watcher::rescheduling
