#include "schemas/workload.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "json/pointer.h"
#include "schemas/names.h"
#include "schemas/views/adapters.h"

namespace mindgate::schemas {
namespace {

using json::Json;

std::optional<std::string_view> Effective(std::string_view key, const Place& own,
                                          const std::vector<Place>& inherited) {
  if (const Json* value = json::Find(own.value, key)) return json::AsString(value);
  for (const Place& place : inherited) {
    if (const Json* value = json::Find(place.value, key)) return json::AsString(value);
  }
  return std::nullopt;
}

void AddCarried(const Place& map, std::string_view key, std::vector<Carried>& carried) {
  const Json* value = json::Find(map.value, key);
  if (value == nullptr) return;
  const bool seen = std::any_of(carried.begin(), carried.end(),
                                [&](const Carried& other) { return other.value == value; });
  if (!seen) carried.push_back({json::Child(map.path, key), value});
}

// Kinds whose pods or children were injected where their owner was admitted (design section 4).
bool IsInjectedAtSource(const OwnerView& owner) {
  if (KindOf(owner.group, owner.kind)) return true;
  // Their own owners are: ReplicaSets of Deployments, the controller revision of an LWS leader
  // pod's StatefulSet.
  return owner.group == "apps" && owner.kind == "ReplicaSet";
}

void ReadMetadata(const Json& object, views::Builder& builder) {
  WorkloadView& view = builder.view();
  const Json* metadata = builder.Object(&object, "", "metadata");
  view.name = json::FindString(metadata, "name").value_or("");
  view.name_space = json::FindString(metadata, "namespace").value_or("");
  view.being_deleted = json::Find(metadata, "deletionTimestamp") != nullptr;
  view.labels = builder.StringMap(metadata, "/metadata", "labels");
  view.annotations = builder.StringMap(metadata, "/metadata", "annotations");

  const Json* owners = json::Find(metadata, "ownerReferences");
  if (!json::IsArray(owners)) return;
  for (const Json& owner : *owners) {
    if (!json::AsBool(json::Find(owner, "controller")).value_or(false)) continue;
    view.controller = OwnerView{GroupOf(json::FindString(owner, "apiVersion").value_or("")),
                                json::FindString(owner, "kind").value_or(""),
                                json::FindString(owner, "name").value_or("")};
    view.controller_injected = IsInjectedAtSource(*view.controller);
    return;
  }
}

}  // namespace

bool ContainerView::RequestsNpus() const {
  return std::any_of(npus.begin(), npus.end(),
                     [](const NpuRequest& npu) { return npu.count != int64_t{0}; });
}

bool PodTemplateView::RequestsNpus() const {
  return std::any_of(containers.begin(), containers.end(),
                     [](const ContainerView& container) { return container.RequestsNpus(); }) ||
         (runtime != nullptr && runtime->RequestsNpus());
}

std::optional<std::string_view> PodTemplateView::Label(std::string_view key) const {
  return Effective(key, labels, inherited_labels);
}

std::optional<std::string_view> PodTemplateView::Annotation(std::string_view key) const {
  return Effective(key, annotations, inherited_annotations);
}

std::string_view PodTemplateView::SchedulerName() const {
  const std::string_view own = json::FindString(pod_spec.value, "schedulerName").value_or("");
  return own.empty() && runtime != nullptr ? runtime->SchedulerName() : own;
}

bool WorkloadView::RequestsNpus() const {
  return std::any_of(templates.begin(), templates.end(),
                     [](const PodTemplateView& pod) { return pod.RequestsNpus(); });
}

std::optional<std::string_view> WorkloadView::Label(std::string_view key) const {
  return json::FindString(labels.value, key);
}

std::optional<std::string_view> WorkloadView::Annotation(std::string_view key) const {
  return json::FindString(annotations.value, key);
}

std::vector<Carried> WorkloadView::GroupLabels(const PodGroupView& group,
                                               std::string_view key) const {
  std::vector<Carried> carried;
  if (group.labels) AddCarried(*group.labels, key, carried);
  for (size_t index : group.templates) {
    const PodTemplateView& pod = templates[index];
    AddCarried(pod.labels, key, carried);
    // An inherited entry reaches the pods only where nothing nearer sets it.
    if (json::Find(pod.labels.value, key) != nullptr) continue;
    for (const Place& place : pod.inherited_labels) {
      if (json::Find(place.value, key) == nullptr) continue;
      AddCarried(place, key, carried);
      break;
    }
  }
  return carried;
}

std::vector<Carried> WorkloadView::GroupAnnotations(const PodGroupView& group,
                                                    std::string_view key) const {
  std::vector<Carried> carried;
  if (group.annotations) AddCarried(*group.annotations, key, carried);
  for (size_t index : group.templates) {
    const PodTemplateView& pod = templates[index];
    AddCarried(pod.annotations, key, carried);
    if (json::Find(pod.annotations.value, key) != nullptr) continue;
    for (const Place& place : pod.inherited_annotations) {
      if (json::Find(place.value, key) == nullptr) continue;
      AddCarried(place, key, carried);
      break;
    }
  }
  return carried;
}

std::optional<WorkloadView> BuildView(const Json& object,
                                      std::shared_ptr<const WorkloadView> runtime) {
  const auto kind = KindOf(object);
  if (!kind) return std::nullopt;
  WorkloadView view;
  view.object = &object;
  view.kind = *kind;
  view.runtime = std::move(runtime);
  views::Builder builder(view);
  ReadMetadata(object, builder);
  switch (*kind) {
    case Kind::kAscendJob:
      views::ReadAscendJob(builder);
      break;
    case Kind::kVolcanoJob:
    case Kind::kVolcanoCronJob:
      views::ReadVolcanoJob(builder);
      break;
    case Kind::kJob:
    case Kind::kCronJob:
    case Kind::kDeployment:
    case Kind::kStatefulSet:
    case Kind::kPod:
      views::ReadNative(builder);
      break;
    case Kind::kLeaderWorkerSet:
      views::ReadLeaderWorkerSet(builder);
      break;
    case Kind::kServingRuntime:
    case Kind::kClusterServingRuntime:
    case Kind::kInferenceService:
      views::ReadOme(builder);
      break;
    case Kind::kStormService:
    case Kind::kRoleSet:
    case Kind::kPodSet:
      views::ReadAibrix(builder);
      break;
    case Kind::kInferServiceSet:
    case Kind::kInferService:
    case Kind::kInstanceSet:
      views::ReadInferOperator(builder);
      break;
    case Kind::kConfigMap:
      if (!views::IsOurConfigMap(object, view.name)) return std::nullopt;
      break;
  }
  return view;
}

std::optional<RuntimeReference> RuntimeOf(const Json& inference_service) {
  const Json* runtime = json::FindPath(inference_service, {"spec", "runtime"});
  const auto name = json::FindString(runtime, "name");
  if (!name) return std::nullopt;
  const auto kind = json::FindString(runtime, "kind").value_or("ClusterServingRuntime");
  return RuntimeReference{
      kind == "ServingRuntime" ? Kind::kServingRuntime : Kind::kClusterServingRuntime, *name};
}

}  // namespace mindgate::schemas
