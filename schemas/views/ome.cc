#include <array>

#include "json/pointer.h"
#include "schemas/names.h"
#include "schemas/views/adapters.h"

// OME holds pod specs without metadata beside them: labels and annotations stand on the component,
// pod fields inline, the main container as `runner`. A component with a leader or worker becomes a
// LeaderWorkerSet, else a Deployment (ome:
// pkg/controller/v1beta1/inferenceservice/utils/{deployment,merging}.go).
namespace mindgate::schemas::views {
namespace {

using json::Value;

struct Component {
  std::string_view name;         // "engine"
  std::string_view service_key;  // in an InferenceService
  std::string_view runtime_key;  // in a runtime
  bool router;
};

constexpr std::array<Component, 3> kComponents = {{
    {"engine", "engine", "engineConfig", false},
    {"decoder", "decoder", "decoderConfig", false},
    {"router", "router", "routerConfig", true},
}};

// The deprecated way to write an engine; OME's defaulter moves it there when neither engine nor
// model is set.
constexpr Component kPredictor = {"predictor", "predictor", "", false};

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
                  std::string path)
      : builder_(builder), component_(component), value_(value), path_(std::move(path)) {}

  void Read() {
    labels_ = builder_.StringMap(&value_, path_, "labels");
    annotations_ = builder_.StringMap(&value_, path_, "annotations");
    const std::string name(component_.name);
    const std::string in_runtime(component_.name == kPredictor.name ? "engine" : component_.name);
    const WorkloadView* runtime = builder_.view().runtime.get();
    const auto* runtime_single = TemplateNamed(runtime, in_runtime);
    const auto* runtime_leader = TemplateNamed(runtime, in_runtime + ".leader");
    const auto* runtime_worker = TemplateNamed(runtime, in_runtime + ".worker");
    const Value* leader = builder_.Object(&value_, path_, "leader");
    const Value* worker = builder_.Object(&value_, path_, "worker");
    const bool multi_node = leader != nullptr || worker != nullptr || runtime_leader != nullptr ||
                            runtime_worker != nullptr;
    if (!IsMultiNode(multi_node, runtime_single != nullptr ? runtime_single : runtime_leader)) {
      Add(name, path_, &value_, runtime_single).pods = Replicas();
      Group(PodGroupOwner::kReplicaSet);
      return;
    }
    if (leader != nullptr) {
      Add(name + ".leader", path_ + "/leader", leader, runtime_leader).pods = 1;
    } else {
      // The leader comes from the runtime, or the component's own pod fields serve as the leader.
      PodTemplateView& pod =
          Add(name, path_, &value_, runtime_leader != nullptr ? runtime_leader : runtime_single);
      pod.pods = 1;
      if (runtime_leader != nullptr) pod.has_pod_spec = false;
    }
    if (worker != nullptr || runtime_worker != nullptr) {
      const std::string path = path_ + "/worker";
      auto size = builder_.Count(worker, path, "size", 0);
      if (json::Find(worker, "size") == nullptr && runtime_worker != nullptr) {
        size = runtime_worker->pods;
      }
      PodTemplateView& pod = Add(name + ".worker", path, worker, runtime_worker);
      pod.pods = size;
    }
    Group(PodGroupOwner::kLeaderWorkerSetGroup);
  }

 private:
  // OME looks at the shape, and for the engine first at an annotation of the merged component.
  bool IsMultiNode(bool by_shape, const PodTemplateView* runtime) const {
    if (component_.name != "engine") return by_shape;
    const Value* mode = json::Find(annotations_.value, kOmeDeploymentMode);
    if (mode == nullptr && runtime != nullptr) {
      mode = json::Find(runtime->annotations.value, kOmeDeploymentMode);
    }
    const auto text = json::AsString(mode);
    if (text == "RawDeployment") return false;
    return text == "MultiNode" || by_shape;
  }

  PodTemplateView& Add(std::string name, std::string path, const Value* spec,
                       const PodTemplateView* runtime) {
    WorkloadView& view = builder_.view();
    PodTemplateView& pod = view.templates.emplace_back();
    pod.name = std::move(name);
    pod.path = path;
    pod.labels = labels_;
    pod.annotations = annotations_;
    pod.router = component_.router;
    pod.runtime = runtime;
    pod.has_pod_spec = json::Find(spec, "runner") != nullptr ||
                       json::Find(spec, "containers") != nullptr ||
                       json::Find(spec, "schedulerName") != nullptr;
    if (view.kind == Kind::kInferenceService) {
      if (runtime != nullptr) {
        pod.inherited_labels.push_back(runtime->labels);
        pod.inherited_annotations.push_back(runtime->annotations);
      }
      pod.inherited_labels.push_back(view.labels);
      pod.inherited_annotations.push_back(view.annotations);
    }
    builder_.ReadPodSpec(pod, std::move(path), spec);
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
    PodGroupView& group =
        builder_.AddGroup(owner, std::string(component_.name), std::move(members_));
    if (owner == PodGroupOwner::kReplicaSet) group.min_member = 1;
  }

  Builder& builder_;
  const Component& component_;
  const Value& value_;
  std::string path_;
  Place labels_;
  Place annotations_;
  std::vector<size_t> members_;
};

}  // namespace

void ReadOme(Builder& builder) {
  WorkloadView& view = builder.view();
  view.framework = Framework::kOme;
  // Templates hold pointers into each other only across views, never within this vector.
  const bool service = view.kind == Kind::kInferenceService;
  const Value* spec = builder.Object(&builder.object(), "", "spec");
  for (const Component& component : kComponents) {
    const std::string_view key = service ? component.service_key : component.runtime_key;
    const Value* value = builder.Object(spec, "/spec", key);
    if (value == nullptr) continue;
    ComponentReader(builder, component, *value, json::Child("/spec", key)).Read();
  }
  if (service && json::Find(spec, "engine") == nullptr && json::Find(spec, "model") == nullptr) {
    if (const Value* value = builder.Object(spec, "/spec", "predictor")) {
      ComponentReader(builder, kPredictor, *value, "/spec/predictor").Read();
    }
  }
}

}  // namespace mindgate::schemas::views
