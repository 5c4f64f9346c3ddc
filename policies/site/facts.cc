#include "policies/site/facts.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "json/pointer.h"
#include "policies/site/objects.h"
#include "schemas/children.h"

namespace mindgate::policies::site {
namespace {

using cel::Value;
using schemas::PodTemplateView;
using schemas::WorkloadView;

// A map that is built: members in any order, each once.
class MapBuilder {
 public:
  explicit MapBuilder(json::Arena& arena) : arena_(arena) {}

  void Add(std::string_view key, const Value& value) {
    entries_.push_back({Value::OfString(key), value});
  }
  void Add(std::string_view key, std::string_view text) { Add(key, Value::OfString(text)); }
  void AddNumber(std::string_view key, std::optional<int64_t> number) {
    if (number) Add(key, Value::OfInt(*number));
  }
  Value Finish() {
    cel::Entry* row = arena_.Row<cel::Entry>(entries_.size());
    std::copy(entries_.begin(), entries_.end(), row);
    cel::SortEntries({row, entries_.size()});
    return Value::OfEntries({row, entries_.size()});
  }

 private:
  json::Arena& arena_;
  std::vector<cel::Entry> entries_;
};

class WorkloadBuilder {
 public:
  WorkloadBuilder(const RuleContext& context, json::Arena& arena)
      : context_(context), view_(context.view), arena_(arena) {}

  Value Build() {
    const schemas::Children children =
        schemas::ChildrenOf(view_, context_.request.objects, context_.ns());
    MapBuilder workload(arena_);
    workload.Add("kind", view_.info().name);
    workload.Add("framework", schemas::InfoOf(view_.framework).name);
    workload.Add("name", view_.name);
    workload.Add("namespace", context_.ns());
    workload.Add("templates", ListOf(view_.templates, [&](const PodTemplateView& pod) {
                   return TemplateValue(pod);
                 }));
    workload.Add("podGroups",
                 ListOf(children.pod_groups, [&](const auto& group) { return GroupValue(group); }));
    workload.Add("services", ListOf(children.services, [&](const auto& service) {
                   MapBuilder made(arena_);
                   made.Add("name", arena_.Text(service.name));
                   made.Add("maker", service.maker);
                   made.AddNumber("count", service.count);
                   return made.Finish();
                 }));
    workload.Add("autoscalers", ListOf(children.autoscalers, [&](const auto& autoscaler) {
                   MapBuilder made(arena_);
                   made.Add("kind", autoscaler.kind);
                   made.Add("name", arena_.Text(autoscaler.name));
                   made.Add("role", autoscaler.role);
                   made.AddNumber("min", autoscaler.min);
                   made.AddNumber("max", autoscaler.max);
                   return made.Finish();
                 }));
    if (children.rank_table) {
      workload.Add("rankTable", arena_.Text(children.rank_table->config_map));
    }
    return workload.Finish();
  }

 private:
  template <typename Items, typename Make>
  Value ListOf(const Items& items, Make make) {
    Value* row = arena_.Row<Value>(items.size());
    size_t count = 0;
    for (const auto& item : items) row[count++] = make(item);
    return Value::OfItems({row, count});
  }

  std::string_view Field(std::string_view pointer) {
    return arena_.Text(json::FieldPath(*view_.object, pointer));
  }

  static void AddMissing(const json::Value* map, std::vector<cel::Entry>& entries) {
    if (map == nullptr) return;
    for (const json::Member& member : map->members()) {
      const Value key = Value::OfString(member.key);
      const bool there = std::any_of(entries.begin(), entries.end(), [&](const cel::Entry& entry) {
        return entry.key.text() == member.key;
      });
      if (!there) entries.push_back({key, Value::Of(member.value)});
    }
  }

