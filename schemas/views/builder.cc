
#include "json/pointer.h"
#include "schemas/names.h"
#include "schemas/views/adapters.h"

namespace mindgate::schemas::views {

using json::Value;

const Value* Builder::Typed(const Value* parent, std::string_view path, std::string_view key,
                            bool (*has_type)(const Value&), std::string_view wanted) {
  const Value* value = json::Find(parent, key);
  if (value == nullptr || has_type(*value)) return value;
  AddWrongType(json::Child(path, key), wanted, *value);
  return nullptr;
}

void Builder::AddWrongType(std::string path, std::string_view wanted, const Value& value) {
  if (view_.wrong_types.size() == kMaxWrongTypes) {
    AddExcess(std::move(path), "members of a wrong type", kMaxWrongTypes);
    return;
  }
  // A bare pod's metadata is read twice: as the object's and as its template's.
  if (wrong_.insert(&value).second) view_.wrong_types.push_back({std::move(path), wanted, &value});
}

void Builder::AddExcess(std::string path, std::string_view what, size_t max) {
  if (!view_.excess) view_.excess = Excess{std::move(path), what, max};
}

bool Builder::HasTooMany(const Value* parts, std::string_view path, std::string_view key) {
  if (parts == nullptr || parts->size() <= kMaxTemplates) return false;
  AddExcess(json::Child(path, key), key, kMaxTemplates);
  return true;
}

const Value* Builder::Object(const Value* parent, std::string_view path, std::string_view key) {
  return Typed(parent, path, key, [](const Value& value) { return value.is_object(); }, "object");
}

const Value* Builder::List(const Value* parent, std::string_view path, std::string_view key) {
  return Typed(parent, path, key, [](const Value& value) { return value.is_array(); }, "list");
}

std::optional<int64_t> Builder::Int(const Value* parent, std::string_view path,
                                    std::string_view key) {
  const auto is_integer = [](const Value& value) { return value.is_integer(); };
  return json::AsInt(Typed(parent, path, key, is_integer, "integer"));
}

std::optional<int64_t> Builder::Count(const Value* parent, std::string_view path,
                                      std::string_view key, int64_t by_default) {
  if (json::Find(parent, key) == nullptr) return by_default;
  return Int(parent, path, key);
}

std::string_view Builder::String(const Value* parent, std::string_view path, std::string_view key) {
  const auto is_string = [](const Value& value) { return value.is_string(); };
  return json::AsString(Typed(parent, path, key, is_string, "string")).value_or("");
}

Place Builder::StringMap(const Value* parent, std::string_view path, std::string_view key) {
  Place place;
  place.path = json::Child(path, key);
  place.value = Object(parent, path, key);
  if (place.value == nullptr) return place;
  for (const auto& [name, value] : place.value->members()) {
    if (!value.is_string() && !value.is_null()) {
      AddWrongType(json::Child(place.path, name), "string", value);
    }
  }
  return place;
}

PodTemplateView& Builder::AddTemplate(std::string name, std::string path,
                                      const Value* pod_template) {
  PodTemplateView& pod = view_.templates.emplace_back();
  pod.name = std::move(name);
  pod.path = std::move(path);
  const Value* metadata = Object(pod_template, pod.path, "metadata");
  const std::string metadata_path = json::Child(pod.path, "metadata");
  pod.labels = StringMap(metadata, metadata_path, "labels");
  pod.annotations = StringMap(metadata, metadata_path, "annotations");
  ReadPodSpec(pod, json::Child(pod.path, "spec"), Object(pod_template, pod.path, "spec"));
  return pod;
}

void Builder::ReadPodSpec(PodTemplateView& pod, std::string path, const Value* spec) {
  pod.pod_spec.value = spec;
  pod.pod_spec.path = std::move(path);
  if (spec == nullptr) return;
  String(spec, pod.pod_spec.path, "schedulerName");
  String(spec, pod.pod_spec.path, "restartPolicy");
  StringMap(spec, pod.pod_spec.path, "nodeSelector");
  if (const Value* runner =
          kOmeKinds.Has(view_.kind) ? Object(spec, pod.pod_spec.path, "runner") : nullptr) {
    AddContainer(pod, json::Child(pod.pod_spec.path, "runner"), *runner,
                 ContainerView::Role::kRunner);
  }
  ReadContainers(pod, pod.pod_spec.path, spec, "containers", ContainerView::Role::kMain);
  ReadContainers(pod, pod.pod_spec.path, spec, "initContainers", ContainerView::Role::kInit);
}

void Builder::ReadContainers(PodTemplateView& pod, std::string_view path, const Value* spec,
                             std::string_view key, ContainerView::Role role) {
  const Value* containers = List(spec, path, key);
  if (containers == nullptr) return;
  const std::string list_path = json::Child(path, key);
  containers_ += containers->size();
  if (containers->size() > kMaxContainersOfPod) {
    return AddExcess(list_path, "containers in one pod", kMaxContainersOfPod);
  }
  if (containers_ > kMaxContainers) {
    return AddExcess(list_path, "containers", kMaxContainers);
  }
  for (size_t i = 0; i < containers->size(); ++i) {
    AddContainer(pod, json::Child(list_path, i), (*containers)[i], role);
  }
}

void Builder::AddContainer(PodTemplateView& pod, std::string path, const Value& container,
                           ContainerView::Role role) {
  if (!container.is_object()) {
    AddWrongType(std::move(path), "object", container);
    return;
  }
  ContainerView& added = pod.containers.emplace_back();
  added.role = role;
  added.value = &container;
  added.name = String(&container, path, "name");
  added.env.value = List(&container, path, "env");
  added.env.path = json::Child(path, "env");
  ReadEnv(added.env);
  const Value* resources = Object(&container, path, "resources");
  if (resources != nullptr) {
    const std::string resources_path = json::Child(path, "resources");
    Object(resources, resources_path, "requests");
    Object(resources, resources_path, "limits");
    added.npus = ReadNpuRequests(resources, resources_path);
    pod.own_npus = pod.own_npus || added.RequestsNpus();
    if (added.npus.size() > kMaxNpuNames) {
      AddExcess(resources_path, "huawei.com resources in one container", kMaxNpuNames);
    }
  }
  added.path = std::move(path);
}

void Builder::ReadEnv(const Place& env) {
  if (env.value == nullptr) return;
  for (size_t i = 0; i < env.value->size(); ++i) {
    const Value& entry = (*env.value)[i];
    // Built only for what is wrong: an object of many variables is the common case.
    const auto at = [&](std::string_view key) {
      return json::Child(json::Child(env.path, i), key);
    };
    if (!entry.is_object()) {
      AddWrongType(json::Child(env.path, i), "object", entry);
      continue;
    }
    for (std::string_view key : {"name", "value"}) {
      const Value* text = json::Find(entry, key);
      if (text != nullptr && !text->is_string()) AddWrongType(at(key), "string", *text);
    }
  }
}

PodGroupView& Builder::AddGroup(PodGroupOwner owner, std::string name,
                                std::vector<size_t> templates) {
  PodGroupView& group = view_.pod_groups.emplace_back();
  group.owner = owner;
  group.name = std::move(name);
  for (size_t index : templates) view_.templates[index].pod_group = view_.pod_groups.size() - 1;
  group.templates = std::move(templates);
  return group;
}

bool IsOurConfigMap(const Value& object, std::string_view name) {
  return name.starts_with(kRankTablePrefix) ||
         json::Find(json::Find(object, "data"), kScalingRuleKey) != nullptr;
}

}  // namespace mindgate::schemas::views
