#include "simulation/pod_text.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/text.h"
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

struct Owner {
  OwnerKind kind;
  std::string_view word;  // as in a file
  const char* version;
  const char* name;
  bool plain_group;  // Volcano makes the PodGroup itself, with minMember 1
};
constexpr std::array kOwners = std::to_array<Owner>({
    {OwnerKind::kAscendJob, "AscendJob", "mindxdl.gitee.com/v1", "AscendJob", false},
    {OwnerKind::kVolcanoJob, "vcjob", "batch.volcano.sh/v1alpha1", "Job", false},
    {OwnerKind::kDeployment, "Deployment", "apps/v1", "ReplicaSet", true},
    {OwnerKind::kOmeDeployment, "OME", "apps/v1", "ReplicaSet", true},
    {OwnerKind::kLeaderWorkerSet, "LeaderWorkerSet", "apps/v1", "StatefulSet", false},
    {OwnerKind::kPodSet, "PodSet", "orchestration.aibrix.ai/v1alpha1", "PodSet", false},
    {OwnerKind::kStormService, "StormService", "orchestration.aibrix.ai/v1alpha1", "RoleSet", true},
    {OwnerKind::kStatefulSet, "StatefulSet", "apps/v1", "StatefulSet", false},
    {OwnerKind::kInferOperator, "InferOperator", "mindcluster.huawei.com/v1", "InstanceSet", false},
    {OwnerKind::kPod, "Pod", "", "", true},
});

static_assert(kOwners.size() == static_cast<size_t>(OwnerKind::kPod) + 1);

const Owner& Of(OwnerKind kind) { return kOwners[static_cast<size_t>(kind)]; }

Json OwnerReference(const std::string& version, const std::string& kind, const std::string& name,
                    const std::string& uid) {
  return {
      {"apiVersion", version}, {"kind", kind}, {"name", name}, {"uid", uid}, {"controller", true}};
}

// Null: it has none.
Json OwnerOf(const JobSpec& spec) {
  if (spec.kind == OwnerKind::kPod) return nullptr;
  return OwnerReference(Of(spec.kind).version, Of(spec.kind).name, spec.name, "owner-" + spec.name);
}

Json OwnerOf(const InstanceSpec& spec, int64_t revision) {
  if (spec.workload.empty()) {
    return OwnerReference("mindxdl.gitee.com/v1", "AscendJob", spec.name, "job-" + spec.name);
  }
  const std::string hash = "r" + std::to_string(revision);
  return OwnerReference("apps/v1", "ReplicaSet", spec.workload + "-" + hash, "set-" + hash);
}

void Add(const Labels& labels, Json& object) {
  for (const auto& [key, value] : labels) object[key] = value;
}

Json LabelsOf(const InstanceSpec& spec, const ServiceSpec& service) {
  Json labels = {{schemas::kJobId, service.job_id}, {schemas::kScalingRule, service.rule.name}};
  if (!spec.group.empty()) labels[std::string(schemas::kGroupName)] = spec.group;
  Add(service.labels, labels);
  return labels;
}

Json MetadataOf(const ApiServer::PodName& name, Json labels, const Json& owner) {
  Json metadata = {{"namespace", name.ns}, {"name", name.name}, {"labels", std::move(labels)}};
  if (!owner.is_null()) metadata["ownerReferences"] = Json::array({owner});
  return metadata;
}

// What a gang with a PodGroup writes on each of its pods.
void AddRank(size_t number, OwnerKind kind, Json& metadata) {
  if (kind == OwnerKind::kAscendJob) {
    metadata["labels"][std::string(schemas::kReplicaType)] = number == 0 ? "master" : "worker";
  }
  if (!Of(kind).plain_group) {
    metadata["annotations"][std::string(schemas::kRankIndex)] = std::to_string(number);
  }
}

Json GroupOf(Json metadata, int64_t min_member, const std::string& phase) {
  metadata["uid"] = "group-" + metadata["name"].get<std::string>();
  return {{"metadata", std::move(metadata)},
          {"spec", {{"minMember", min_member}}},
          {"status", {{"phase", phase}}}};
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
  return {service.rule.ns, PercentEncoded(spec.name) + "@" + std::to_string(number)};
}

