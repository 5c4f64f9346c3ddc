#include "schemas/replicas.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "json/value.h"
#include "schemas/names.h"

namespace mindgate::schemas {
namespace {

using json::Value;

constexpr std::string_view kHpa = "HorizontalPodAutoscaler";
constexpr std::string_view kScaledObject = "ScaledObject";

// How a kind of autoscaler names its target and its bounds, and what is so without a word:
// kubernetes: autoscaling/v2 HorizontalPodAutoscalerSpec; keda: apis/keda/v1alpha1
// (ScaledObjectSpec); aibrix: api/autoscaling/v1alpha1/podautoscaler_types.go,
// pkg/utils/paschedules.
struct AutoscalerKind {
  std::string_view group;
  std::string_view kind;
  std::string_view min_key;
  std::string_view max_key;
  int64_t min;
  std::optional<int64_t> max;
  std::string_view target_group;  // and kind; empty: it must be written
  std::string_view target_kind;
};
constexpr std::array<AutoscalerKind, 3> kAutoscalerKinds = {{
    {"autoscaling", kHpa, "minReplicas", "maxReplicas", 1, std::nullopt, "", ""},
    {"keda.sh", kScaledObject, "minReplicaCount", "maxReplicaCount", 0, 100, "apps", "Deployment"},
    {"autoscaling.aibrix.ai", "PodAutoscaler", "minReplicas", "maxReplicas", 1, std::nullopt, "",
     ""},
}};

// One bound of a spec; what is so without it.
std::optional<int64_t> BoundOf(const Value* spec, std::string_view key,
                               std::optional<int64_t> otherwise) {
  const Value* value = json::Find(spec, key);
  return value == nullptr ? otherwise : json::AsInt(value);
}

// A schedule lowers the bound while it lasts.
std::optional<int64_t> LowestOf(const Value* spec, const AutoscalerKind& kind) {
  auto lowest = BoundOf(spec, kind.min_key, kind.min);
  const Value* schedules = json::Find(spec, "schedules");
  if (!lowest || !json::IsArray(schedules)) return lowest;
  for (const Value& schedule : *schedules) {
    lowest = std::min(*lowest, BoundOf(&schedule, kind.min_key, lowest).value_or(*lowest));
  }
  return lowest;
}

bool IsTarget(const WorkloadView& view, const Value* target, const AutoscalerKind& kind) {
  const auto api_version = json::FindString(target, "apiVersion");
  const auto group = api_version ? GroupOf(*api_version) : kind.target_group;
  return json::FindString(target, "name") == view.name && group == view.info().group &&
         json::FindString(target, "kind").value_or(kind.target_kind) == view.info().name;
}

// Which role of a StormService it scales; in mode "replica" it makes more of all roles (aibrix:
// pkg/controller/podautoscaler/workload_scale.go).
std::string_view RoleOf(const WorkloadView& view, const Value& autoscaler) {
  constexpr std::string_view kMode = "autoscaling.aibrix.ai/storm-service-mode";
  if (!kStormServices.Has(view.kind)) return "";
  const Value* annotations = json::FindPath(autoscaler, {"metadata", "annotations"});
  if (json::FindString(annotations, kMode) == "replica") return "";
  return json::FindString(json::FindPath(autoscaler, {"spec", "subTargetSelector"}), "roleName")
      .value_or("");
}

// The template whose pods its replicas are.
std::optional<size_t> PodsOfReplica(const WorkloadView& view, std::string_view role) {
  if (kPlainSets.Has(view.kind) && !view.templates.empty()) return 0;
  for (size_t i = 0; !role.empty() && i < view.templates.size(); ++i) {
    const PodTemplateView& pod = view.templates[i];
    const bool single = pod.pod_group && !view.pod_groups[*pod.pod_group].facts().one_instance;
    if (pod.name == role && single) return i;
  }
  return std::nullopt;
}

void AddKnown(const WorkloadView& view, const ObjectLookup& objects, std::string_view ns,
              std::vector<Autoscaler>& found) {
  for (const AutoscalerKind& kind : kAutoscalerKinds) {
    objects.ForEach(kind.group, kind.kind, ns, [&](const Value& object) {
      const Value* spec = json::Find(object, "spec");
      if (!IsTarget(view, json::Find(spec, "scaleTargetRef"), kind)) return;
      Autoscaler one;
      one.kind = kind.kind;
      one.name = json::FindString(json::Find(object, "metadata"), "name").value_or("");
      one.role = RoleOf(view, object);
      one.min = LowestOf(spec, kind);
      one.max = BoundOf(spec, kind.max_key, kind.max);
      one.min_key = kind.min_key;
      one.pods_of = PodsOfReplica(view, one.role);
      found.push_back(std::move(one));
    });
  }
}

// OME makes one for each component that is a Deployment (ome:
// pkg/controller/v1beta1/inferenceservice/reconcilers: autoscaler, hpa, keda).
void AddOfOme(const WorkloadView& view, std::vector<Autoscaler>& found) {
  for (size_t i = 0; i < view.templates.size(); ++i) {
    const PodTemplateView& pod = view.templates[i];
    const bool deployment = pod.pod_group && view.pod_groups[*pod.pod_group].facts().of_deployment;
    const std::string_view of = pod.Annotation(kOmeAutoscalerClass).value_or("hpa");
    if (!deployment || !pod.pods || *pod.pods < 1 || (of != "hpa" && of != "keda")) continue;
    const Value* max = pod.pod_spec.Find("maxReplicas");
    if (max == nullptr && pod.runtime != nullptr) max = pod.runtime->pod_spec.Find("maxReplicas");
    std::string name(view.name.empty() ? "<name>" : view.name);
    if (pod.name != "predictor") name += "-" + std::string(pod.name);
    Autoscaler one;
    one.kind = of == "keda" ? kScaledObject : kHpa;
    one.name = of == "keda" ? "scaledobject-" + name : name;
    one.maker = "ome";
    one.min = pod.pods;
    one.max = std::max(*pod.pods, json::AsInt(max).value_or(0));
    one.min_key = "minReplicas";
    one.pods_of = i;
    found.push_back(std::move(one));
  }
}

// mind-cluster: component/infer-operator/pkg/controller/scaling/scaling_manager.go.
void AddOfInferOperator(const WorkloadView& view, std::vector<Autoscaler>& found) {
  for (const PartView& role : view.parts) {
    const Value* policy = json::Find(*role.value, "scalingPolicy");
    if (json::FindString(policy, "type") != "HPA") continue;
    const Value* spec = json::Find(policy, "spec");
    const std::string_view name = view.name.empty() ? std::string_view("<name>") : view.name;
    Autoscaler one;
    one.kind = kHpa;
    one.name = name;
    if (view.is_set) {
      one.name += "-<index>";
      one.count = std::max<int64_t>(
          json::AsInt(json::FindPath(*view.object, {"spec", "replicas"})).value_or(1), 0);
    }
    if (role.index) {
      one.role = json::FindString(*role.value, "name").value_or("");
      one.name += "-" + std::string(one.role);
    }
    one.name += "-scaler";
    one.maker = "infer-operator";
    one.min = BoundOf(spec, "minReplicas", 1);
    one.max = BoundOf(spec, "maxReplicas", std::nullopt);
    one.min_key = "minReplicas";
    found.push_back(std::move(one));
  }
}

}  // namespace

std::vector<Autoscaler> AutoscalersOf(const WorkloadView& view, const ObjectLookup* objects,
                                      std::string_view ns) {
  std::vector<Autoscaler> found;
  if (view.kind == Kind::kInferenceService) AddOfOme(view, found);
  if (kInferOperatorKinds.Has(view.kind)) AddOfInferOperator(view, found);
  if (objects != nullptr && !view.name.empty()) AddKnown(view, *objects, ns, found);
  return found;
}

namespace {

// Larger figures, which no cluster has, are cut so that products stay inside int64.
constexpr int64_t kMaxPods = 1'000'000'000;
constexpr int64_t kMaxPercent = 1'000'000'000;

enum class Rounding { kUp, kDown };

// An int-or-string of Kubernetes: 3, or "25%". Nothing for anything else, which the API server
// refuses.
std::optional<int64_t> Scaled(const Value* value, int64_t pods, Rounding rounding) {
  if (const auto number = json::AsInt(value)) return std::clamp<int64_t>(*number, 0, kMaxPods);
  const auto text = json::AsString(value);
  if (!text || !text->ends_with('%')) return std::nullopt;
  const auto percent = ParseGoInt(text->substr(0, text->size() - 1));
  if (!percent) return std::nullopt;
  const int64_t product = pods * std::clamp<int64_t>(*percent, 0, kMaxPercent);
  return (product + (rounding == Rounding::kUp ? 99 : 0)) / 100;
}

// The strategy as OME merges it: per field, the service over its runtime. Other kinds have no
// second place.
class Strategy {
 public:
  Strategy(const Value* own, const Value* runtime) : own_(own), runtime_(runtime) {}

