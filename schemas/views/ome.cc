#include <array>

#include "schemas/names.h"
#include "schemas/views/adapters.h"

// OME holds pod specs without metadata beside them: labels and annotations stand on the component,
// pod fields inline, the main container as `runner`. A component with a leader or worker becomes a
// LeaderWorkerSet, else a Deployment (ome:
// pkg/controller/v1beta1/inferenceservice/utils/{deployment,merging}.go).
namespace mindgate::schemas::views {
namespace {

using json::Value;

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
  Place labels_;
  Place annotations_;
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
