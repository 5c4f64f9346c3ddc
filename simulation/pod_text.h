#pragma once

#include <cstddef>
#include <string>

#include "base/time.h"
#include "json/json.h"
#include "simulation/api_server.h"
#include "simulation/scenario.h"

// Pods as those who make them and run them write them.
namespace mindgate::simulation {

// No other pod of the scenario has it at the same time. The watcher names instances after the pods
// of a Deployment, so one of those has the name of its instance.
ApiServer::PodName PodNameOf(const InstanceSpec& spec, const ServiceSpec& service, size_t number);

// A new one: of an AscendJob with the name of the instance, or of the ReplicaSet for a revision of
// the instance's Deployment.
json::Json NewPod(const InstanceSpec& spec, const ServiceSpec& service, size_t number,
                  int64_t revision);

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