  std::string_view type() const {
    const auto own = json::FindString(own_, "type");
    return own ? *own : json::FindString(runtime_, "type").value_or("");
  }
  bool has_rolling_update() const {
    return json::Find(own_, "rollingUpdate") != nullptr ||
           json::Find(runtime_, "rollingUpdate") != nullptr;
  }
  const Value* Member(std::string_view key) const {
    const Value* own = json::FindPath(own_, {"rollingUpdate", key});
    return own != nullptr ? own : json::FindPath(runtime_, {"rollingUpdate", key});
  }

 private:
  const Value* own_;
  const Value* runtime_;
};

// The limits for so many pods.
RollingUpdate Resolved(const Strategy& strategy, int64_t of_pods) {
  const int64_t pods = std::clamp<int64_t>(of_pods, 0, kMaxPods);
  const Value quarter = Value::OfText("25%");
  const auto limit = [&](std::string_view key, Rounding rounding) {
    const auto written = Scaled(strategy.Member(key), pods, rounding);
    return written ? *written : Scaled(&quarter, pods, rounding).value_or(0);
  };
  RollingUpdate update{limit("maxSurge", Rounding::kUp), limit("maxUnavailable", Rounding::kDown)};
  // kubernetes: pkg/controller/deployment/util ResolveFenceposts, so that rounding cannot stop
  // every update.
  if (update.max_surge == 0 && update.max_unavailable == 0) {
    update.max_unavailable = 1;
    update.raised = true;
  }
  return update;
}

}  // namespace

std::optional<RollingUpdate> RollingUpdateOf(const WorkloadView& view, const PodTemplateView& pod,
                                             int64_t pods_if_unknown) {
  const bool ome = kOmeKinds.Has(view.kind);
  if (view.kind != Kind::kDeployment && !ome) return std::nullopt;
  if (!pod.pod_group || !view.pod_groups[*pod.pod_group].facts().of_deployment) {
    return std::nullopt;
  }
  const Value* own = ome ? json::Find(pod.pod_spec.value, "deploymentStrategy")
                         : json::FindPath(view.object, {"spec", "strategy"});
  const Value* runtime = ome && pod.runtime != nullptr
                             ? json::Find(pod.runtime->pod_spec.value, "deploymentStrategy")
                             : nullptr;
  const Strategy strategy(own, runtime);
  if (strategy.type() == "Recreate") return std::nullopt;

  // OME writes these itself when no rollingUpdate is given (ome:
  // pkg/controller/v1beta1/inferenceservice/reconcilers/ deployment/deployment_reconciler.go);
  // otherwise Kubernetes fills what is missing with 25%.
  if (ome && !strategy.has_rolling_update()) return RollingUpdate{1, 0};
  return Resolved(strategy, pod.pods.value_or(pods_if_unknown));
}

std::optional<RollingUpdate> RollingUpdateOfDeployment(const Value& deployment, int64_t pods) {
  const Strategy strategy(json::FindPath(deployment, {"spec", "strategy"}), nullptr);
  if (strategy.type() == "Recreate") return std::nullopt;
  return Resolved(strategy, pods);
}

bool RolloutBlocked(const WorkloadView& view, const PodTemplateView& pod, int64_t k) {
  if (k <= 1) return false;
  const auto update = RollingUpdateOf(view, pod, k);
  return update && update->max_surge < k && update->max_unavailable < k;
}

}  // namespace mindgate::schemas
