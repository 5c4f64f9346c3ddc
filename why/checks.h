#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "why/facts.h"

// The functions behind the rows of reasons.cc, in files by what they are about. Each returns what
// it found, nothing most of the time.
namespace mindgate::why {

struct Finding {
  std::string what{};
  std::string why{};
  std::string fix{};
  std::vector<std::string> evidence{};
};
using Findings = std::vector<Finding>;

// "chat-0, chat-1, chat-2 and 4 more".
std::string PodNames(const std::vector<std::string>& pods);
// "Pod chat-0", "Pods chat-0, chat-1".
std::string PodsText(const std::vector<std::string>& pods);
// "Pod chat-0 asks", "Pods chat-0, chat-1 ask".
std::string PodsThat(const std::vector<std::string>& pods, std::string_view one,
                     std::string_view several);
// " -n infer" for commands.
std::string InNamespace(const Facts& facts);
// "kubectl describe deployment/chat -n infer".
std::string DescribeText(const Facts& facts);
// The newest Event with one of these reasons (empty: any) and this text in its note; null: none.
const EventFacts* NewestEvent(const Facts& facts, const std::vector<std::string_view>& reasons,
                              std::string_view part = "", std::string_view about = "");
// "FailedScheduling (volcano): 0/4 nodes are available".
std::string EventText(const EventFacts& event);
std::vector<std::string> WaitingPods(const Facts& facts);
// How many there are of the pods that it wants: those that live, and of a job also those that
// succeeded. What failed or goes is to be replaced.
int64_t PodsThere(const Facts& facts);
// It has ended well, or runs as a whole: pods that failed were replaced.
bool IsWell(const Facts& facts);

// gangs.cc: pods that are missing
Findings PodsRefusedByQuota(const Facts& facts);
Findings PodsRefusedByWebhook(const Facts& facts);
Findings PodsNotCreated(const Facts& facts);
Findings GangPodsMissing(const Facts& facts);
Findings MinMemberTooLarge(const Facts& facts);
Findings KTooLarge(const Facts& facts);
Findings GangGated(const Facts& facts);
Findings PodGroupMissing(const Facts& facts);
Findings Suspended(const Facts& facts);
Findings Refused(const Facts& facts);

// gangs.cc: queues and quotas
Findings QueueMissing(const Facts& facts);
Findings QueueClosed(const Facts& facts);
Findings QueueFull(const Facts& facts);
Findings QuotaExhausted(const Facts& facts);
Findings PodGroupNotEnqueued(const Facts& facts);

// gangs.cc: scheduling gates
Findings RuleMissing(const Facts& facts);
Findings RuleInvalid(const Facts& facts);
Findings HeldByRule(const Facts& facts);
Findings GateWithoutWatcher(const Facts& facts);
Findings OtherGate(const Facts& facts);

// nodes.cc: room
// Whether the node would take such a pod but for what closes it. One that would not is not in the
// way, and opening it does not help.
bool WouldFit(const PlacementFacts& placement, const NodeFacts& node);
Findings SchedulerAbsent(const Facts& facts);
Findings WrongScheduler(const Facts& facts);
Findings NoSuchDevice(const Facts& facts);
Findings NoSuchLabel(const Facts& facts);
Findings MoreThanANodeHas(const Facts& facts);
Findings NotEnoughNpus(const Facts& facts);
Findings GangRoom(const Facts& facts);
Findings TaintNotTolerated(const Facts& facts);
Findings NodesCordoned(const Facts& facts);
Findings NodesNotReady(const Facts& facts);
Findings SchedulerMessage(const Facts& facts);

// faults.cc
Findings ChipsFaulty(const Facts& facts);
Findings NodesFaulty(const Facts& facts);
Findings PluginCacheStale(const Facts& facts);
Findings OnFaultyHardware(const Facts& facts);
Findings OptedOut(const Facts& facts);
Findings FaultNotHandled(const Facts& facts);
Findings RetriesUsedUp(const Facts& facts);
Findings RestartedByPlugin(const Facts& facts);
Findings RestartedByMindgate(const Facts& facts);

// pods.cc: containers
Findings ImagePull(const Facts& facts);
Findings CrashLoop(const Facts& facts);
Findings OutOfMemory(const Facts& facts);
Findings RankTableMissing(const Facts& facts);
Findings ConfigMissing(const Facts& facts);
Findings InitContainerRuns(const Facts& facts);
Findings ContainerCreating(const Facts& facts);
Findings NotReady(const Facts& facts);

// pods.cc: volumes, and pods that end
Findings ClaimMissing(const Facts& facts);
Findings ClaimUnbound(const Facts& facts);
Findings VolumeNotMounted(const Facts& facts);
Findings TerminatingOnLostNode(const Facts& facts);
Findings TerminatingForLong(const Facts& facts);
Findings BeingDeleted(const Facts& facts);
Findings PodFailed(const Facts& facts);

}  // namespace mindgate::why
