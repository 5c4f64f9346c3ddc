#include <array>
#include <vector>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/fault_checks.h"
#include "policies/places.h"
#include "schemas/names.h"

namespace mindgate::policies {
namespace {

using schemas::Kind;
using schemas::PodGroupOwner;
using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

struct RestartPolicy {
  schemas::Pointer holder;
  std::string_view value;
};

// What the pods of the template get. The operator overwrites a template's own by that of the
// replica spec.
RestartPolicy RestartPolicyOf(const WorkloadView& view, const PodTemplateView& pod) {
  if (view.kind == Kind::kAscendJob) {
    const std::string_view replica_spec = pod.path.substr(0, pod.path.rfind('/'));
    const auto value = json::FindString(json::Resolve(*view.object, replica_spec), "restartPolicy");
    return {replica_spec, value.value_or("Never")};
  }
  const auto value = pod.pod_spec.Text("restartPolicy");
  return {pod.pod_spec.path, value.value_or("Always")};
}

bool HasRetries(const WorkloadView& view, const PodTemplateView& pod) {
  const auto retries = SeenLabel(view, pod, schemas::kFaultRetryTimes);
  return retries && ParseGoInt(*retries).value_or(0) > 0;
}

// The label is there, but is not text: wrong-type says so.
bool IsOfWrongType(const WorkloadView& view, const PodTemplateView& pod, std::string_view key) {
  if (pod.labels.Find(key) != nullptr) return true;
  if (!pod.pod_group) return false;
  const auto& labels = view.pod_groups[*pod.pod_group].labels;
  return labels && labels->Find(key) != nullptr;
}

struct JoinedLabel {
  std::string_view key;
  std::string_view effect;  // of a value that matches nothing
};

constexpr std::array<JoinedLabel, 5> kJoinedLabels = {{
    {schemas::kFaultScheduling, "nothing is rescheduled on a fault"},
    {schemas::kPodRescheduling, "it counts as off"},
    {schemas::kFaultRetryTimes, "it counts as 0 retries"},
    {schemas::kSubHealthyStrategy, "it counts as ignore"},
    {schemas::kProcessRecover, "it counts as off"},
}};

void CheckConflictOf(const WorkloadView& view, const PodGroupView& group, const JoinedLabel& label,
                     Findings& findings) {
  const auto found = FindDisagreement(view.GroupLabels(group, label.key), EqualIgnoreCase);
  if (!found) return;
  const std::string joined = std::string(found->first_text) + "|" + std::string(found->other_text);
  findings.Violate(
      found->other.Path(),
      std::string(label.key) + " is " + Quote(found->other_text) + " here and " +
          Quote(found->first_text) + " at " + json::FieldPath(*view.object, found->first.Path()) +
          ": the scheduler joins them to " + Quote(joined) + ", so " + std::string(label.effect),
      "write one value of " + std::string(label.key) + " for all pods of the PodGroup, such as " +
          Quote(found->first_text));
}

// The annotation as the plugin sees it: the PodGroup's own wins over that of the pods.
std::optional<std::string_view> SeenAnnotation(const WorkloadView& view, const PodTemplateView& pod,
                                               std::string_view key) {
  if (pod.pod_group) {
    const auto& annotations = view.pod_groups[*pod.pod_group].annotations;
    if (annotations) {
      if (const auto value = annotations->Text(key)) return value;
    }
  }
  return pod.Annotation(key);
}

// For each PodGroup of the view, whether the scheduler finds the label in it.
std::vector<bool> GroupsWithLabel(const WorkloadView& view, std::string_view key) {
  std::vector<bool> with;
  for (const PodGroupView& group : view.pod_groups) {
    const auto places = view.GroupLabels(group, key);
    with.push_back(places.begin() != places.end());
  }
  return with;
}

}  // namespace

void CheckRetryRestartPolicy(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  // Pods of a controller have what its template says; the controller's kind may not let them
  // choose.
  if (view.kind == Kind::kPod && view.controller) return;
  if (IsMindieManager(view)) return;
  for (const PodTemplateView& pod : view.templates) {
    if (!pod.RequestsNpus() || !HasRetries(view, pod)) continue;
    const RestartPolicy policy = RestartPolicyOf(view, pod);
    if (policy.value == "Never") continue;
    // The API server refuses a batch/v1 Job without one; there is no default to speak of.
    const bool missing = pod.pod_spec.Find("restartPolicy") == nullptr;
    if (missing && schemas::kBatchJobs.Has(view.kind)) continue;
    // The operator itself gives such pods Never and counts by exit code.
    if (view.kind == Kind::kAscendJob && policy.value == "ExitCode") continue;
    findings.Violate(policy.holder.Child("restartPolicy"),
                     "restartPolicy is " + Quote(policy.value) +
                         " but fault-retry-times counts failed pods: containers restart in place "
                         "instead, on the same cards, and their pod stays marked as failed",
                     R"(write restartPolicy: "Never", or remove fault-retry-times)");
  }
}

void CheckNeedsFaultScheduling(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  const std::vector<bool> scheduled = GroupsWithLabel(view, schemas::kFaultScheduling);
  const bool may_be_in_runtime = LacksRuntime(view);
  for (const PodTemplateView& pod : view.templates) {
    if (pod.router || SeenLabel(view, pod, schemas::kFaultScheduling)) continue;
    if (IsOfWrongType(view, pod, schemas::kFaultScheduling)) continue;
    // The scheduler merges the labels of all pods of a group.
    if (pod.pod_group && scheduled[*pod.pod_group]) continue;
    if (!may_be_in_runtime && !pod.RequestsNpus()) continue;
    for (std::string_view key :
         {schemas::kFaultRetryTimes, schemas::kPodRescheduling, schemas::kSubHealthyStrategy}) {
      const auto value = SeenLabel(view, pod, key);
      const bool inert = !value || *value == "0" || *value == "off" || *value == "ignore";
      if (inert) continue;
      if (may_be_in_runtime) {
        findings.Skip(
            "needs the runtime of the service, which is not known here: fault-scheduling may be "
            "set there");
        return;
      }
      findings.Violate(SeenLabelPath(view, pod, key),
                       std::string(key) +
                           " has no effect without fault-scheduling: the pods are rescheduled "
                           "neither when they fail nor when a card breaks",
                       schemas::kInferOperatorKinds.Has(view.kind)
                           ? R"(add the label fault-scheduling: "external-force" beside it)"
                           : R"(add the label fault-scheduling: "force" (or "grace") beside it)");
    }
  }
}

void CheckConflictingLabels(const RuleContext& context, Findings& findings) {
  for (const PodGroupView& group : context.view.pod_groups) {
    for (const JoinedLabel& label : kJoinedLabels) {
      CheckConflictOf(context.view, group, label, findings);
    }
  }
}

void CheckPodReschedulingPlacement(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  for (const PodTemplateView& pod : view.templates) {
    if (!pod.pod_group || SeenLabel(view, pod, schemas::kPodRescheduling) != "on") continue;
    if (view.pod_groups[*pod.pod_group].owner != PodGroupOwner::kPodSet) continue;
    findings.Violate(SeenLabelPath(view, pod, schemas::kPodRescheduling),
                     "pod-rescheduling does not fit a podGroupSize above 1: its pods are one "
                     "instance and only work again when all of them restart",
                     "remove the label pod-rescheduling here; fault-scheduling alone moves the "
                     "whole group");
  }
}

void CheckRecoverPolicyAlone(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  const std::vector<bool> scheduled = GroupsWithLabel(view, schemas::kFaultScheduling);
  const std::vector<bool> limited = GroupsWithLabel(view, schemas::kPodRescheduling);
  for (const PodTemplateView& pod : view.templates) {
    if (!pod.RequestsNpus()) continue;
    if (SeenAnnotation(view, pod, schemas::kRecoverPolicyPath) != "pod") continue;
    if (SeenLabel(view, pod, schemas::kPodRescheduling) == "on") continue;
    const bool fits = pod.pod_group && scheduled[*pod.pod_group] && !limited[*pod.pod_group] &&
                      view.pod_groups[*pod.pod_group].owner != PodGroupOwner::kPodSet;
    findings.Violate(AnnotationPath(view, pod, schemas::kRecoverPolicyPath),
                     "huawei.com/recover_policy_path: \"pod\" is set without pod-rescheduling: "
                     "\"on\", which the documents require with it",
                     fits ? R"(add the label pod-rescheduling: "on")"
                          : "remove the annotation: these pods do not restart one by one");
  }
}

void CheckExternalScheduling(const RuleContext& context, Findings& findings) {
  // What infer-operator makes carries the value of its role.
  if (context.view.controller_injected) return;
  for (const TextEntry& entry : ReachingLabels(context.view, schemas::kFaultScheduling)) {
    if (entry.value != "external-force" && entry.value != "external-grace") continue;
    const std::string plain(entry.value.substr(std::string_view("external-").size()));
    findings.Violate(
        entry.Path(),
        "fault-scheduling is " + Quote(entry.value) +
            ", but only infer-operator acts on it: a faulty pod here is marked but never deleted",
        "write fault-scheduling: " + Quote(plain));
  }
}

void CheckRedundantPodRescheduling(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  if (!IsMindieManager(view)) return;
  for (const TextEntry& entry : ReachingLabels(view, schemas::kPodRescheduling)) {
    findings.Violate(entry.Path(),
                     "pod-rescheduling changes nothing for " + Quote(*view.Label(schemas::kApp)) +
                         ": the scheduler always deletes only its faulty pod",
                     "remove the label, or leave it as a note to readers");
  }
}

}  // namespace mindgate::policies
