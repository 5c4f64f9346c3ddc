#include "simulation/job_text.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "schemas/names.h"

namespace mindgate::simulation {
namespace {

using json::Json;

// Volcano makes the PodGroup of these itself, with minMember 1.
bool HasPlainPodGroup(OwnerKind kind) {
  return kind == OwnerKind::kDeployment || kind == OwnerKind::kOmeDeployment ||
         kind == OwnerKind::kStormService || kind == OwnerKind::kPod;
}

Json OwnerReference(const JobSpec& spec) {
  struct Owner {
    const char* version;
    const char* kind;
  };
  const auto owner = [&]() -> Owner {
    switch (spec.kind) {
      case OwnerKind::kAscendJob:
        return {"mindxdl.gitee.com/v1", "AscendJob"};
      case OwnerKind::kVolcanoJob:
        return {"batch.volcano.sh/v1alpha1", "Job"};
      case OwnerKind::kDeployment:
      case OwnerKind::kOmeDeployment:
        return {"apps/v1", "ReplicaSet"};
      case OwnerKind::kLeaderWorkerSet:
      case OwnerKind::kStatefulSet:
        return {"apps/v1", "StatefulSet"};
      case OwnerKind::kPodSet:
        return {"orchestration.aibrix.ai/v1alpha1", "PodSet"};
      case OwnerKind::kStormService:
        return {"orchestration.aibrix.ai/v1alpha1", "RoleSet"};
      case OwnerKind::kInferOperator:
        return {"mindcluster.huawei.com/v1", "InstanceSet"};
      case OwnerKind::kPod:
        return {"", ""};
    }
    return {"", ""};
  }();
  if (*owner.kind == '\0') return nullptr;
  return {{"apiVersion", owner.version},
          {"kind", owner.kind},
          {"name", spec.name},
          {"uid", "owner-" + spec.name},
          {"controller", true}};
}

Json TextsOf(const JobSpec::Texts& first, const JobSpec::Texts& second) {
  Json object = Json::object();
  for (const auto& [key, value] : first) object[key] = value;
  for (const auto& [key, value] : second) object[key] = value;
  return object;
}

}  // namespace

bool IsReplicaSet(OwnerKind kind) {
  return kind == OwnerKind::kDeployment || kind == OwnerKind::kOmeDeployment;
}

int64_t MinMember(const JobSpec& spec) {
  return spec.min_member.value_or(HasPlainPodGroup(spec.kind) ? 1 : spec.pods);
}

Json NewPodGroup(const JobSpec& spec, const JobSpec::Texts& labels,
                 const JobSpec::Texts& annotations, const std::string& phase) {
  Json metadata = {{"namespace", spec.ns},
                   {"name", spec.name},
                   {"uid", "group-" + spec.name},
                   {"labels", TextsOf(labels, {})},
                   {"annotations", TextsOf(annotations, {})}};
  if (const Json owner = OwnerReference(spec); !owner.is_null()) {
    metadata["ownerReferences"] = Json::array({owner});
  }
  return {{"metadata", std::move(metadata)},
          {"spec", {{"minMember", MinMember(spec)}}},
          {"status", {{"phase", phase}}}};
}

Json NewJobPod(const JobSpec& spec, const JobSpec::Texts& job_labels, size_t ordinal,
               int64_t generation) {
  std::string name = spec.name + "-" + std::to_string(ordinal);
  if (generation > 1 && IsReplicaSet(spec.kind)) name += "-r" + std::to_string(generation);
  Json labels = TextsOf(job_labels, spec.pod_labels);
  Json annotations = TextsOf(spec.pod_annotations, {});
  annotations[std::string(schemas::kPodGroupAnnotation)] = spec.name;
  if (spec.kind == OwnerKind::kAscendJob) {
    labels[std::string(schemas::kReplicaType)] = ordinal == 0 ? "master" : "worker";
  }
  if (spec.kind == OwnerKind::kOmeDeployment) {
    labels[std::string(schemas::kOmeInferenceService)] = spec.name;
  }
  if (!HasPlainPodGroup(spec.kind)) {
    annotations[std::string(schemas::kRankIndex)] = std::to_string(ordinal);
  }
  if (spec.super_pod_pods > 0) {
    annotations[std::string(schemas::kSuperPodRank)] =
        std::to_string(static_cast<int64_t>(ordinal) / spec.super_pod_pods);
  }
  Json metadata = {{"namespace", spec.ns},
                   {"name", std::move(name)},
                   {"labels", std::move(labels)},
                   {"annotations", std::move(annotations)}};
  if (const Json owner = OwnerReference(spec); !owner.is_null()) {
    metadata["ownerReferences"] = Json::array({owner});
  }
  return {{"metadata", std::move(metadata)},
          {"spec", {{"containers", {{{"name", "ascend"}}}}}},
          {"status", {{"phase", "Pending"}}}};
}

}  // namespace mindgate::simulation
