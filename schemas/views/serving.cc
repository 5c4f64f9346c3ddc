#include <algorithm>
#include <array>

#include "schemas/names.h"
#include "schemas/views/builder.h"

namespace mindgate::schemas::views {

using json::Value;

// LeaderWorkerSet: one PodGroup per group when gang scheduling is on in its controller, which the
// object does not show (lws: pkg/schedulerprovider/volcano_provider.go). minMember stays unknown
// for that reason.

void ReadLeaderWorkerSet(Builder& builder) {
  const Value* spec = builder.Object(&builder.object(), {}, "spec");
  builder.Int(spec, "/spec", "replicas");
  constexpr std::string_view kPath = "/spec/leaderWorkerTemplate";
  const Value* group = builder.Object(spec, "/spec", "leaderWorkerTemplate");
  const auto size = builder.Count(group, kPath, "size", 1);
  builder.String(spec, "/spec", "startupPolicy");
  std::vector<size_t> all;
  // A missing leader template means that the leader uses the worker's: never create one.
  const Value* leader = builder.Object(group, kPath, "leaderTemplate");
  if (leader != nullptr) {
    builder.AddTemplate("leader", "/spec/leaderWorkerTemplate/leaderTemplate", leader).pods = 1;
    all.push_back(all.size());
  }
  const Value* worker = builder.Object(group, kPath, "workerTemplate");
  if (worker != nullptr) {
    PodTemplateView& pod =
        builder.AddTemplate("worker", "/spec/leaderWorkerTemplate/workerTemplate", worker);
    pod.part = all.size();
    pod.pods = size;
    if (leader != nullptr && size) pod.pods = std::max<int64_t>(*size, 1) - 1;
    all.push_back(all.size());
  }
  builder.AddGroup(PodGroupOwner::kLeaderWorkerSetGroup, "one group", all);
}

// infer-operator: a role holds a raw Deployment or StatefulSet spec; with the gang label each
// instance gets a PodGroup that copies the role's metadata (mind-cluster:
// component/infer-operator/pkg/controller/workload/{workload_reconciler,podgroup_manager}.go).

namespace {

constexpr std::string_view kGangLabel = "infer.huawei.com/gang-schedule";

void ReadRole(Builder& builder, const Value& role, std::string_view path, size_t index) {
  WorkloadView& view = builder.view();
  const std::string_view name = builder.String(&role, path, "name");
  builder.Int(&role, path, "replicas");
  const Value* metadata = builder.Object(&role, path, "metadata");
  FieldView labels = builder.StringMap(metadata, "labels", {path, "/metadata/labels"});
  FieldView annotations =
      builder.StringMap(metadata, "annotations", {path, "/metadata/annotations"});
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

// AIBrix: the pods of all roles with podGroupSize <= 1 of a RoleSet share one PodGroup, each PodSet
// of a larger role has its own (aibrix: pkg/controller/roleset/sync.go, volcano's pg-controller).

namespace {

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

// OME holds pod specs without metadata beside them: labels and annotations stand on the component,
// pod fields inline, the main container as `runner`. A component with a leader or worker becomes a
// LeaderWorkerSet, else a Deployment (ome:
// pkg/controller/v1beta1/inferenceservice/utils/{deployment,merging}.go).

namespace {

// Of a component's templates.
struct Names {
  std::string_view single;
  std::string_view leader;
  std::string_view worker;
};

struct Component {
  Names names;
  std::string_view service_key;  // in an InferenceService
  std::string_view runtime_key;  // in a runtime
  bool router;
};

constexpr std::array<Component, 3> kComponents = {{
    {{"engine", "engine.leader", "engine.worker"}, "engine", "engineConfig", false},
    {{"decoder", "decoder.leader", "decoder.worker"}, "decoder", "decoderConfig", false},
    {{"router", "router.leader", "router.worker"}, "router", "routerConfig", true},
}};

// The deprecated way to write an engine; OME's defaulter moves it there when neither engine nor
// model is set.
constexpr Component kPredictor = {
    {"predictor", "predictor.leader", "predictor.worker"}, "predictor", "", false};

const PodTemplateView* TemplateNamed(const WorkloadView* view, std::string_view name) {
  if (view == nullptr) return nullptr;
  for (const PodTemplateView& pod : view->templates) {
    if (pod.name == name) return &pod;
  }
  return nullptr;
}

class ComponentReader {
 public:
  ComponentReader(Builder& builder, const Component& component, const Value& value,
                  std::string_view path)
      : builder_(builder), component_(component), value_(value), path_(path) {}

  void Read() {
    labels_ = builder_.StringMap(&value_, "labels", {path_, "/labels"});
    annotations_ = builder_.StringMap(&value_, "annotations", {path_, "/annotations"});
    const Names& names = component_.names;
    const Names& in_runtime = &component_ == &kPredictor ? kComponents[0].names : names;
    const WorkloadView* runtime = builder_.view().runtime.get();
    const auto* runtime_single = TemplateNamed(runtime, in_runtime.single);
    const auto* runtime_leader = TemplateNamed(runtime, in_runtime.leader);
    const auto* runtime_worker = TemplateNamed(runtime, in_runtime.worker);
    const Value* leader = builder_.Object(&value_, path_, "leader");
    const Value* worker = builder_.Object(&value_, path_, "worker");
    const bool multi_node = leader != nullptr || worker != nullptr || runtime_leader != nullptr ||
                            runtime_worker != nullptr;
    if (!IsMultiNode(multi_node, runtime_single != nullptr ? runtime_single : runtime_leader)) {
      Add(names.single, path_, &value_, runtime_single).pods = Replicas();
      Group(PodGroupOwner::kReplicaSet);
      return;
    }
    if (leader != nullptr) {
      Add(names.leader, builder_.Child(path_, "leader"), leader, runtime_leader).pods = 1;
    } else {
      // The leader comes from the runtime, or the component's own pod fields serve as the leader.
      PodTemplateView& pod = Add(names.single, path_, &value_,
                                 runtime_leader != nullptr ? runtime_leader : runtime_single);
      pod.pods = 1;
      if (runtime_leader != nullptr) pod.has_pod_spec = false;
    }
    if (worker != nullptr || runtime_worker != nullptr) {
      const std::string_view path = builder_.Child(path_, "worker");
      auto size = builder_.Count(worker, path, "size", 0);
      if (json::Find(worker, "size") == nullptr && runtime_worker != nullptr) {
        size = runtime_worker->pods;
      }
      PodTemplateView& pod = Add(names.worker, path, worker, runtime_worker);
      pod.pods = size;
    }
    Group(PodGroupOwner::kLeaderWorkerSetGroup);
  }

 private:
  // OME looks at the shape, and for the engine first at an annotation of the merged component.
  bool IsMultiNode(bool by_shape, const PodTemplateView* runtime) const {
    if (component_.names.single != "engine") return by_shape;
    const Value* mode = annotations_.Find(kOmeDeploymentMode);
    if (mode == nullptr && runtime != nullptr) {
      mode = runtime->annotations.Find(kOmeDeploymentMode);
    }
    const auto text = json::AsString(mode);
    if (text == "RawDeployment") return false;
    return text == "MultiNode" || by_shape;
  }

  PodTemplateView& Add(std::string_view name, std::string_view path, const Value* spec,
                       const PodTemplateView* runtime) {
    WorkloadView& view = builder_.view();
    PodTemplateView& pod = view.templates.emplace_back();
    pod.name = name;
    pod.path = path;
    pod.part = view.templates.size() - 1;
    pod.pod_spec.path = path;
    pod.node_selector.path = {path, "/nodeSelector"};
    pod.labels = labels_;
    pod.annotations = annotations_;
    pod.router = component_.router;
    pod.runtime = runtime;
    pod.has_pod_spec = json::Find(spec, "runner") != nullptr ||
                       json::Find(spec, "containers") != nullptr ||
                       json::Find(spec, "schedulerName") != nullptr;
    if (view.kind == Kind::kInferenceService) {
      pod.inherited_labels = runtime == nullptr ? builder_.Row({&view.labels})
                                                : builder_.Row({&runtime->labels, &view.labels});
      pod.inherited_annotations = runtime == nullptr
                                      ? builder_.Row({&view.annotations})
                                      : builder_.Row({&runtime->annotations, &view.annotations});
    }
    builder_.ReadPodSpec(pod, spec, "runner");
    members_.push_back(view.templates.size() - 1);
    return pod;
  }

  // OME's defaulter writes minReplicas 1 into every service component that lacks it, so a runtime's
  // value is dead.
  std::optional<int64_t> Replicas() {
    const auto replicas = builder_.Count(&value_, path_, "minReplicas", 1);
    if (builder_.view().kind != Kind::kInferenceService) return std::nullopt;
    return replicas;
  }

  void Group(PodGroupOwner owner) {
    PodGroupView& group = builder_.AddGroup(owner, component_.names.single, members_);
    if (owner == PodGroupOwner::kReplicaSet) group.min_member = 1;
  }

  Builder& builder_;
  const Component& component_;
  const Value& value_;
  std::string_view path_;
  FieldView labels_;
  FieldView annotations_;
  std::vector<size_t> members_;
};

}  // namespace

void ReadOme(Builder& builder) {
  WorkloadView& view = builder.view();
  // Templates hold pointers into each other only across views, never within this vector.
  const bool service = view.kind == Kind::kInferenceService;
  const Value* spec = builder.Object(&builder.object(), {}, "spec");
  for (const Component& component : kComponents) {
    const std::string_view key = service ? component.service_key : component.runtime_key;
    const Value* value = builder.Object(spec, "/spec", key);
    if (value == nullptr) continue;
    ComponentReader(builder, component, *value, builder.Child("/spec", key)).Read();
  }
  if (service && json::Find(spec, "engine") == nullptr && json::Find(spec, "model") == nullptr) {
    if (const Value* value = builder.Object(spec, "/spec", "predictor")) {
      ComponentReader(builder, kPredictor, *value, "/spec/predictor").Read();
    }
  }
}

}  // namespace mindgate::schemas::views
