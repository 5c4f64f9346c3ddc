#include "simulation/pod_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "kube/resource.h"
#include "schemas/names.h"

namespace mindgate::simulation {
namespace {

using json::Json;

constexpr std::string_view kAscendJob = "AscendJob/";
constexpr std::string_view kPod = "Pod/";

void SetCondition(Json& pod, std::string_view type, bool status, std::string_view reason,
                  Time now) {
  Json& conditions = pod["status"]["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  const char* value = status ? "True" : "False";
  auto found = std::find_if(conditions.begin(), conditions.end(),
                            [&](const Json& one) { return one.value("type", "") == type; });
  if (found == conditions.end()) {
    conditions.push_back({{"type", type}, {"status", value}, {"reason", reason}});
    conditions.back()["lastTransitionTime"] = FormatTime(now);
    return;
  }
  if (found->value("status", "") != value) (*found)["lastTransitionTime"] = FormatTime(now);
  (*found)["status"] = value;
  (*found)["reason"] = reason;
}

Json OwnerOf(const InstanceSpec& spec, const std::string& hash) {
  if (spec.workload.empty()) {
    return {{"apiVersion", "mindxdl.gitee.com/v1"},
            {"kind", "AscendJob"},
            {"name", spec.name},
            {"uid", "job-" + spec.name},
            {"controller", true}};
  }
  return {{"apiVersion", "apps/v1"},
          {"kind", "ReplicaSet"},
          {"name", spec.workload + "-" + hash},
          {"uid", "set-" + hash},
          {"controller", true}};
}

void Drop(std::string& text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    text.erase(at, word.size());
  }
}

}  // namespace

ApiServer::PodName PodNameOf(const InstanceSpec& spec, const ServiceSpec& service, size_t number) {
  if (!spec.workload.empty()) return {service.rule.ns, spec.name};
  // No character of an encoded name is '@'.
  return {service.rule.ns, kube::Encoded(spec.name) + "@" + std::to_string(number)};
}

Json NewPod(const InstanceSpec& spec, const ServiceSpec& service, size_t number, int64_t revision) {
  const ApiServer::PodName name = PodNameOf(spec, service, number);
  const std::string hash = "r" + std::to_string(revision);
  Json labels = {{schemas::kJobId, service.job_id}, {schemas::kScalingRule, service.rule.name}};
  if (!spec.group.empty()) labels[std::string(schemas::kGroupName)] = spec.group;
  if (!spec.workload.empty()) labels["pod-template-hash"] = hash;
  Json pod = {
      {"metadata",
       {{"namespace", name.ns},
        {"name", name.name},
        {"labels", std::move(labels)},
        {"ownerReferences", Json::array({OwnerOf(spec, hash)})}}},
      {"spec",
       {{"containers",
         {{{"name", "ascend"},
           {"resources",
            {{"limits", {{"huawei.com/Ascend910", std::to_string(spec.npus_per_pod)}}}}}}}}}},
      {"status", {{"phase", "Pending"}}}};
  if (spec.gated) pod["spec"]["schedulingGates"] = {{{"name", schemas::kScalingGate}}};
  return pod;
}

std::string WithoutKinds(std::string text) {
  Drop(text, kAscendJob);
  Drop(text, kPod);
  return text;
}

void SetUnschedulable(Json& pod, Time now) {
  SetCondition(pod, "PodScheduled", false, "Unschedulable", now);
}

void SetPlaced(Json& pod, const std::string& node, Time now) {
  pod["spec"]["nodeName"] = node;
  SetCondition(pod, "PodScheduled", true, "", now);
}

void SetRunning(Json& pod, Time now) {
  pod["status"]["phase"] = "Running";
  SetReady(pod, true, now);
}

void SetReady(Json& pod, bool ready, Time now) { SetCondition(pod, "Ready", ready, "", now); }

}  // namespace mindgate::simulation
