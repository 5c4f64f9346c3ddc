#include "policies/ascendjob/ascendjob.h"

#include <array>

#include "schemas/names.h"

namespace mindgate::policies::ascendjob {
namespace {

using json::Value;
using schemas::PodTemplateView;
using schemas::WorkloadView;

constexpr std::array<FrameworkTypes, 3> kFrameworks = {{
    {"mindspore", "Scheduler"},
    {"pytorch", "Master"},
    {"tensorflow", "Chief"},
}};
}  // namespace

std::span<const FrameworkTypes> Frameworks() { return kFrameworks; }

const FrameworkTypes* FrameworkOf(const WorkloadView& view) {
  const auto label = view.Label(schemas::kFramework);
  for (const FrameworkTypes& types : kFrameworks) {
    if (types.framework == label) return &types;
  }
  return nullptr;
}

const Value* ReplicaSpecs(const WorkloadView& view) {
  const Value* specs = json::FindPath(*view.object, {"spec", "replicaSpecs"});
  return json::IsObject(specs) ? specs : nullptr;
}

const Value* SchedulingPolicy(const WorkloadView& view) {
  return json::FindPath(*view.object, {"spec", "runPolicy", "schedulingPolicy"});
}

const Value* ReplicaSpecOf(const WorkloadView& view, const PodTemplateView& pod) {
  return json::Find(ReplicaSpecs(view), pod.name);
}

std::string_view ReplicaSpecPath(const PodTemplateView& pod) {
  std::string_view path = pod.path;
  path.remove_suffix(std::string_view("/template").size());
  return path;
}

std::optional<int64_t> TotalReplicas(const WorkloadView& view) {
  if (view.templates.empty()) return std::nullopt;
  int64_t total = 0;
  for (const PodTemplateView& pod : view.templates) {
    const Value* replicas = json::Find(ReplicaSpecOf(view, pod), "replicas");
    const int64_t count = replicas == nullptr ? 1 : json::AsInt(replicas).value_or(-1);
    if (count < 0 || __builtin_add_overflow(total, count, &total)) return std::nullopt;
  }
  return total;
}

}  // namespace mindgate::policies::ascendjob
