#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/value.h"
#include "schemas/kinds.h"

// One small workload of any kind: for tables that ask the same of every kind, and for generators.
namespace mindgate::testing {

// Every kind that holds pods.
inline std::vector<schemas::Kind> KindsWithTemplates() {
  std::vector<schemas::Kind> kinds;
  for (int i = 0; i < schemas::kKindCount; ++i) {
    const auto kind = static_cast<schemas::Kind>(i);
    if (schemas::kWorkloads.Has(kind)) kinds.push_back(kind);
  }
  return kinds;
}

// What varies in the one template of a workload.
struct TemplateParts {
  json::Json container;                          // the main container (OME: the runner)
  json::Json pod_fields = json::Json::object();  // beside `containers`
  json::Json labels = json::Json::object();
  json::Json annotations = json::Json::object();
};

inline json::Json NpuContainer(std::string_view resource = "huawei.com/Ascend910") {
  return {{"name", "main"},
          {"image", "infer:1"},
          {"resources",
           {{"limits", {{std::string(resource), 8}}}, {"requests", {{std::string(resource), 8}}}}}};
}

inline json::Json CpuContainer() {
  return {{"name", "main"}, {"image", "infer:1"}, {"resources", {{"limits", {{"cpu", "4"}}}}}};
}

namespace internal {

inline void AddMetadata(json::Json& holder, const TemplateParts& parts) {
  if (!parts.labels.empty()) holder["labels"] = parts.labels;
  if (!parts.annotations.empty()) holder["annotations"] = parts.annotations;
}

inline json::Json PodTemplate(const TemplateParts& parts) {
  json::Json pod_template = {{"spec", parts.pod_fields}};
  pod_template["spec"]["containers"] = json::Json::array({parts.container});
  json::Json metadata = json::Json::object();
  AddMetadata(metadata, parts);
  if (!metadata.empty()) pod_template["metadata"] = std::move(metadata);
  return pod_template;
}

inline json::Json OmeComponent(const TemplateParts& parts) {
  json::Json component = parts.pod_fields;
  component["runner"] = parts.container;
  AddMetadata(component, parts);
  return component;
}

}  // namespace internal

// An object with one template that makes two pods, named "a". A ConfigMap is a scaling rule.
inline json::Json Workload(schemas::Kind kind, const TemplateParts& parts) {
  using schemas::Kind;
  const auto& info = schemas::InfoOf(kind);
  const std::string version = ApiVersionOf(info);
  json::Json object = {
      {"apiVersion", version}, {"kind", std::string(info.name)}, {"metadata", {{"name", "a"}}}};
  json::Json& spec = object["spec"];
  const json::Json pod = internal::PodTemplate(parts);
  const json::Json item = {{"name", "prefill"}, {"replicas", 2}, {"template", pod}};
  const json::Json items = json::Json::array({item});
  const json::Json infer_role = {{"name", "prefill"},
                                 {"replicas", 2},
                                 {"workload", {{"apiVersion", "apps/v1"}, {"kind", "StatefulSet"}}},
                                 {"spec", {{"replicas", 2}, {"template", pod}}}};
  switch (kind) {
    case Kind::kAscendJob:
      spec["replicaSpecs"]["Worker"] = {{"replicas", 2}, {"template", pod}};
      break;
    case Kind::kVolcanoJob:
      spec["tasks"] = items;
      break;
    case Kind::kVolcanoCronJob:
      spec["jobTemplate"]["spec"]["tasks"] = items;
      break;
    case Kind::kJob:
      spec = {{"parallelism", 2}, {"template", pod}};
      break;
    case Kind::kCronJob:
      spec["jobTemplate"]["spec"] = {{"parallelism", 2}, {"template", pod}};
      break;
    case Kind::kDeployment:
    case Kind::kReplicaSet:
    case Kind::kStatefulSet:
    case Kind::kReplicationController:
      spec = {{"replicas", 2}, {"template", pod}};
      break;
    case Kind::kDaemonSet:
      spec["template"] = pod;
      break;
    case Kind::kLeaderWorkerSet:
      spec["leaderWorkerTemplate"] = {{"size", 2}, {"workerTemplate", pod}};
      break;
    case Kind::kServingRuntime:
    case Kind::kClusterServingRuntime:
      spec["engineConfig"] = internal::OmeComponent(parts);
      break;
    case Kind::kInferenceService:
      spec["engine"] = internal::OmeComponent(parts);
      spec["engine"]["minReplicas"] = 2;
      break;
    case Kind::kStormService:
      spec = {{"replicas", 1}, {"template", {{"spec", {{"roles", items}}}}}};
      break;
    case Kind::kRoleSet:
      spec["roles"] = items;
      break;
    case Kind::kPodSet:
      spec = {{"podGroupSize", 2}, {"template", pod}};
      break;
    case Kind::kInferServiceSet:
      spec["template"]["roles"] = json::Json::array({infer_role});
      break;
    case Kind::kInferService:
      spec["roles"] = json::Json::array({infer_role});
      break;
    case Kind::kInstanceSet:
      spec = infer_role;
      break;
    case Kind::kPod:
      object["spec"] = pod.at("spec");
      internal::AddMetadata(object["metadata"], parts);
      break;
    case Kind::kService:
      spec["ports"] = json::Json::array({{{"port", 1}, {"nodePort", 31015}}});
      break;
    case Kind::kSite:
      break;  // what it has is in its row
    case Kind::kPodGroup:
      spec["minMember"] = 2;
      internal::AddMetadata(object["metadata"], parts);
      break;
    case Kind::kConfigMap:
      object.erase("spec");
      object["data"]["elastic_scaling.json"] = R"({"version": "1.0", "elastic_scaling_list": []})";
      break;
  }
  return object;
}

}  // namespace mindgate::testing
