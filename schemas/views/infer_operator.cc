
#include "schemas/views/adapters.h"

// infer-operator: a role holds a raw Deployment or StatefulSet spec; with the gang label each
// instance gets a PodGroup that copies the role's metadata (mind-cluster:
// component/infer-operator/pkg/controller/workload/{workload_reconciler,podgroup_manager}.go).
namespace mindgate::schemas::views {
namespace {

using json::Value;

constexpr std::string_view kGangLabel = "infer.huawei.com/gang-schedule";

void ReadRole(Builder& builder, const Value& role, std::string_view path, size_t index) {
  WorkloadView& view = builder.view();
  const std::string_view name = builder.String(&role, path, "name");
  builder.Int(&role, path, "replicas");
  const Value* metadata = builder.Object(&role, path, "metadata");
  Place labels = builder.StringMap(metadata, "labels", {path, "/metadata/labels"});
  Place annotations = builder.StringMap(metadata, "annotations", {path, "/metadata/annotations"});
  if (view.kind == Kind::kInstanceSet) {
    // The operator copies a role's metadata to the InstanceSet and from then on reads only that.
    labels = view.labels;
    annotations = view.annotations;
  }
  const std::string_view workload =
      builder.String(builder.Object(&role, path, "workload"), {path, "/workload"}, "kind");

  const Value* spec = builder.Object(&role, path, "spec");
  if (spec == nullptr) return;
  const Pointer spec_path(path, "/spec");
  const auto pods = builder.Count(spec, spec_path, "replicas", 1);
  const Value* pod_template = builder.Object(spec, spec_path, "template");
  if (pod_template == nullptr) return;
  PodTemplateView& pod = builder.AddTemplate(builder.NameOr(name, "role", index),
                                             builder.Text({path, "/spec/template"}), pod_template);
  pod.part = index;
  pod.pods = pods;

  const bool gang = labels.Text(kGangLabel) == "true";
  const PodGroupOwner owner = gang                        ? PodGroupOwner::kInstance
                              : workload == "StatefulSet" ? PodGroupOwner::kStatefulSet
                                                          : PodGroupOwner::kReplicaSet;
  const std::string_view title = builder.Text({"one instance of role ", pod.name});
  const size_t last = view.templates.size() - 1;
  PodGroupView& group = builder.AddGroup(owner, title, {&last, 1});
  group.min_member = gang ? pods : std::optional<int64_t>(1);
  if (gang) {
    group.labels = labels;
    group.annotations = annotations;
  }
}

}  // namespace

void ReadInferOperator(Builder& builder) {
  WorkloadView& view = builder.view();
  const Value* spec = builder.Object(&builder.object(), {}, "spec");
  if (view.kind == Kind::kInstanceSet) {
    view.spec = {"/spec", spec};
    builder.AddOnlyPart(spec, "/spec");
    if (spec != nullptr) ReadRole(builder, *spec, "/spec", 0);
    return;
  }
  std::string_view path = "/spec";
  if (view.kind == Kind::kInferServiceSet) {
    view.is_set = true;
    builder.Int(spec, path, "replicas");
    spec = builder.Object(spec, path, "template");
    path = "/spec/template";
  }
  view.spec = {path, spec};
  const Value* roles = builder.List(spec, path, "roles");
  if (roles == nullptr || builder.HasTooMany(roles, path, "roles")) return;
  const std::string_view list_path = builder.Child(path, "roles");
  builder.AddParts(*roles, list_path);
  for (size_t i = 0; i < roles->size(); ++i) {
    const std::string_view role_path = builder.Item(list_path, i);
    if ((*roles)[i].is_object()) {
      ReadRole(builder, (*roles)[i], role_path, i);
    } else {
      builder.AddWrongType(role_path, "object", (*roles)[i]);
    }
  }
}

}  // namespace mindgate::schemas::views
