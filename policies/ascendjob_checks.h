#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policies/rule.h"

// The checks behind AscendJobRules, by subject. Only policies/ascendjob.cc puts them into rules.
namespace mindgate::policies::ascendjob {

// --- what the checks share -----------------------------------------------------------------------

inline constexpr std::string_view kReplicaSpecsPath = "/spec/replicaSpecs";
inline constexpr std::string_view kSchedulingPath = "/spec/runPolicy/schedulingPolicy";
inline constexpr std::string_view kWorker = "Worker";

struct FrameworkTypes {
  std::string_view framework;  // value of the label
  std::string_view leader;     // its replica type beside Worker
};
std::span<const FrameworkTypes> Frameworks();
// Of the label `framework`; null pointer when it is missing or unknown.
const FrameworkTypes* FrameworkOf(const schemas::WorkloadView& view);

// spec.replicaSpecs; null pointer when it is missing or not a map.
const json::Value* ReplicaSpecs(const schemas::WorkloadView& view);
// spec.runPolicy.schedulingPolicy, of any type; null pointer when it is missing.
const json::Value* SchedulingPolicy(const schemas::WorkloadView& view);
// The replica spec that holds the template, and its pointer.
const json::Value* ReplicaSpecOf(const schemas::WorkloadView& view,
                                 const schemas::PodTemplateView& pod);
std::string_view ReplicaSpecPath(const schemas::PodTemplateView& pod);

// Pods of all replica types; nothing when a count is invalid (wrong type, negative) or there are no
// types.
std::optional<int64_t> TotalReplicas(const schemas::WorkloadView& view);

// --- replica specs (ascendjob_replicas.cc) ---

void CheckReplicaSpecs(const RuleContext& context, Findings& findings);
void CheckFramework(const RuleContext& context, Findings& findings);
void CheckReplicaTypes(const RuleContext& context, Findings& findings);
void CheckReplicas(const RuleContext& context, Findings& findings);
void CheckLeader(const RuleContext& context, Findings& findings);
void CheckContainer(const RuleContext& context, Findings& findings);

// --- how the job runs (ascendjob_run.cc) ---

void CheckSuccessPolicy(const RuleContext& context, Findings& findings);
void CheckSuccessPolicyEffect(const RuleContext& context, Findings& findings);
void CheckScaleOutType(const RuleContext& context, Findings& findings);
void CheckQueueSet(const RuleContext& context, Findings& findings);
void CheckQueueExists(const RuleContext& context, Findings& findings);
void CheckMinAvailable(const RuleContext& context, Findings& findings);
void CheckGang(const RuleContext& context, Findings& findings);
void CheckBackoffLimit(const RuleContext& context, Findings& findings);
void CheckRestartPolicy(const RuleContext& context, Findings& findings);
void CheckTemplateRestartPolicy(const RuleContext& context, Findings& findings);
void CheckSchedulerNames(const RuleContext& context, Findings& findings);

// --- the job among others and over time (ascendjob_life.cc) ---

void CheckNameShadowed(const RuleContext& context, Findings& findings);
void CheckFrozenFields(const RuleContext& context, Findings& findings);
void CheckGracePeriod(const RuleContext& context, Findings& findings);

}  // namespace mindgate::policies::ascendjob