ApiServer::PodName PodNameOf(const JobSpec& spec, size_t number, int64_t generation) {
  std::string name = spec.name + "-" + std::to_string(number);
  if (generation > 1 && IsReplicaSet(spec.kind)) name += "-r" + std::to_string(generation);
  return {spec.ns, std::move(name)};
}

Json NewPod(const InstanceSpec& spec, const ServiceSpec& service, size_t number, int64_t revision) {
  Json metadata = MetadataOf(PodNameOf(spec, service, number), LabelsOf(spec, service),
                             OwnerOf(spec, revision));
  if (!spec.workload.empty()) {
    metadata["labels"]["pod-template-hash"] = "r" + std::to_string(revision);
  }
  if (!service.labels.empty()) {
    metadata["annotations"] = {{schemas::kPodGroupAnnotation, spec.name}};
    AddRank(number, spec.workload.empty() ? OwnerKind::kAscendJob : OwnerKind::kDeployment,
            metadata);
  }
  Json pod = {
      {"metadata", std::move(metadata)},
      {"spec",
       {{"containers",
         {{{"name", "ascend"},
           {"resources",
            {{"limits", {{"huawei.com/Ascend910", std::to_string(spec.npus_per_pod)}}}}}}}}}},
      {"status", {{"phase", "Pending"}}}};
  if (spec.gated) pod["spec"]["schedulingGates"] = {{{"name", schemas::kScalingGate}}};
  return pod;
}

Json NewPod(const JobSpec& spec, const Labels& job_labels, size_t number, int64_t generation) {
  Json labels = Json::object();
  Add(job_labels, labels);
  Add(spec.pod_labels, labels);
  if (spec.kind == OwnerKind::kOmeDeployment) {
    labels[std::string(schemas::kOmeInferenceService)] = spec.name;
  }
  Json metadata = MetadataOf(PodNameOf(spec, number, generation), std::move(labels), OwnerOf(spec));
  Json& annotations = metadata["annotations"] = {{schemas::kPodGroupAnnotation, spec.name}};
  Add(spec.pod_annotations, annotations);
  AddRank(number, spec.kind, metadata);
  if (spec.super_pod_pods > 0) {
    annotations[std::string(schemas::kSuperPodRank)] =
        std::to_string(static_cast<int64_t>(number) / spec.super_pod_pods);
  }
  return {{"metadata", std::move(metadata)},
          {"spec", {{"containers", {{{"name", "ascend"}}}}}},
          {"status", {{"phase", "Pending"}}}};
}

Json NewPodGroup(const InstanceSpec& spec, const ServiceSpec& service, int64_t revision,
                 const std::string& phase) {
  return GroupOf(
      MetadataOf({service.rule.ns, spec.name}, LabelsOf(spec, service), OwnerOf(spec, revision)),
      spec.pods, phase);
}

Json NewPodGroup(const JobSpec& spec, const Labels& job_labels, const Labels& job_annotations,
                 const std::string& phase) {
  Json labels = Json::object();
  Add(job_labels, labels);
  Json metadata = MetadataOf({spec.ns, spec.name}, std::move(labels), OwnerOf(spec));
  Add(job_annotations, metadata["annotations"] = Json::object());
  return GroupOf(std::move(metadata), MinMember(spec), phase);
}

std::string_view OwnerKindName(OwnerKind kind) { return Of(kind).word; }

std::vector<std::pair<std::string, OwnerKind>> OwnerWords() {
  std::vector<std::pair<std::string, OwnerKind>> words;
  for (const Owner& owner : kOwners) words.emplace_back(owner.word, owner.kind);
  return words;
}

bool IsReplicaSet(OwnerKind kind) {
  return kind == OwnerKind::kDeployment || kind == OwnerKind::kOmeDeployment;
}

int64_t MinMember(const JobSpec& spec) {
  return spec.min_member.value_or(Of(spec.kind).plain_group ? 1 : spec.pods);
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
