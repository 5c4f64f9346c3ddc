#include <nlohmann/json.hpp>

#include "json/pointer.h"
#include "schemas/names.h"
#include "schemas/views/adapters.h"

namespace mindgate::schemas::views {

using json::Json;

const Json* Builder::Typed(const Json* parent, std::string_view path, std::string_view key,
                           bool (*has_type)(const Json&), std::string_view wanted) {
  const Json* value = json::Find(parent, key);
  if (value == nullptr || has_type(*value)) return value;
  view_.wrong_types.push_back({json::Child(path, key), wanted, value});
  return nullptr;
}

const Json* Builder::Object(const Json* parent, std::string_view path, std::string_view key) {
  return Typed(parent, path, key, [](const Json& value) { return value.is_object(); }, "object");
}

const Json* Builder::List(const Json* parent, std::string_view path, std::string_view key) {
  return Typed(parent, path, key, [](const Json& value) { return value.is_array(); }, "list");
}

std::optional<int64_t> Builder::Int(const Json* parent, std::string_view path,
                                    std::string_view key) {
  const auto is_integer = [](const Json& value) { return value.is_number_integer(); };
  return json::AsInt(Typed(parent, path, key, is_integer, "integer"));
}

std::string_view Builder::String(const Json* parent, std::string_view path, std::string_view key) {
  const auto is_string = [](const Json& value) { return value.is_string(); };
  return json::AsString(Typed(parent, path, key, is_string, "string")).value_or("");
}

Place Builder::StringMap(const Json* parent, std::string_view path, std::string_view key) {
  Place place;
  place.path = json::Child(path, key);
  const Json* raw = json::Find(parent, key);
  place.value = Object(parent, path, key);
  place.wrong_type = raw != nullptr && place.value == nullptr;
  if (place.value == nullptr) return place;
  for (const auto& [name, value] : *place.value->get_ptr<const Json::object_t*>()) {
    if (!value.is_string() && !value.is_null()) {
      view_.wrong_types.push_back({json::Child(place.path, name), "string", &value});
    }
  }
  return place;
}

PodTemplateView& Builder::AddTemplate(std::string name, std::string path,
                                      const Json* pod_template) {
  PodTemplateView& pod = view_.templates.emplace_back();
  pod.name = std::move(name);
  pod.path = std::move(path);
  const Json* metadata = Object(pod_template, pod.path, "metadata");
  const std::string metadata_path = json::Child(pod.path, "metadata");
  pod.labels = StringMap(metadata, metadata_path, "labels");
  pod.annotations = StringMap(metadata, metadata_path, "annotations");
  if (pod_template != nullptr && json::Find(*pod_template, "metadata") != nullptr &&
      metadata == nullptr) {
    pod.labels.wrong_type = pod.annotations.wrong_type = true;
  }
  const Json* spec = Object(pod_template, pod.path, "spec");
  ReadPodSpec(pod, json::Child(pod.path, "spec"), spec);
  pod.pod_spec.wrong_type = spec == nullptr && json::Find(pod_template, "spec") != nullptr;
  return pod;
}

void Builder::ReadPodSpec(PodTemplateView& pod, std::string path, const Json* spec) {
  pod.pod_spec.value = spec;
  pod.pod_spec.path = std::move(path);
  if (spec == nullptr) return;
  String(spec, pod.pod_spec.path, "schedulerName");
  if (const Json* runner =
          kOmeKinds.Has(view_.kind) ? Object(spec, pod.pod_spec.path, "runner") : nullptr) {
    AddContainer(pod, json::Child(pod.pod_spec.path, "runner"), *runner,
                 ContainerView::Role::kRunner);
  }
  ReadContainers(pod, pod.pod_spec.path, spec, "containers", ContainerView::Role::kMain);
  ReadContainers(pod, pod.pod_spec.path, spec, "initContainers", ContainerView::Role::kInit);
}

void Builder::ReadContainers(PodTemplateView& pod, std::string_view path, const Json* spec,
                             std::string_view key, ContainerView::Role role) {
  const Json* containers = List(spec, path, key);
  if (containers == nullptr) return;
  const std::string list_path = json::Child(path, key);
  for (size_t i = 0; i < containers->size(); ++i) {
    AddContainer(pod, json::Child(list_path, i), (*containers)[i], role);
  }
}

void Builder::AddContainer(PodTemplateView& pod, std::string path, const Json& container,
                           ContainerView::Role role) {
  if (!container.is_object()) {
    view_.wrong_types.push_back({std::move(path), "object", &container});
    return;
  }
  ContainerView& added = pod.containers.emplace_back();
  added.role = role;
  added.value = &container;
  added.name = String(&container, path, "name");
  added.env.value = List(&container, path, "env");
  added.env.wrong_type = added.env.value == nullptr && json::Find(container, "env") != nullptr;
  added.env.path = json::Child(path, "env");
  const Json* resources = Object(&container, path, "resources");
  if (resources != nullptr) {
    const std::string resources_path = json::Child(path, "resources");
    Object(resources, resources_path, "requests");
    Object(resources, resources_path, "limits");
    added.npus = ReadNpuRequests(resources, resources_path);
  }
  added.path = std::move(path);
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

bool IsOurConfigMap(const Json& object, std::string_view name) {
  return name.starts_with(kRankTablePrefix) ||
         json::Find(json::Find(object, "data"), kScalingRuleKey) != nullptr;
}

}  // namespace mindgate::schemas::views
