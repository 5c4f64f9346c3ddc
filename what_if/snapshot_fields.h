#pragma once

#include <string_view>

#include "json/json.h"
#include "json/projection.h"
#include "json/value.h"
#include "kube/resource.h"
#include "schemas/names.h"

// Which members of an object a snapshot keeps: those that decisions about faults, placement and
// elastic scaling read. No environment variable, no volume and no Secret is among them.
namespace mindgate::what_if {

struct Kept {
  json::Projection read;  // what is asked of the API server's answer
  // What is stored of an object that was read so: without members that say nothing.
  json::Json (*entry)(const json::Value& object);
};

Kept NodeEntries();
Kept PodEntries();
Kept PodGroupEntries();
Kept ReportEntries();                          // ConfigMaps in which MindCluster reports faults
Kept ScalingRuleEntries();                     // ConfigMaps with the key elastic_scaling.json
Kept FaultConfigEntries();                     // the ConfigMap with the cluster's own fault codes
Kept PluginNoteEntries(std::string_view key);  // a ConfigMap of MindCluster's plugin

// All of an object but managedFields, with its kind.
json::Json WholeEntry(const json::Value& object, const kube::Resource& resource);

// The same of a whole object: for objects that come from elsewhere.
json::Json EntryOf(const Kept& kept, const json::Json& object);

// Labels and annotations of pods and PodGroups that decide about faults (mind-cluster:
// component/ascend-for-volcano/plugin/job.go).
inline constexpr std::string_view kFaultLabels[] = {
    schemas::kFaultScheduling,     schemas::kPodRescheduling,    schemas::kFaultRetryTimes,
    schemas::kProcessRecover,      schemas::kSubHealthyStrategy, schemas::kApp,
    schemas::kOmeInferenceService, schemas::kFaultType,          schemas::kReplicaType};
inline constexpr std::string_view kFaultAnnotations[] = {
    schemas::kRecoverPolicyPath, schemas::kProcessRecoverStrategy,
    schemas::kAscendReal,        schemas::kRankIndex,
    schemas::kNeedVolcanoOpe,    schemas::kPodGroupAnnotation,
    schemas::kSchedulePolicy,    schemas::kRaBlock,
    schemas::kAffinityConfig,    schemas::kMinAvailable};

}  // namespace mindgate::what_if
