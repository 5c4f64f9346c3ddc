#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policies/rule.h"

// What the rules about AscendJobs share. Most of what is denied is what ascend-operator itself
// checks when it reconciles a job. It then writes the condition Failed, and a job that has that
// condition counts as finished: correcting the object does not bring it back.
namespace mindgate::policies::ascendjob {

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

}  // namespace mindgate::policies::ascendjob
