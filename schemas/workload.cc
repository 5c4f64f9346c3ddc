#include "schemas/workload.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "json/pointer.h"
#include "schemas/names.h"
#include "schemas/views/adapters.h"

namespace mindgate::schemas {
namespace {

using json::Value;

std::optional<std::string_view> Effective(std::string_view key, const Place& own,
                                          const std::vector<Place>& inherited) {
  if (const Value* value = json::Find(own.value, key)) return json::AsString(value);
  for (const Place& place : inherited) {
    if (const Value* value = json::Find(place.value, key)) return json::AsString(value);
  }
  return std::nullopt;
}

void AddOccurrence(const Place& map, std::string_view key,
                   std::vector<LabelOccurrence>& occurrences, bool in_runtime = false) {
  const Value* value = json::Find(map.value, key);
  if (value == nullptr) return;
  // Only neighbours share a map: the leader and worker of one OME component.
  if (occurrences.empty() || occurrences.back().value != value)
    occurrences.push_back({&map, key, value, in_runtime});
}

// An inherited entry reaches the pods only where nothing nearer sets it.
void AddEffective(const PodTemplateView& pod, Place PodTemplateView::* own,
                  const std::vector<Place>& inherited, std::string_view key,
                  std::vector<LabelOccurrence>& occurrences) {
  AddOccurrence(pod.*own, key, occurrences);
  if (json::Find((pod.*own).value, key) != nullptr) return;
  for (const Place& place : inherited) {
    if (json::Find(place.value, key) == nullptr) continue;
    const bool in_runtime = pod.runtime != nullptr && place.value == (pod.runtime->*own).value;
    AddOccurrence(place, key, occurrences, in_runtime);
    return;
  }
}

// Kinds whose pods or children were injected when their owner was admitted.
bool IsInjectedAtSource(const OwnerView& owner) {
  if (KindOf(owner.group, owner.kind)) return true;
  // Their own owners are: ReplicaSets of Deployments, the controller revision of an LWS leader
  // pod's StatefulSet.
  return owner.group == "apps" && owner.kind == "ReplicaSet";
}

void ReadMetadata(const Value& object, views::Builder& builder) {
  WorkloadView& view = builder.view();
  const Value* metadata = builder.Object(&object, "", "metadata");
  view.name = json::FindString(metadata, "name").value_or("");
  view.ns = json::FindString(metadata, "namespace").value_or("");
  view.being_deleted = json::Find(metadata, "deletionTimestamp") != nullptr;
  view.labels = builder.StringMap(metadata, "/metadata", "labels");
  view.annotations = builder.StringMap(metadata, "/metadata", "annotations");

  const Value* owners = builder.List(metadata, "/metadata", "ownerReferences");
  if (owners == nullptr) return;
  for (const Value& owner : *owners) {
    if (!json::AsBool(json::Find(owner, "controller")).value_or(false)) continue;
    view.controller = OwnerView{GroupOf(json::FindString(owner, "apiVersion").value_or("")),
                                json::FindString(owner, "kind").value_or(""),
                                json::FindString(owner, "name").value_or("")};
    view.controller_injected = IsInjectedAtSource(*view.controller);
    return;
  }
}

// A place at or below something of the wrong type cannot be written: a patch there would not apply.
void MarkUnwritable(WorkloadView& view) {
  std::set<std::string_view> wrong;
  for (const WrongType& type : view.wrong_types) wrong.insert(type.path);
  const auto mark = [&wrong](Place& place) {
    for (size_t end = 0; end != std::string::npos && !place.wrong_type;) {
      end = place.path.find('/', end + 1);
      place.wrong_type = wrong.contains(std::string_view(place.path).substr(0, end));
    }
  };
  mark(view.labels);
  mark(view.annotations);
  for (PodTemplateView& pod : view.templates) {
    mark(pod.labels);
    mark(pod.annotations);
    mark(pod.pod_spec);
    for (Place& place : pod.inherited_labels) mark(place);
    for (Place& place : pod.inherited_annotations) mark(place);
    for (ContainerView& container : pod.containers) mark(container.env);
  }
  for (PodGroupView& group : view.pod_groups) {
    if (group.labels) mark(*group.labels);
    if (group.annotations) mark(*group.annotations);
  }
}

void OrderByPath(WorkloadView& view) {
  view.by_path.resize(view.templates.size());
  std::iota(view.by_path.begin(), view.by_path.end(), size_t{0});
  std::sort(view.by_path.begin(), view.by_path.end(), [&view](size_t a, size_t b) {
    return view.templates[a].path < view.templates[b].path;
  });
}

}  // namespace

std::string LabelOccurrence::Path() const { return json::Child(map->path, key); }

bool ContainerView::RequestsNpus() const {
  return std::any_of(npus.begin(), npus.end(),
                     [](const NpuRequest& npu) { return npu.count != int64_t{0}; });
}

bool PodTemplateView::RequestsNpus() const {
  return own_npus || (runtime != nullptr && runtime->RequestsNpus());
}

std::optional<std::string_view> PodTemplateView::Label(std::string_view key) const {
  return Effective(key, labels, inherited_labels);
}

std::optional<std::string_view> PodTemplateView::Annotation(std::string_view key) const {
  return Effective(key, annotations, inherited_annotations);
}

std::string_view PodTemplateView::SchedulerName() const {
  const std::string_view own = json::FindString(pod_spec.value, "schedulerName").value_or("");
  if (!own.empty()) return own;
  return runtime != nullptr ? runtime->SchedulerName() : job_scheduler;
}

const PodTemplateView* WorkloadView::TemplateAt(std::string_view path) const {
  const auto found = std::lower_bound(
      by_path.begin(), by_path.end(), path,
      [this](size_t index, std::string_view wanted) { return templates[index].path < wanted; });
  return found != by_path.end() && templates[*found].path == path ? &templates[*found] : nullptr;
}

bool WorkloadView::RequestsNpus() const {
  return std::any_of(templates.begin(), templates.end(),
                     [](const PodTemplateView& pod) { return pod.RequestsNpus(); });
}

bool WorkloadView::IsNpuWorkload() const {
  return RequestsNpus() || (runtime != nullptr && runtime->RequestsNpus()) ||
         Label(kInject) == "enabled";
}

std::optional<std::string_view> WorkloadView::Label(std::string_view key) const {
  return json::FindString(labels.value, key);
}

std::optional<std::string_view> WorkloadView::Annotation(std::string_view key) const {
  return json::FindString(annotations.value, key);
}

std::vector<LabelOccurrence> WorkloadView::GroupLabels(const PodGroupView& group,
                                                       std::string_view key) const {
  std::vector<LabelOccurrence> occurrences;
  if (group.labels) AddOccurrence(*group.labels, key, occurrences);
  for (size_t index : group.templates) {
    const PodTemplateView& pod = templates[index];
    AddEffective(pod, &PodTemplateView::labels, pod.inherited_labels, key, occurrences);
  }
  return occurrences;
}

std::vector<LabelOccurrence> WorkloadView::GroupAnnotations(const PodGroupView& group,
                                                            std::string_view key) const {
  std::vector<LabelOccurrence> occurrences;
  if (group.annotations) AddOccurrence(*group.annotations, key, occurrences);
  for (size_t index : group.templates) {
    const PodTemplateView& pod = templates[index];
    AddEffective(pod, &PodTemplateView::annotations, pod.inherited_annotations, key, occurrences);
  }
  return occurrences;
}

std::optional<WorkloadView> BuildView(const Value& object,
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
      builder.StringMap(&object, "", "data");
      if (const auto text = ScalingRuleText(object)) view.scaling_rule = ReadScalingRule(*text);
      view.rank_table = ReadRankTable(object);
      break;
  }
  if (view.excess) {
    view.templates.clear();
    view.pod_groups.clear();
  }
  OrderByPath(view);
  if (!view.wrong_types.empty()) MarkUnwritable(view);
  return view;
}

std::optional<RuntimeReference> RuntimeOf(const Value& inference_service) {
  const Value* runtime = json::FindPath(inference_service, {"spec", "runtime"});
  const auto name = json::FindString(runtime, "name");
  if (!name) return std::nullopt;
  const auto kind = json::FindString(runtime, "kind").value_or("ClusterServingRuntime");
  return RuntimeReference{
      kind == "ServingRuntime" ? Kind::kServingRuntime : Kind::kClusterServingRuntime, *name};
}

}  // namespace mindgate::schemas
