#include "schemas/views/builder.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "schemas/names.h"

namespace mindgate::schemas::views {
namespace {

using json::Value;

// Unlike ==, which calls a function for texts of one size, this compares a few bytes at once.
template <size_t kSize>
bool IsWord(std::string_view text, const char (&word)[kSize]) {
  return text.size() == kSize - 1 && std::memcmp(text.data(), word, kSize - 1) == 0;
}

// Claims name their devices in other objects: only their own names may show NPUs.
const ForeignSign* SignOfClaims(const Value* claims) {
  if (!json::IsArray(claims)) return nullptr;
  for (const Value& claim : *claims) {
    for (std::string_view key : {"name", "resourceClaimName", "resourceClaimTemplateName"}) {
      const std::string name = ToLower(json::FindString(claim, key).value_or(""));
      for (const ForeignSign& sign : ForeignSigns()) {
        if (sign.where == ForeignSign::Where::kClaim && name.find(sign.text) != std::string::npos) {
          return &sign;
        }
      }
    }
  }
  return nullptr;
}

size_t Items(const Value* spec, std::string_view key) {
  const Value* list = json::Find(spec, key);
  return json::IsArray(list) ? list->size() : 0;
}

}  // namespace

std::string_view Builder::Text(std::initializer_list<std::string_view> parts) {
  size_t size = 0;
  for (std::string_view part : parts) size += part.size();
  char* const text = view_.arena->Row<char>(size);
  char* end = text;
  for (std::string_view part : parts) end = std::copy(part.begin(), part.end(), end);
  return {text, size};
}

std::string_view Builder::Child(std::string_view path, std::string_view key) {
  return Text({Pointer(path).Child(key)});
}

std::string_view Builder::Item(std::string_view path, size_t index, std::string_view below) {
  char digits[20];
  char* begin = digits + sizeof digits;
  do *--begin = static_cast<char>('0' + index % 10);
  while ((index /= 10) > 0);
  const auto size = static_cast<size_t>(digits + sizeof digits - begin);
  return Text({path, "/", std::string_view(begin, size), below});
}

std::string_view Builder::NameOr(std::string_view name, std::string_view what, size_t index) {
  return name.empty() ? Text({what, " ", std::to_string(index)}) : name;
}

std::span<const FieldView> Builder::Row(std::initializer_list<const FieldView*> places) {
  FieldView* const row = view_.arena->Row<FieldView>(places.size());
  size_t count = 0;
  for (const FieldView* place : places) std::construct_at(row + count++, *place);
  return {row, count};
}

const Value* Builder::Typed(const Value* parent, const Pointer& path, std::string_view key,
                            bool (*has_type)(const Value&), std::string_view wanted) {
  const Value* value = json::Find(parent, key);
  if (value == nullptr || has_type(*value)) return value;
  AddWrongMember(path, key, wanted, *value);
  return nullptr;
}

void Builder::AddWrongMember(const Pointer& path, std::string_view key, std::string_view wanted,
                             const Value& value) {
  if (IsFull()) return;
  AddWrongType(std::string_view(path.Child(key)), wanted, value);
}

void Builder::AddWrongType(const Pointer& path, std::string_view wanted, const Value& value) {
  if (view_.wrong_types.size() == kMaxWrongTypes) {
    if (!IsFull()) AddExcess(path.Text(), "members of a wrong type", kMaxWrongTypes);
    return;
  }
  // A bare pod's metadata is read twice: as the object's and as its template's.
  if (!wrong_.insert(&value).second) return;
  view_.wrong_types.push_back({Text({path.above, path.below}), wanted, &value});
}

void Builder::AddExcess(std::string_view path, std::string_view what, size_t max) {
  if (!view_.excess) view_.excess = Excess{Text({path}), what, max};
}

bool Builder::HasTooMany(const Value* parts, const Pointer& path, std::string_view key) {
  if (parts == nullptr) return false;
  if (parts->size() > kMaxTemplates) {
    AddExcess(path.Child(key), key, kMaxTemplates);
    return true;
  }
  view_.templates.reserve(parts->size());
  return false;
}

const Value* Builder::Object(const Value* parent, const Pointer& path, std::string_view key) {
  return Typed(parent, path, key, [](const Value& value) { return value.is_object(); }, "object");
}

const Value* Builder::List(const Value* parent, const Pointer& path, std::string_view key) {
  return Typed(parent, path, key, [](const Value& value) { return value.is_array(); }, "list");
}

std::optional<int64_t> Builder::Int(const Value* parent, const Pointer& path,
                                    std::string_view key) {
  const auto is_integer = [](const Value& value) { return value.is_integer(); };
  return json::AsInt(Typed(parent, path, key, is_integer, "integer"));
}

std::optional<int64_t> Builder::Count(const Value* parent, const Pointer& path,
                                      std::string_view key, int64_t by_default) {
  if (json::Find(parent, key) == nullptr) return by_default;
  return Int(parent, path, key);
}

std::string_view Builder::String(const Value* parent, const Pointer& path, std::string_view key) {
  const auto is_string = [](const Value& value) { return value.is_string(); };
  return json::AsString(Typed(parent, path, key, is_string, "string")).value_or("");
}

FieldView Builder::StringMap(const Value* parent, std::string_view key, const Pointer& path) {
  FieldView place;
  place.path = path;
  place.keys = KeyFilter();
  place.value = json::Find(parent, key);
  if (place.value != nullptr && !place.value->is_object()) {
    AddWrongType(path, "object", *place.value);
    place.value = nullptr;
  }
  if (place.value == nullptr) return place;
  for (const auto& [name, value] : place.value->members()) {
    place.keys.Add(name);
    if (!value.is_string() && !value.is_null()) AddWrongMember(path, name, "string", value);
  }
  return place;
}

PodTemplateView& Builder::AddTemplate(std::string_view name, std::string_view path,
                                      const Value* pod_template) {
  PodTemplateView& pod = view_.templates.emplace_back();
  pod.name = name;
  pod.path = path;
  const Value* metadata = Object(pod_template, path, "metadata");
  pod.labels = StringMap(metadata, "labels", {path, "/metadata/labels"});
  pod.annotations = StringMap(metadata, "annotations", {path, "/metadata/annotations"});
  pod.pod_spec.path = {path, "/spec"};
  pod.node_selector.path = {path, "/spec/nodeSelector"};
  ReadPodSpec(pod, Object(pod_template, path, "spec"));
  return pod;
}

void Builder::ReadPodSpec(PodTemplateView& pod, const Value* spec, std::string_view key) {
  pod.pod_spec.value = spec;
  if (spec == nullptr) return;
  const Pointer& path = pod.pod_spec.path;
  pod.scheduler = String(spec, path, "schedulerName");
  String(spec, path, "restartPolicy");
  pod.restart_policy = {path, json::FindString(spec, "restartPolicy")};
  const bool missing = json::Find(spec, "restartPolicy") == nullptr;
  // The API server refuses a batch/v1 Job without one; elsewhere an operator may have its own.
  constexpr KindSet kWithoutDefault = kBatchJobs | KindSet{Kind::kSite};
  if (!pod.restart_policy.value && !(missing && kWithoutDefault.Has(view_.kind))) {
    pod.restart_policy.value = "Always";
  }
  pod.node_selector = StringMap(spec, "nodeSelector", pod.node_selector.path);
  const Value* runner = key.empty() ? nullptr : Object(spec, path, key);
  const size_t most = (runner != nullptr ? 1 : 0) +
                      std::min(Items(spec, "containers"), kMaxContainersOfPod) +
                      std::min(Items(spec, "initContainers"), kMaxContainersOfPod);
  row_ = {view_.arena->Row<ContainerView>(most), most};
  pod.containers = row_.first(0);
  if (runner != nullptr) {
    AddContainer(pod, Text({path.above, path.below, "/", key}), *runner,
                 ContainerView::Role::kRunner);
  }
  ReadContainers(pod, path, spec, "containers", ContainerView::Role::kMain);
  ReadContainers(pod, path, spec, "initContainers", ContainerView::Role::kInit);
  pod.foreign = SignIn(pod);
  if (pod.foreign != nullptr) LeaveNpusToOthers(pod);
}

// The surest sign that the template shows.
const ForeignSign* Builder::SignIn(const PodTemplateView& pod) const {
  using Where = ForeignSign::Where;
  const std::string_view scheduler =
      !pod.scheduler.empty() ? pod.scheduler : view_.spec.Text("schedulerName").value_or("");
  if (const ForeignSign* sign = SignOf(Where::kScheduler, scheduler)) return sign;
  const ForeignSign* surest = nullptr;
  for (const ForeignSign& sign : ForeignSigns()) {
    if (sign.where == Where::kAnnotation && pod.annotations.Find(sign.text) != nullptr)
      return &sign;
  }
  for (const ContainerView& container : pod.containers) {
    for (const NpuRequest& npu : container.npus) {
      if (npu.kind != NpuResource::kForeign || npu.count == int64_t{0}) continue;
      const ForeignSign* sign =
          IsOfSite(npu.resource) ? SignOfSite() : SignOfResource(npu.resource);
      if (surest == nullptr || sign->where < surest->where) surest = sign;
    }
  }
  return surest != nullptr || pod.own_npus ? surest
                                           : SignOfClaims(pod.pod_spec.Find("resourceClaims"));
}

bool Builder::IsOfSite(std::string_view resource) const {
  return std::ranges::any_of(options_.npu_resources,
                             [&](const NpuResourceRow& row) { return row.name == resource; });
}

void Builder::LeaveNpusToOthers(PodTemplateView& pod) {
  pod.own_npus = false;
  for (ContainerView& container : row_.first(pod.containers.size())) {
    container.npus = AsForeign(container.npus, *view_.arena);
  }
}

void Builder::ReadContainers(PodTemplateView& pod, const Pointer& path, const Value* spec,
                             std::string_view key, ContainerView::Role role) {
  const Value* containers = List(spec, path, key);
  if (containers == nullptr) return;
  containers_ += containers->size();
  if (containers->size() > kMaxContainersOfPod) {
    return AddExcess(path.Child(key), "containers in one pod", kMaxContainersOfPod);
  }
  if (containers_ > kMaxContainers) {
    return AddExcess(path.Child(key), "containers", kMaxContainers);
  }
  const std::string_view list = Text({path.above, path.below, "/", key});
  for (size_t i = 0; i < containers->size(); ++i) {
    AddContainer(pod, Item(list, i), (*containers)[i], role);
  }
}

void Builder::AddContainer(PodTemplateView& pod, std::string_view path, const Value& container,
                           ContainerView::Role role) {
  if (!container.is_object()) return AddWrongType(path, "object", container);
  const size_t count = pod.containers.size();
  ContainerView& added = *std::construct_at(&row_[count]);
  pod.containers = row_.first(count + 1);
  added.role = role;
  added.path = path;
  added.value = &container;
  added.name = String(&container, path, "name");
  added.env.value = List(&container, path, "env");
  added.env.path = {path, "/env"};
  added.env.wrong_type = added.env.value == nullptr && json::Find(container, "env") != nullptr;
  ReadEnv(added);
  const Value* resources = Object(&container, path, "resources");
  if (resources == nullptr) return;
  const Pointer resources_path(path, "/resources");
  Object(resources, resources_path, "requests");
  Object(resources, resources_path, "limits");
  added.npus = ReadNpuRequests(resources, path, options_.npu_resources, *view_.arena);
  pod.own_npus = pod.own_npus || added.RequestsNpus();
  if (added.npus.size() > kMaxNpuNames) {
    AddExcess(resources_path.Text(), "huawei.com resources in one container", kMaxNpuNames);
  }
}

// An object of many variables is the common case: each is read once, for all who ask.
void Builder::ReadEnv(ContainerView& container) {
  if (container.env.value == nullptr) return;
  for (const Value& entry : *container.env.value) {
    // Spelled only for what is wrong.
    const auto path = [&] {
      const auto index = static_cast<size_t>(&entry - container.env.value->begin());
      return container.env.path.Child(index);
    };
    if (!entry.is_object()) {
      if (!IsFull()) AddWrongType(std::string_view(path()), "object", entry);
      continue;
    }
    bool has_value = false;
    bool has_source = false;
    for (const json::Member& member : entry.members()) {
      if (member.value.is_null()) continue;
      const bool is_value = IsWord(member.key, "value");
      if (IsWord(member.key, "valueFrom")) {
        has_source = true;
      } else if (is_value || IsWord(member.key, "name")) {
        if (!member.value.is_string()) {
          if (!IsFull())
            AddWrongMember(std::string_view(path()), member.key, "string", member.value);
        } else if (is_value) {
          has_value = !member.value.text().empty();
        } else if (container.visible_devices == nullptr && member.value.text() == kVisibleDevices) {
          container.visible_devices = &entry;
        }
      }
    }
    container.env_has_both = container.env_has_both || (has_value && has_source);
  }
}

void Builder::SetSpec(const Value* parent, std::string_view key, std::string_view path) {
  view_.spec.path = path;
  view_.spec.value = json::Find(parent, key);
  view_.spec.wrong_type = view_.spec.value != nullptr && !view_.spec.value->is_object();
}

void Builder::AddParts(const Value& list, std::string_view path) {
  PartView* const row = view_.arena->Row<PartView>(list.size());
  size_t count = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_object()) std::construct_at(&row[count++], PartView{path, i, &list[i]});
  }
  view_.parts = {row, count};
}

void Builder::AddOnlyPart(const Value* value, std::string_view path) {
  if (value == nullptr) return;
  PartView* const row = view_.arena->Row<PartView>(1);
  std::construct_at(row, PartView{path, std::nullopt, value});
  view_.parts = {row, 1};
}

PodGroupView& Builder::AddGroup(PodGroupOwner owner, std::string_view name,
                                std::span<const size_t> templates) {
  PodGroupView& group = view_.pod_groups.emplace_back();
  group.owner = owner;
  group.name = name;
  if (group.facts().copies_metadata) {
    group.labels = view_.labels;
    group.annotations = view_.annotations;
  }
  for (size_t index : templates) view_.templates[index].pod_group = view_.pod_groups.size() - 1;
  size_t* const row = view_.arena->Row<size_t>(templates.size());
  std::copy(templates.begin(), templates.end(), row);
  group.templates = {row, templates.size()};
  return group;
}

}  // namespace mindgate::schemas::views
