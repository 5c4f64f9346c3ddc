#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "json/json.h"
#include "simulation/job_scenario.h"

// Pods and PodGroups as the owners of jobs and Volcano write them.
namespace mindgate::simulation {

// New pods have new names, and do not wait until the old ones are gone.
bool IsReplicaSet(OwnerKind kind);
int64_t MinMember(const JobSpec& spec);

json::Json NewPodGroup(const JobSpec& spec, const JobSpec::Texts& labels,
                       const JobSpec::Texts& annotations, const std::string& phase);
// Pods of a ReplicaSet have no rank, and those of an AscendJob say which one is the master.
json::Json NewJobPod(const JobSpec& spec, const JobSpec::Texts& labels, size_t ordinal,
                     int64_t generation);

}  // namespace mindgate::simulation