  // What the pods carry: the nearest map wins.
  Value MapOf(const schemas::FieldView& own, std::span<const schemas::FieldView> inherited) {
    const bool none_inherited =
        std::all_of(inherited.begin(), inherited.end(),
                    [](const auto& map) { return map.value == nullptr || map.value->empty(); });
    if (none_inherited) {
      return json::IsObject(own.value) ? Value::Of(*own.value) : Value::OfEntries({});
    }
    std::vector<cel::Entry> entries;
    AddMissing(own.value, entries);
    for (const schemas::FieldView& map : inherited) AddMissing(map.value, entries);
    cel::Entry* row = arena_.Row<cel::Entry>(entries.size());
    std::copy(entries.begin(), entries.end(), row);
    cel::SortEntries({row, entries.size()});
    return Value::OfEntries({row, entries.size()});
  }

  static Value SpecOf(const json::Value* value) {
    return json::IsObject(value) ? Value::Of(*value) : Value::OfEntries({});
  }

  Value ContainerValue(const schemas::ContainerView& container) {
    MapBuilder made(arena_);
    made.Add("name", container.name);
    made.Add("image", json::FindString(container.value, "image").value_or(""));
    made.Add("spec", SpecOf(container.value));
    made.Add("init", Value::OfBool(container.role == schemas::ContainerView::Role::kInit));
    made.Add("field", Field(container.path));
    bool first = true;
    for (const schemas::NpuRequest& npu : container.npus) {
      if (!npu.IsNpu() || !first) continue;
      made.Add("resource", npu.resource);
      made.AddNumber("npus", npu.count);
      first = false;
    }
    if (first) {
      made.Add("resource", "");
      made.AddNumber("npus", int64_t{0});
    }
    return made.Finish();
  }

  Value TemplateValue(const PodTemplateView& pod) {
    MapBuilder made(arena_);
    made.Add("role", pod.name);
    made.Add("field", Field(pod.path));
    made.Add("labels", MapOf(pod.labels, pod.inherited_labels));
    made.Add("annotations", MapOf(pod.annotations, pod.inherited_annotations));
    made.Add("containers", ListOf(pod.containers, [&](const schemas::ContainerView& container) {
               return ContainerValue(container);
             }));
    const auto npus = schemas::NpusOf(pod);
    made.Add("resource", npus.empty() ? std::string_view() : npus.front().resource);
    made.AddNumber("npus", npus.empty() ? std::optional<int64_t>(0) : npus.front().amount);
    made.Add("spec", SpecOf(pod.pod_spec.value));
    made.Add("scheduler", pod.SchedulerName());
    made.Add("nodeSelector", MapOf(pod.node_selector, {}));
    made.AddNumber("pods", pod.pods);
    made.AddNumber("instances", pod.pod_group
                                    ? schemas::CountOf(view_, view_.pod_groups[*pod.pod_group])
                                    : int64_t{1});
    return made.Finish();
  }

  Value GroupValue(const schemas::ChildPodGroup& group) {
    MapBuilder made(arena_);
    made.Add("name", arena_.Text(group.name));
    made.Add("maker", group.maker);
    made.Add("queue", group.queue);
    made.AddNumber("count", group.count);
    made.AddNumber("pods", group.pods);
    made.AddNumber("minMember", group.min_member);
    made.Add("roles", ListOf(group.group->templates, [&](size_t index) {
               return Value::OfString(view_.templates[index].name);
             }));
    return made.Finish();
  }

  const RuleContext& context_;
  const WorkloadView& view_;
  json::Arena& arena_;
};

}  // namespace

cel::Value WorkloadValue(const RuleContext& context, json::Arena& arena) {
  return WorkloadBuilder(context, arena).Build();
}

}  // namespace mindgate::policies::site

