#pragma once

#include <nlohmann/json.hpp>
#include <optional>
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

// What mindgate writes into such an object whose container requests NPUs, and where. Of a kind that
// has no row here it writes nothing at all.
struct Injected {
  schemas::Kind kind;
  std::string_view pod_template{};  // "/spec/template"; what is not said below is in it
  std::string_view own_labels{};    // with those of faults
  std::string_view own_pod_spec{};  // with the scheduler's name
  std::string_view own_container{};
  bool requests = true;            // false: the API server completes them
  bool pods_alone = false;         // its pods are rescheduled one by one
  bool counts_pods = false;        // in schedule_minAvailable
  std::string_view retry_times{};  // empty: none

  std::string labels() const { return Place(own_labels, "/metadata/labels"); }
  std::string annotations() const {
    const std::string beside = labels();
    return beside.substr(0, beside.rfind('/')) + "/annotations";
  }
  std::string pod_spec() const { return Place(own_pod_spec, "/spec"); }
  std::string container() const { return Place(own_container, "/spec/containers/0"); }

 private:
  std::string Place(std::string_view own, std::string_view in_template) const {
    if (!own.empty() || pod_template.empty()) return std::string(own);
    return std::string(pod_template) + std::string(in_template);
  }
};

inline std::vector<Injected> AllInjected() {
  using schemas::Kind;
  return {
      {.kind = Kind::kAscendJob,
       .pod_template = "/spec/replicaSpecs/Worker/template",
       .own_labels = "/metadata/labels",
       .own_pod_spec = "/spec"},
      {.kind = Kind::kVolcanoJob,
       .pod_template = "/spec/tasks/0/template",
       .own_labels = "/metadata/labels",
       .own_pod_spec = "/spec"},
      {.kind = Kind::kVolcanoCronJob,
       .pod_template = "/spec/jobTemplate/spec/tasks/0/template",
       .own_labels = "/spec/jobTemplate/metadata/labels",
       .own_pod_spec = "/spec/jobTemplate/spec"},
      {.kind = Kind::kJob, .pod_template = "/spec/template", .pods_alone = true},
      {.kind = Kind::kCronJob,
       .pod_template = "/spec/jobTemplate/spec/template",
       .pods_alone = true},
      {.kind = Kind::kDeployment, .pod_template = "/spec/template", .pods_alone = true},
      {.kind = Kind::kReplicaSet, .pod_template = "/spec/template", .pods_alone = true},
      {.kind = Kind::kStatefulSet, .pod_template = "/spec/template", .pods_alone = true},
      {.kind = Kind::kDaemonSet, .pod_template = "/spec/template", .pods_alone = true},
      {.kind = Kind::kReplicationController, .pod_template = "/spec/template", .pods_alone = true},
      {.kind = Kind::kLeaderWorkerSet,
       .pod_template = "/spec/leaderWorkerTemplate/workerTemplate",
       .pods_alone = true},
      {.kind = Kind::kServingRuntime,
       .own_labels = "/spec/engineConfig/labels",
       .own_pod_spec = "/spec/engineConfig",
       .own_container = "/spec/engineConfig/runner",
       .pods_alone = true},
      {.kind = Kind::kClusterServingRuntime,
       .own_labels = "/spec/engineConfig/labels",
       .own_pod_spec = "/spec/engineConfig",
       .own_container = "/spec/engineConfig/runner",
       .pods_alone = true},
      {.kind = Kind::kInferenceService,
       .own_labels = "/spec/engine/labels",
       .own_pod_spec = "/spec/engine",
       .own_container = "/spec/engine/runner",
       .pods_alone = true,
       .counts_pods = true},
      {.kind = Kind::kStormService,
       .pod_template = "/spec/template/spec/roles/0/template",
       .pods_alone = true,
       .counts_pods = true,
       .retry_times = "10"},
      {.kind = Kind::kRoleSet,
       .pod_template = "/spec/roles/0/template",
       .pods_alone = true,
       .counts_pods = true,
       .retry_times = "10"},
      {.kind = Kind::kPodSet,
       .pod_template = "/spec/template",
       .counts_pods = true,
       .retry_times = "10"},
      {.kind = Kind::kInferServiceSet, .pod_template = "/spec/template/roles/0/spec/template"},
      {.kind = Kind::kInferService, .pod_template = "/spec/roles/0/spec/template"},
      {.kind = Kind::kInstanceSet, .pod_template = "/spec/spec/template"},
      {.kind = Kind::kPod,
       .own_pod_spec = "/spec",
       .own_container = "/spec/containers/0",
       .requests = false},
  };
}

// Of a kind; nothing: it writes nothing.
inline std::optional<Injected> InjectedInto(schemas::Kind kind) {
  for (const Injected& row : AllInjected()) {
    if (row.kind == kind) return row;
  }
  return std::nullopt;
}

}  // namespace mindgate::testing
