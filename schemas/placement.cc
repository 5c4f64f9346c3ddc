#include "schemas/placement.h"

#include <array>

#include "base/text.h"
#include "schemas/names.h"

namespace mindgate::schemas {

std::string_view WhyInjectionIsDeclined(const WorkloadView& view, const AdmissionRequest& request,
                                        const Config& config, bool opted_in) {
  if (view.Label(kInject) == "disabled") return "labelled mindgate.io/inject: disabled";
  if (opted_in) return {};
  const auto label = request.namespace_labels.find(kInject);
  if (label != request.namespace_labels.end() && label->second == "disabled") {
    return "its namespace is labelled mindgate.io/inject: disabled";
  }
  const auto* override_ =
      config.OverrideFor(view.ns.empty() ? std::string_view(request.ns) : view.ns);
  if (override_ != nullptr && !override_->inject) {
    return "injection is disabled for its namespace in mindgate.yaml";
  }
  return {};
}

bool IsInjectionOff(const WorkloadView& view, const AdmissionRequest& request, const Config& config,
                    std::string_view mutator) {
  const bool opted_in = view.Label(kInject) == "enabled";
  return config.disabled_mutators.contains(mutator) ||
         !WhyInjectionIsDeclined(view, request, config, opted_in).empty();
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
