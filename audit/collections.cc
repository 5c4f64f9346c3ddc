#include "audit/collections.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "schemas/all_kinds.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"
#include "schemas/workload.h"

namespace mindgate::audit {
namespace {

using json::Value;
using schemas::Kind;
using schemas::KindInfo;

// Of kinds that mindgate does not handle (schemas/autoscalers.h, policies/ascendjob/run.cc).
std::vector<kube::Resource> OtherReferences() {
  return {{"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true},
          {"keda.sh", "v1alpha1", "scaledobjects", "ScaledObject", true},
          {"autoscaling.aibrix.ai", "v1alpha1", "podautoscalers", "PodAutoscaler", true},
          kube::resources::kQueues};
}

constexpr Kind kReferenceKinds[] = {Kind::kClusterServingRuntime,
                                    Kind::kServingRuntime,
                                    Kind::kAscendJob,
                                    Kind::kConfigMap,
                                    Kind::kService,
                                    Kind::kPodGroup};

// As kubectl and the CRDs of Volcano, LeaderWorkerSet and OME have them.
constexpr std::pair<std::string_view, Kind> kShortNames[] = {{"deploy", Kind::kDeployment},
                                                             {"rs", Kind::kReplicaSet},
                                                             {"sts", Kind::kStatefulSet},
                                                             {"ds", Kind::kDaemonSet},
                                                             {"rc", Kind::kReplicationController},
                                                             {"po", Kind::kPod},
                                                             {"cm", Kind::kConfigMap},
                                                             {"svc", Kind::kService},
                                                             {"cj", Kind::kCronJob},
                                                             {"lws", Kind::kLeaderWorkerSet},
                                                             {"vcjob", Kind::kVolcanoJob},
                                                             {"vj", Kind::kVolcanoJob},
                                                             {"pg", Kind::kPodGroup},
                                                             {"isvc", Kind::kInferenceService}};

bool HasCondition(const Value& object, std::initializer_list<std::string_view> types) {
  return std::any_of(types.begin(), types.end(), [&](std::string_view type) {
    return schemas::ConditionStatus(object, type) == "True";
  });
}

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

kube::Resource ResourceOf(const KindInfo& info) {
  return {std::string(info.group), std::string(info.version), std::string(info.plural),
          std::string(info.name), !info.cluster_scoped};
}

std::vector<ReferenceCollection> ReferenceCollections() {
  std::vector<ReferenceCollection> collections;
  for (const Kind kind : kReferenceKinds) {
    collections.push_back({ResourceOf(schemas::InfoOf(kind)), kind});
  }
  for (kube::Resource& resource : OtherReferences()) {
    collections.push_back({std::move(resource), std::nullopt});
  }
  return collections;
}

std::vector<kube::Resource> AllCollections(const schemas::SiteKinds& site) {
  std::vector<kube::Resource> all = {kube::resources::kNamespaces};
  for (const KindInfo* info : schemas::AllKinds(site)) all.push_back(ResourceOf(*info));
  for (kube::Resource& resource : OtherReferences()) all.push_back(std::move(resource));
  return all;
}

bool IsReference(const Value& object) {
  return schemas::KindOf(object) != Kind::kConfigMap || schemas::BuildView(object).has_value();
}

std::vector<const KindInfo*> KindsNamed(std::string_view name, const schemas::SiteKinds& site) {
  const std::string word = ToLower(name);
  std::vector<const KindInfo*> kinds;
  for (const KindInfo* info : schemas::AllKinds(site)) {
    const std::string plural(info->plural);
    if (word == plural || word == ToLower(info->name) ||
        word == plural + "." + std::string(info->group)) {
      kinds.push_back(info);
    }
  }
  for (const auto& [short_name, kind] : kShortNames) {
    if (word == short_name) kinds.push_back(&schemas::InfoOf(kind));
  }
  return kinds;
}

std::vector<std::string> KindNames(const schemas::SiteKinds& site) {
  std::vector<std::string> names;
  for (const KindInfo* info : schemas::AllKinds(site)) names.emplace_back(info->plural);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool IsMade(const KindInfo& info, const Value& object, const schemas::SiteKinds& kinds) {
  const Value* const controller = schemas::ControllerOf(json::Find(object, "metadata"));
  return controller != nullptr &&
         schemas::Makes(schemas::GroupOf(json::TextAt(*controller, {"apiVersion"})),
                        json::TextAt(*controller, {"kind"}), info, kinds);
}

bool HasEnded(Kind kind, const Value& object) {
  switch (kind) {
    case Kind::kPod:
      return IsOneOf(json::TextAt(object, {"status", "phase"}), {"Succeeded", "Failed"});
    // kubernetes: pkg/apis/batch/types.go, JobConditionType.
    case Kind::kJob:
      return HasCondition(object, {"Complete", "Failed"});
    // mind-cluster: component/ascend-operator, conditions of kubeflow's common API.
    case Kind::kAscendJob:
      return HasCondition(object, {"Succeeded", "Failed"});
    // volcano: staging/src/volcano.sh/apis/pkg/apis/batch/v1alpha1/job.go, JobPhase.
    case Kind::kVolcanoJob:
      return IsOneOf(json::TextAt(object, {"status", "state", "phase"}),
                     {"Completed", "Failed", "Terminated", "Aborted"});
    default:
      return false;
  }
}

}  // namespace mindgate::audit
