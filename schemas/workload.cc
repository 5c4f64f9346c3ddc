#include "schemas/workload.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "json/pointer.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"
#include "schemas/views/builder.h"

namespace mindgate::schemas {
namespace {

using json::Value;

// The texts and rows of a view of four containers, about.
constexpr size_t kFirstBlock = 2 * 1024;

std::optional<std::string_view> Effective(std::string_view key, const FieldView& own,
                                          std::span<const FieldView> inherited) {
  if (const Value* value = own.Find(key)) return json::AsString(value);
  for (const FieldView& place : inherited) {
    if (const Value* value = place.Find(key)) return json::AsString(value);
  }
  return std::nullopt;
}

void ReadMetadata(const Value& object, views::Builder& builder) {
  WorkloadView& view = builder.view();
  const Value* metadata = builder.Object(&object, {}, "metadata");
  view.name = builder.String(metadata, "/metadata", "name");
  view.ns = builder.String(metadata, "/metadata", "namespace");
  builder.String(metadata, "/metadata", "generateName");
  view.being_deleted = json::Find(metadata, "deletionTimestamp") != nullptr;
  view.labels = builder.StringMap(metadata, "labels", "/metadata/labels");
  view.annotations = builder.StringMap(metadata, "annotations", "/metadata/annotations");

  if (builder.List(metadata, "/metadata", "ownerReferences") == nullptr) return;
  const Value* owner = ControllerOf(metadata);
  if (owner == nullptr) return;
  view.controller = OwnerView{GroupOf(json::FindString(owner, "apiVersion").value_or("")),
                              json::FindString(owner, "kind").value_or(""),
                              json::FindString(owner, "name").value_or("")};
  view.controller_injected =
      Makes(view.controller->group, view.controller->kind, view.info(), builder.options().kinds);
}

// A place at or below something of the wrong type cannot be written: a patch there would not apply.
// Inherited maps are not among them, as nobody writes those.
void MarkUnwritable(WorkloadView& view) {
  std::set<std::string_view> wrong;
  for (const WrongType& type : view.wrong_types) wrong.insert(type.path);
  const auto mark = [&wrong](FieldView& place) {
    const std::string path = place.path;
    for (size_t end = 0; end != std::string::npos && !place.wrong_type;) {
      end = path.find('/', end + 1);
      place.wrong_type = wrong.contains(std::string_view(path).substr(0, end));
    }
  };
  mark(view.labels);
  mark(view.annotations);
  for (PodTemplateView& pod : view.templates) {
    mark(pod.labels);
    mark(pod.annotations);
    mark(pod.pod_spec);
  }
  for (PodGroupView& group : view.pod_groups) {
    if (group.labels) mark(*group.labels);
    if (group.annotations) mark(*group.annotations);
  }
}

PodChips ChipsOf(const PodTemplateView& pod) {
  PodChips chips;
  bool known = true;
  int64_t sum = 0;
  for (const ContainerView& container : pod.containers) {
    if (container.role == ContainerView::Role::kInit) continue;
    for (const NpuRequest& npu : container.npus) {
      if (npu.count == int64_t{0} || npu.kind != NpuResource::kWholeCard) continue;
      if (chips.request == nullptr) {
        chips.request = &npu;
        chips.resource = npu.resource;
      }
      if (npu.resource != chips.resource) continue;  // a rule of its own
      if (!npu.count || __builtin_add_overflow(sum, *npu.count, &sum)) known = false;
    }
  }
  if (chips.request == nullptr) {
    if (pod.runtime == nullptr) return chips;
    chips = pod.runtime->chips;
    chips.own = false;
    return chips;
  }
  if (known) chips.count = sum;
  return chips;
}

// Which of the two kinds of map a walk looks at.
struct Maps {
  FieldView WorkloadView::* object;
  std::optional<FieldView> PodGroupView::* group;
  FieldView PodTemplateView::* pod;
  std::span<const FieldView> PodTemplateView::* inherited;
};

constexpr Maps kLabelMaps = {&WorkloadView::labels, &PodGroupView::labels, &PodTemplateView::labels,
                             &PodTemplateView::inherited_labels};
constexpr Maps kAnnotationMaps = {&WorkloadView::annotations, &PodGroupView::annotations,
                                  &PodTemplateView::annotations,
                                  &PodTemplateView::inherited_annotations};

std::span<const FieldView* const> Reaching(const WorkloadView& view, const Maps& maps) {
  const size_t most = view.pod_groups.size() + view.templates.size() + 1;
  const FieldView** const row = view.arena->Row<const FieldView*>(most);
  size_t count = 0;
  // Only neighbours can share a map: the leader and worker of one OME component.
  const auto add = [&](const FieldView& place) {
    if (place.value == nullptr) return;
    if (count == 0 || row[count - 1]->value != place.value) row[count++] = &place;
  };
  const FieldView* whole_object = nullptr;
  for (const PodGroupView& group : view.pod_groups) {
    if (group.*maps.group) add(*(group.*maps.group));
  }
  for (const PodTemplateView& pod : view.templates) {
    add(pod.*maps.pod);
    for (const FieldView& place : pod.*maps.inherited) {
      if (place.value == (view.*maps.object).value) whole_object = &place;
    }
  }
  if (whole_object != nullptr) add(*whole_object);
  return {row, count};
}

// What rules and mutators would else work out again and again.
void Summarize(WorkloadView& view) {
  for (PodTemplateView& pod : view.templates) {
    pod.chips = ChipsOf(pod);
    view.npus = view.npus || pod.RequestsNpus();
  }
  const auto add = [](const FieldView& own, std::span<const FieldView> inherited, KeyFilter& keys) {
    keys.Add(own.keys);
    for (const FieldView& place : inherited) keys.Add(place.keys);
  };
  for (const PodTemplateView& pod : view.templates) {
    add(pod.labels, pod.inherited_labels, view.label_keys);
    add(pod.annotations, pod.inherited_annotations, view.annotation_keys);
  }
  for (PodGroupView& group : view.pod_groups) {
    if (group.labels) group.label_keys.Add(group.labels->keys);
    if (group.annotations) group.annotation_keys.Add(group.annotations->keys);
    for (size_t index : group.templates) {
      const PodTemplateView& pod = view.templates[index];
      group.npus = group.npus || pod.RequestsNpus();
      add(pod.labels, pod.inherited_labels, group.label_keys);
      add(pod.annotations, pod.inherited_annotations, group.annotation_keys);
    }
    view.label_keys.Add(group.label_keys);
    view.annotation_keys.Add(group.annotation_keys);
  }
  view.reaching_labels = Reaching(view, kLabelMaps);
  view.reaching_annotations = Reaching(view, kAnnotationMaps);
}

}  // namespace

std::string PartView::Path(std::string_view below) const {
  std::string path(holder);
  if (index) path += "/" + std::to_string(*index);
  return path.append(below);
}

std::string PartView::Title(std::string_view what) const {
  const auto name = json::FindString(*value, "name");
  return std::string(what) + " " + (name ? Quote(*name) : std::to_string(index.value_or(0)));
}

std::string LabelOccurrence::Path() const { return map->path.Child(key); }

bool ContainerView::RequestsNpus() const {
  return std::any_of(npus.begin(), npus.end(), [](const NpuRequest& npu) { return npu.IsNpu(); });
}

std::optional<std::string_view> PodTemplateView::Label(std::string_view key) const {
  return Effective(key, labels, inherited_labels);
}

std::optional<std::string_view> PodTemplateView::Annotation(std::string_view key) const {
  return Effective(key, annotations, inherited_annotations);
}

std::string_view PodTemplateView::SchedulerName() const {
  if (!scheduler.empty()) return scheduler;
  return runtime != nullptr ? runtime->SchedulerName() : job_scheduler;
}

const PodTemplateView* WorkloadView::TemplateOf(size_t part) const {
  const auto found =
      std::lower_bound(templates.begin(), templates.end(), part,
                       [](const PodTemplateView& pod, size_t wanted) { return pod.part < wanted; });
  return found != templates.end() && found->part == part ? &*found : nullptr;
}

bool WorkloadView::IsNpuWorkload() const {
  return RequestsNpus() || (runtime != nullptr && runtime->RequestsNpus()) ||
         Label(kInject) == "enabled";
}

std::optional<std::string_view> WorkloadView::Label(std::string_view key) const {
  return labels.Text(key);
}

std::optional<std::string_view> WorkloadView::Annotation(std::string_view key) const {
  return annotations.Text(key);
}

LabelOccurrences::LabelOccurrences(const WorkloadView& view, const PodGroupView& group, Maps maps,
                                   std::string_view key)
    : view_(view),
      group_(group),
      maps_(maps),
      key_(key),
      count_((maps == Maps::kLabels ? group.label_keys : group.annotation_keys).MayHave(key)
                 ? 1 + group.templates.size()
                 : 0) {}

LabelOccurrence LabelOccurrences::OfGroup() const {
  const auto& own = maps_ == Maps::kLabels ? group_.labels : group_.annotations;
  return own ? LabelOccurrence{&*own, key_, own->Find(key_)} : LabelOccurrence();
}

// An inherited entry reaches the pods only where nothing nearer sets it.
LabelOccurrence LabelOccurrences::OfTemplate(size_t index) const {
  const PodTemplateView& pod = view_.templates[group_.templates[index]];
  const auto map =
      maps_ == Maps::kLabels ? &PodTemplateView::labels : &PodTemplateView::annotations;
  const FieldView& own = pod.*map;
  if (const Value* value = own.Find(key_)) return {&own, key_, value};
  for (const FieldView& place :
       maps_ == Maps::kLabels ? pod.inherited_labels : pod.inherited_annotations) {
    const Value* value = place.Find(key_);
    if (value == nullptr) continue;
    const bool in_runtime = pod.runtime != nullptr && place.value == (pod.runtime->*map).value;
    return {&place, key_, value, in_runtime};
  }
  return {};
}

void LabelOccurrences::Iterator::Advance() {
  const Value* const last = found_.value;
  found_ = {};
  while (next_ < all_.count_) {
    const LabelOccurrence next = next_ == 0 ? all_.OfGroup() : all_.OfTemplate(next_ - 1);
    ++next_;
    // Only neighbours share a map: the leader and worker of one OME component.
    if (next.value == nullptr || next.value == last) continue;
    found_ = next;
    return;
  }
}

std::optional<WorkloadView> BuildView(const Value& object,
                                      std::shared_ptr<const WorkloadView> runtime,
                                      const ViewOptions& options) {
  const KindInfo* const info = FindKind(object, options.kinds);
  if (info == nullptr) return std::nullopt;
  WorkloadView view;
  view.arena = std::make_unique<json::Arena>(kFirstBlock);
  view.object = &object;
  view.kind = info->kind;
  if (info->site != nullptr) view.site_kind = info;
  view.framework = info->framework;
  view.runtime = std::move(runtime);
  views::Builder builder(view, options);
  ReadMetadata(object, builder);
  info->read(builder);
  if (builder.declined()) return std::nullopt;
  if (view.excess) {
    view.templates.clear();
    view.pod_groups.clear();
  }
  Summarize(view);
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

const json::Value* FindEnv(const json::Value* env, std::string_view name) {
  if (!json::IsArray(env)) return nullptr;
  for (const json::Value& entry : *env) {
    if (json::FindString(entry, "name") == name) return &entry;
  }
  return nullptr;
}

const ContainerView* SameContainer(const PodTemplateView& pod, const ContainerView& container) {
  for (const ContainerView& other : pod.containers) {
    if (other.role != container.role) continue;
    if (container.role == ContainerView::Role::kRunner || other.name == container.name) {
      return &other;
    }
  }
  return nullptr;
}

const ContainerView* RuntimeTwin(const PodTemplateView& pod, const ContainerView& container) {
  return pod.runtime == nullptr ? nullptr : SameContainer(*pod.runtime, container);
}

namespace {

UnreadMetadata DirectlyIn(const WorkloadView& view, std::string_view path) {
  const Value* holder = json::Resolve(*view.object, path);
  return {{{path, "/labels"}, json::Find(holder, "labels")},
          {{path, "/annotations"}, json::Find(holder, "annotations")}};
}

UnreadMetadata MetadataOf(const WorkloadView& view, std::string_view path) {
  const Value* metadata = json::Find(json::Resolve(*view.object, path), "metadata");
  return {{{path, "/metadata/labels"}, json::Find(metadata, "labels")},
          {{path, "/metadata/annotations"}, json::Find(metadata, "annotations")}};
}

}  // namespace

std::vector<UnreadMetadata> UnreadMetadataOf(const WorkloadView& view) {
  const UnreadMetadata metadata = {view.labels, view.annotations};
  std::vector<UnreadMetadata> found;
  const auto& paths = view.info().unread_metadata;
  if (!paths.front().empty()) found.reserve(paths.size());
  for (const std::string_view path : paths) {
    if (!path.empty()) found.push_back(path == "/metadata" ? metadata : DirectlyIn(view, path));
  }
  for (size_t i = 0; i < view.templates.size(); ++i) {
    const PodTemplateView& pod = view.templates[i];
    // OME prunes labels of a leader or worker; only the component's count.
    if (kOmeKinds.Has(view.kind) && pod.name.find('.') != std::string::npos) {
      found.push_back(DirectlyIn(view, pod.path));
      found.back().pod_template = i;
    }
    // infer-operator gives a role's metadata to the workload, and only with a gang to a PodGroup.
    if (kInferOperatorKinds.Has(view.kind) && pod.pod_group &&
        view.pod_groups[*pod.pod_group].owner != PodGroupOwner::kInstance) {
      const std::string_view role =
          pod.path.substr(0, pod.path.size() - std::string_view("/spec/template").size());
      found.push_back(view.kind == Kind::kInstanceSet ? metadata : MetadataOf(view, role));
      found.back().pod_template = i;
    }
  }
  return found;
}

}  // namespace mindgate::schemas
