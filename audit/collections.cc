#include "audit/collections.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"
#include "schemas/site_kinds.h"
#include "schemas/workload.h"

namespace mindgate::audit {
namespace {

using json::Value;
using schemas::Kind;
using schemas::KindInfo;

// Of kinds that mindgate does not handle (schemas/replicas.h, policies/ascendjob/run.cc).
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

namespace {

using json::Member;

// The API server leaves both out of the items of lists of its own kinds.
Value WithKind(const Value& object, const std::string& api_version, const std::string& kind,
               json::Arena& rows) {
  if (!object.is_object() || json::Find(object, "kind") != nullptr) return object;
  const size_t size = object.size();
  auto* const members = rows.Row<Member>(size + 2);
  size_t count = 0;
  for (const Member& member : object.members()) {
    if (member.key != "apiVersion" && member.key != "kind") members[count++] = member;
  }
  members[count++] = {"apiVersion", Value::OfText(api_version)};
  members[count++] = {"kind", Value::OfText(kind)};
  const std::span all(members, count);
  json::SortMembers(all);
  return Value::OfMembers(all);
}

}  // namespace

kube::Answer<void> LiveObjects::ForEach(const kube::Resource& resource,
                                        const kube::Listing& listing) {
  const std::string api_version = resource.api_version();
  kube::Listing named = listing;
  named.item = [&](const Value& object) {
    rows_.Clear();
    listing.item(WithKind(object, api_version, resource.kind, rows_));
  };
  kube::ListOptions options;
  if (resource == kube::resources::kNamespaces && !ns_.empty()) {
    options.field_selector = "metadata.name=" + ns_;
  }
  const auto listed = client_.ListAll(resource, resource.namespaced ? ns_ : std::string(), options,
                                      nullptr, named, stop_);
  if (!listed) return tl::make_unexpected(listed.error());
  return {};
}

SnapshotObjects::SnapshotObjects(std::span<const Value* const> objects, const std::string& ns) {
  for (const Value* object : objects) {
    const std::string own = json::TextAt(*object, {"metadata", "namespace"});
    if (!ns.empty() && !own.empty() && own != ns) continue;
    const std::string api_version = json::TextAt(*object, {"apiVersion"});
    objects_[{std::string(schemas::GroupOf(api_version)), json::TextAt(*object, {"kind"})}]
        .push_back(object);
  }
}

bool SnapshotObjects::HasAny(const schemas::KindInfo& info) const {
  return objects_.contains({std::string(info.group), std::string(info.name)});
}

kube::Answer<void> SnapshotObjects::ForEach(const kube::Resource& resource,
                                            const kube::Listing& listing) {
  if (listing.started) listing.started();
  const auto found = objects_.find({resource.group, resource.kind});
  if (found == objects_.end()) return {};
  for (const Value* object : found->second) listing.item(*object);
  return {};
}

}  // namespace mindgate::audit