namespace mindgate::policies {
namespace {

using cel::Value;

Value Text(std::string_view text) { return Value::OfString(text); }

Value MapOfEntries(std::initializer_list<cel::Entry> entries, json::Arena& arena) {
  cel::Entry* row = arena.Row<cel::Entry>(entries.size());
  std::copy(entries.begin(), entries.end(), row);
  cel::SortEntries({row, entries.size()});
  return Value::OfEntries({row, entries.size()});
}

// What clients send when they ask for nothing in particular.
Value DefaultOptions(schemas::Operation operation, json::Arena& arena) {
  const bool update = operation == schemas::Operation::kUpdate;
  return MapOfEntries({{Text("kind"), Text(update ? "UpdateOptions" : "CreateOptions")},
                       {Text("apiVersion"), Text("meta.k8s.io/v1")}},
                      arena);
}

}  // namespace

Value SiteFacts::Get(Variable variable, cel::Context& evaluation) {
  const schemas::AdmissionRequest& request = context_.request;
  switch (variable) {
    case kObject:
      return Value::Of(*context_.view.object);
    case kOldObject:
      return request.old_object == nullptr ? Value() : Value::Of(*request.old_object);
    case kUserInfo:
      if (request.user_info != nullptr) return Value::Of(*request.user_info);
      unknown_ = "needs the user of the request, who is not known here";
      return evaluation.Fail("the user of the request is not known here");
    case kRequest:
      if (!request_) request_ = RequestValue();
      return *request_;
    case kNamespaceObject:
      if (!namespace_) namespace_ = NamespaceValue();
      if (namespace_->has_value()) return **namespace_;
      unknown_ = site::kNeedsNamespace;
      return evaluation.Fail("the labels of the namespace are not known here");
    default:
      if (!workload_) workload_ = site::WorkloadValue(context_, arena_);
      return *workload_;
  }
}

// As the API server sends it, but for the user.
Value SiteFacts::RequestValue() {
  const schemas::KindInfo& info = context_.view.info();
  const std::string_view api_version =
      json::FindString(*context_.view.object, "apiVersion").value_or("");
  const std::string_view version = api_version.substr(api_version.find('/') + 1);
  const Value kind = MapOfEntries({{Text("group"), Text(info.group)},
                                   {Text("version"), Text(version)},
                                   {Text("kind"), Text(info.name)}},
                                  arena_);
  const Value resource = MapOfEntries({{Text("group"), Text(info.group)},
                                       {Text("version"), Text(version)},
                                       {Text("resource"), Text(info.plural)}},
                                      arena_);
  return MapOfEntries(
      {{Text("kind"), kind},
       {Text("requestKind"), kind},
       {Text("resource"), resource},
       {Text("requestResource"), resource},
       {Text("subResource"), Text("")},
       {Text("requestSubResource"), Text("")},
       {Text("name"), Text(context_.view.name)},
       {Text("namespace"), Text(context_.ns())},
       {Text("operation"), Text(schemas::OperationName(context_.request.operation))},
       {Text("dryRun"), Value::OfBool(context_.request.dry_run)},
       {Text("options"), context_.request.options == nullptr
                             ? DefaultOptions(context_.request.operation, arena_)
                             : Value::Of(*context_.request.options)}},
      arena_);
}

// The object where it is known, else its name and labels. Nothing when these are not known.
std::optional<Value> SiteFacts::NamespaceValue() {
  const schemas::AdmissionRequest& request = context_.request;
  if (context_.view.info().cluster_scoped) return Value();
  if (request.objects != nullptr) {
    const json::Value* known = request.objects->Find("", "Namespace", "", context_.ns());
    if (known != nullptr) return Value::Of(*known);
  }
  if (!request.knows_namespace_labels) return std::nullopt;
  cel::Entry* row = arena_.Row<cel::Entry>(request.namespace_labels.size() + 1);
  size_t count = 0;
  for (const auto& [key, value] : request.namespace_labels) row[count++] = {Text(key), Text(value)};
  if (!request.namespace_labels.contains(site::kNameLabel)) {
    row[count++] = {Text(site::kNameLabel), Text(context_.ns())};
  }
  cel::SortEntries({row, count});
  const Value metadata = MapOfEntries(
      {{Text("name"), Text(context_.ns())}, {Text("labels"), Value::OfEntries({row, count})}},
      arena_);
  return MapOfEntries({{Text("apiVersion"), Text("v1")},
                       {Text("kind"), Text("Namespace")},
                       {Text("metadata"), metadata}},
                      arena_);
}

}  // namespace mindgate::policies
