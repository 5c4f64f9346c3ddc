#include <algorithm>

#include "schemas/names.h"
#include "schemas/views/adapters.h"

// AIBrix: the pods of all roles with podGroupSize <= 1 of a RoleSet share one PodGroup, each PodSet
// of a larger role has its own (aibrix: pkg/controller/roleset/sync.go, volcano's pg-controller).
namespace mindgate::schemas::views {
namespace {

using json::Value;

bool IsRoutingName(std::string_view name) {
  return name == "routing" || name == "router" || name == "proxy";
}

// The scheduler makes PodGroups only for pods that name it; injection fills an empty name, but not
// a router's.
bool IsGrouped(const Builder& builder, const PodTemplateView& pod) {
  const std::string_view scheduler = pod.SchedulerName();
  return scheduler == kVolcanoScheduler || scheduler == builder.options().scheduler ||
         (scheduler.empty() && !pod.router);
}

// With a Volcano strategy AIBrix makes the PodGroup itself, from these numbers; else Volcano does,
// with minMember 1.
std::optional<int64_t> MinMember(Builder& builder, const Value* parent, std::string_view path) {
  const Value* strategy = builder.Object(parent, path, "schedulingStrategy");
  const Value* volcano =
      builder.Object(strategy, {path, "/schedulingStrategy"}, "volcanoSchedulingStrategy");
  if (volcano == nullptr) return 1;
  return builder.Count(volcano, {path, "/schedulingStrategy/volcanoSchedulingStrategy"},
                       "minMember", 0);
}

void ReadRoles(Builder& builder, const Value* spec, std::string_view path) {
  constexpr std::string_view kTemplate = "/template";
  WorkloadView& view = builder.view();
  const Value* roles = builder.List(spec, path, "roles");
  view.spec = {path, spec};
  if (roles == nullptr || builder.HasTooMany(roles, path, "roles")) return;
  struct Role {
    size_t index;
    int64_t group_size;
    std::optional<int64_t> min_member;
  };
  std::vector<Role> read;
  const std::string_view list_path = builder.Child(path, "roles");
  builder.AddParts(*roles, list_path);
  bool any_npus = false;
  for (size_t i = 0; i < roles->size(); ++i) {
    const Value& role = (*roles)[i];
    const std::string_view template_path = builder.Item(list_path, i, kTemplate);
    const std::string_view role_path =
        template_path.substr(0, template_path.size() - kTemplate.size());
    if (!role.is_object()) {
      builder.AddWrongType(role_path, "object", role);
      continue;
    }
    const std::string_view name = builder.String(&role, role_path, "name");
    const auto replicas = builder.Int(&role, role_path, "replicas");
    const auto size = builder.Count(&role, role_path, "podGroupSize", 1);
    const Value* pod_template = builder.Object(&role, role_path, "template");
    PodTemplateView& pod =
        builder.AddTemplate(builder.NameOr(name, "role", i), template_path, pod_template);
    pod.part = i;
    any_npus = any_npus || pod.own_npus;
    if (size) pod.pods = *size > 1 ? size : replicas;
    read.push_back(
        {view.templates.size() - 1, size.value_or(1), MinMember(builder, &role, role_path)});
  }

  std::vector<size_t> shared;
  for (const Role& role : read) {
    PodTemplateView& pod = view.templates[role.index];
    const bool npus = pod.RequestsNpus();
    pod.router = !npus && (any_npus || IsRoutingName(pod.name));
    if (!IsGrouped(builder, pod)) continue;
    if (role.group_size > 1) {
      const std::string_view title = builder.Text({"one PodSet of role ", pod.name});
      builder.AddGroup(PodGroupOwner::kPodSet, title, {&role.index, 1}).min_member =
          role.min_member;
    } else {
      shared.push_back(role.index);
    }
  }
  if (!shared.empty()) {
    builder.AddGroup(PodGroupOwner::kRoleSet, "the roles with podGroupSize 1", shared).min_member =
        MinMember(builder, spec, path);
  }
}

}  // namespace

void ReadAibrix(Builder& builder) {
  WorkloadView& view = builder.view();
  const Value* spec = builder.Object(&builder.object(), {}, "spec");
  if (view.kind == Kind::kRoleSet) {
    ReadRoles(builder, spec, "/spec");
    return;
  }
  const Value* pod_template = builder.Object(spec, "/spec", "template");
  if (view.kind == Kind::kStormService) {
    view.is_set = true;
    builder.Int(spec, "/spec", "replicas");
    const Value* metadata = builder.Object(pod_template, "/spec/template", "metadata");
    builder.StringMap(metadata, "labels", "/spec/template/metadata/labels");
    builder.StringMap(metadata, "annotations", "/spec/template/metadata/annotations");
    ReadRoles(builder, builder.Object(pod_template, "/spec/template", "spec"),
              "/spec/template/spec");
    return;
  }
  view.spec = {"/spec", spec};
  builder.AddOnlyPart(spec, "/spec");
  PodTemplateView& pod = builder.AddTemplate("", "/spec/template", pod_template);
  pod.pods = builder.Count(spec, "/spec", "podGroupSize", 1);
  pod.inherited_labels = builder.Row({&view.labels});
  pod.inherited_annotations = builder.Row({&view.annotations});
  if (!IsGrouped(builder, pod)) return;
  builder.AddGroup(PodGroupOwner::kPodSet, "the PodSet", kFirst).min_member =
      MinMember(builder, spec, "/spec");
}

}  // namespace mindgate::schemas::views
