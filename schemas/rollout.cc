#include "schemas/rollout.h"

#include <algorithm>

#include "base/text.h"
#include "json/value.h"

namespace mindgate::schemas {
namespace {

using json::Value;

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
