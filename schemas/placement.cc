#include "schemas/placement.h"

#include <array>

#include "base/text.h"
#include "schemas/names.h"

namespace mindgate::schemas {

bool IsInjectionOff(const WorkloadView& view, const AdmissionRequest& request, const Config& config,
                    std::string_view mutator) {
  if (config.disabled_mutators.contains(mutator)) return true;
  const auto own = view.Label(kInject);
  if (own == "disabled" || own == "enabled") return own == "disabled";
  const auto label = request.namespace_labels.find(kInject);
  if (label != request.namespace_labels.end() && label->second == "disabled") return true;
  const auto* override_ =
      config.OverrideFor(view.ns.empty() ? std::string_view(request.ns) : view.ns);
  return override_ != nullptr && !override_->inject;
}

std::optional<std::string_view> MeantScheduler(std::string_view scheduler, const Config& config) {
  const std::array<std::string_view, 2> known = {config.scheduler, kVolcanoScheduler};
  for (std::string_view right : known) {
    if (scheduler == right || scheduler.starts_with(right)) return std::nullopt;
  }
  return NearestOf(scheduler, known);
}

bool IsLeftToDefault(const WorkloadView& view, const PodTemplateView& pod,
                     const AdmissionRequest& request, const Config& config) {
  if (!IsDefaultScheduler(view.info(), pod.SchedulerName()) || !pod.has_pod_spec) return false;
  if (pod.pod_group && view.pod_groups[*pod.pod_group].owner == PodGroupOwner::kAscendJob) {
    return false;
  }
  return IsInjectionOff(view, request, config, "scheduler-name");
}

bool IsPlacedByVolcano(const WorkloadView& view, const PodTemplateView& pod,
                       const AdmissionRequest& request, const Config& config) {
  const std::string_view scheduler = pod.SchedulerName();
  if (IsDefaultScheduler(view.info(), scheduler)) {
    return !IsLeftToDefault(view, pod, request, config);
  }
  return scheduler == kVolcanoScheduler || scheduler == config.scheduler ||
         MeantScheduler(scheduler, config).has_value();
}

}  // namespace mindgate::schemas
