#include "policies/families.h"
#include "schemas/names.h"

namespace mindgate::policies::common {
namespace {

using json::Value;
using schemas::PodTemplateView;
using schemas::WorkloadView;

// Kubernetes' default for pods that do not say.
constexpr int64_t kDefaultGracePeriod = 30;

// The value of fault-scheduling that all of a PodGroup agrees on; nothing when it does not.
std::optional<std::string_view> FaultScheduling(const WorkloadView& view,
                                                const schemas::PodGroupView& group) {
  std::optional<std::string_view> agreed;
  for (const schemas::LabelOccurrence& occurrence :
       view.GroupLabels(group, schemas::kFaultScheduling)) {
    const auto value = json::AsString(occurrence.value);
    if (!value || (agreed && *agreed != *value)) return std::nullopt;
    agreed = value;
  }
  return agreed;
}

void CheckGracePeriod(const RuleContext& context, Findings& findings) {
  const int64_t timeout = context.config.grace_over_time.count();
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.RequestsNpus() || !pod.pod_group || !pod.has_pod_spec) continue;
    const auto& group = context.view.pod_groups[*pod.pod_group];
    if (FaultScheduling(context.view, group) != "grace") continue;
    const Value* written = pod.pod_spec.Find("terminationGracePeriodSeconds");
    if (written != nullptr && !written->is_integer()) continue;
    const int64_t period =
        written == nullptr ? kDefaultGracePeriod : json::AsInt(written).value_or(INT64_MAX);
    // A period equal to the timeout ends with it, as in the vendor's own samples (900 and 900).
    if (period > 0 && period <= timeout) continue;
    const std::string path = pod.pod_spec.path.Child("terminationGracePeriodSeconds");
    const std::string shown = written == nullptr ? "unset, so 30" : json::Dump(*written);
    const std::string fix = "write more than 0 and at most " + std::to_string(timeout) +
                            " seconds, or fault-scheduling: force";
    if (period <= 0) {
      findings.Violate(path,
                       "terminationGracePeriodSeconds is " + shown +
                           ", so pods are killed at once although fault-scheduling is grace",
                       fix);
    } else {
      findings.Violate(path,
                       "terminationGracePeriodSeconds is " + shown + ", more than the " +
                           std::to_string(timeout) +
                           " seconds after which fault-scheduling: grace kills the pods",
                       fix);
    }
  }
}

constexpr Rule kGracePeriodRules[] = {
    {.id = "MG029",
     .name = "grace-period",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kPodMakers,
     .summary = "With fault-scheduling grace, terminationGracePeriodSeconds is more than 0 and at "
                "most the scheduler's grace-over-time.",
     .why = "The scheduler evicts the pods with their own grace period and kills what is left "
            "after grace-over-time, counted from the detection of the fault (900 s unless "
            "configured; values outside 2 to 3600 silently mean 900). A longer period is cut "
            "short, and with 0 there is no grace period.",
     .fix = "Write a period in which the process can save its state and that is not above "
            "grace-over-time.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/rescheduling. The documents "
               "want less than grace-over-time, for AscendJobs; the plugin does the same with "
               "every kind, and a period equal to it is not cut short.",
     .check = CheckGracePeriod},
};

}  // namespace

Family GracePeriodRules() { return kGracePeriodRules; }

}  // namespace mindgate::policies::common
