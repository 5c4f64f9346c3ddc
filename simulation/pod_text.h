#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "simulation/api_server.h"
#include "simulation/scenario.h"

// Pods and PodGroups as those who make them and run them write them.
namespace mindgate::simulation {

// No other pod of the scenario has it at the same time. The watcher names instances after the pods
// of a Deployment, so one of those has the name of its instance.
ApiServer::PodName PodNameOf(const InstanceSpec& spec, const ServiceSpec& service, size_t number);
ApiServer::PodName PodNameOf(const JobSpec& spec, size_t number, int64_t generation);

// A new one: of an AscendJob with the name of the instance, or of the ReplicaSet for a revision of
// the instance's Deployment.
json::Json NewPod(const InstanceSpec& spec, const ServiceSpec& service, size_t number,
                  int64_t revision);
// Pods of a ReplicaSet have no rank, and those of an AscendJob say which one is the master.
json::Json NewPod(const JobSpec& spec, const Labels& labels, size_t number, int64_t generation);

json::Json NewPodGroup(const InstanceSpec& spec, const ServiceSpec& service, int64_t revision,
                       const std::string& phase);
json::Json NewPodGroup(const JobSpec& spec, const Labels& labels, const Labels& annotations,
                       const std::string& phase);

// Kinds of owners, by their words in a file.
std::vector<std::pair<std::string, OwnerKind>> OwnerWords();
// New pods have new names, and do not wait until the old ones are gone.
bool IsReplicaSet(OwnerKind kind);
int64_t MinMember(const JobSpec& spec);

// What the watcher calls the instance is "AscendJob/p0" or "Pod/p0"; scenarios say p0.
std::string WithoutKinds(std::string text);

// As the scheduler writes. A condition keeps its time while its status does not change
// (k8s.io/kubernetes pkg/api/v1/pod/util.go, UpdatePodCondition).
void SetUnschedulable(json::Json& pod, Time now);
void SetPlaced(json::Json& pod, const std::string& node, Time now);
// As a kubelet or the node controller writes.
void SetRunning(json::Json& pod, Time now);
void SetReady(json::Json& pod, bool ready, Time now);

}  // namespace mindgate::simulation
