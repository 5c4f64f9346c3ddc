#include <array>
#include <vector>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"

namespace mindgate::policies::common {
namespace {

using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

// Where the user, not the kind, decides what happens to a container that exits.
constexpr KindSet kChooseRestartPolicy = schemas::kVolcanoJobs | schemas::kBatchJobs |
                                         schemas::kAibrixKinds | schemas::kAscendJobs |
                                         schemas::kPods;

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
  const std::string_view when =
      group.facts().leader_and_workers ? "under gang scheduling of LWS " : "";
  findings.Violate(found->other.Path(),
                   std::string(label.key) + " is " + Quote(found->other_text) + " here and " +
                       Quote(found->first_text) + " at " +
                       json::FieldPath(*view.object, found->first.Path()) + ": " +
                       std::string(when) + "the scheduler joins them to " + Quote(joined) +
                       ", so " + std::string(label.effect),
                   "write one value of " + std::string(label.key) +
                       " for all pods of the PodGroup, such as " + Quote(found->first_text));
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

void CheckRetryRestartPolicy(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  // Pods of a controller have what its template says; the controller's kind may not let them
  // choose.
  if (view.IsOwnedPod()) return;
  if (IsMindieManager(view)) return;
  for (const PodTemplateView& pod : view.templates) {
    if (!pod.RequestsNpus() || !HasRetries(view, pod)) continue;
    const schemas::RestartPolicyView& policy = pod.restart_policy;
    if (!policy.value || *policy.value == "Never") continue;
    findings.Violate(policy.holder.Child("restartPolicy"),
                     "restartPolicy is " + Quote(*policy.value) +
                         " but fault-retry-times counts failed pods: containers restart in place "
                         "instead, on the same cards, and their pod stays marked as failed",
                     R"(write restartPolicy: "Never", or remove fault-retry-times)");
  }
}

void CheckNeedsFaultScheduling(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  const std::vector<bool> scheduled = GroupsWithLabel(view, schemas::kFaultScheduling);
  const bool may_be_in_runtime = view.LacksRuntime();
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
  using schemas::Component;
  for (const PodGroupView& group : context.view.pod_groups) {
    // Leader and workers share a PodGroup only under a gang provider, which is off by default and
    // which no manifest shows.
    const bool one = !group.facts().leader_and_workers;
    if (!one && context.config.versions.IsBefore(Component::kLeaderWorkerSet, {0, 7})) continue;
    findings.SetAtMost(one ? Mode::kEnforce : Mode::kWarn);
    for (const JoinedLabel& label : kJoinedLabels) {
      CheckConflictOf(context.view, group, label, findings);
    }
  }
}

void CheckPodReschedulingPlacement(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  for (const PodTemplateView& pod : view.templates) {
    if (!pod.pod_group || SeenLabel(view, pod, schemas::kPodRescheduling) != "on") continue;
    if (!view.pod_groups[*pod.pod_group].facts().one_instance) continue;
    findings.Violate(
        SeenLabelPath(view, pod, schemas::kPodRescheduling),
        "pod-rescheduling does not fit a podGroupSize above 1: its pods are one instance and only "
        "work again when all of them restart",
        "remove the label pod-rescheduling here; fault-scheduling alone moves the whole group");
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
                      !view.pod_groups[*pod.pod_group].facts().one_instance;
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

constexpr Rule kRecoveryRules[] = {
    {.id = "MG055",
     .name = "retry-restart-policy",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = kChooseRestartPolicy,
     .summary = "Pods that count fault-retry-times have restartPolicy Never.",
     .why = "The retry budget is spent on pods that failed. With Always or OnFailure the kubelet "
            "restarts the container in place, on the same cards and with the same damaged state, "
            "and the recorded exit code marks the pod as failed for as long as it lives: the next "
            "check deletes a pod that may be healthy by then.",
     .fix = "Write restartPolicy: \"Never\": in spec.replicaSpecs of an AscendJob, in the pod "
            "template elsewhere.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/rescheduling (pod-failed reads "
               "lastState.terminated), docs of resumable training and inference. Some upstream "
               "samples use Always, and they do run: hence a warning. An AscendJob's template "
               "value is overwritten by replicaSpecs.*.restartPolicy "
               "(component/ascend-operator/pkg/controllers/v1/pod.go), so the rule checks that "
               "one. Deployments, StatefulSets, LeaderWorkerSets and OME cannot choose.",
     .check = CheckRetryRestartPolicy},
    {.id = "MG056",
     .name = "fault-labels-need-fault-scheduling",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads - schemas::kOmeRuntimes,
     .summary = "Pods with fault-retry-times, pod-rescheduling or subHealthyStrategy carry "
                "fault-scheduling too.",
     .why = "The scheduler ignores faults of a job without fault-scheduling, whatever its other "
            "labels say. The job hangs or stays short of pods after a fault. Conversely, "
            "fault-scheduling alone covers broken cards and nodes, but not pods that fail on their "
            "own: that needs fault-retry-times.",
     .fix = "Add the label fault-scheduling: \"force\" or \"grace\" beside the others, or remove "
            "them. If rescheduling should be off, write fault-scheduling: \"off\".",
     .source =
         "mind-cluster: component/ascend-for-volcano/internal/rescheduling/reschedule.go. mindgate "
         "injects the label by default; this finding means that injection is off here.",
     .check = CheckNeedsFaultScheduling},
    {.id = "MG057",
     .name = "conflicting-fault-labels",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "All pods of one PodGroup, and the metadata it copies, carry the same value of "
                "each fault label.",
     .why = "The scheduler merges the labels of a PodGroup and all its pods. Values that differ "
            "are joined with a bar (\"grace|force\"), and the joined text matches nothing: "
            "rescheduling is off and retries are 0, and no log of the job says so. Values that "
            "differ only in case count as one, and a missing label conflicts with nothing.",
     .fix = "Write one value, in one place or in all of them.",
     .source =
         "mind-cluster: component/ascend-for-volcano/plugin/job.go, getJobLabelFromVcJob. An "
         "AscendJob's and a Volcano Job's metadata become labels of the PodGroup. Leader and "
         "workers of a LeaderWorkerSet are only warned of: they share a PodGroup under a gang "
         "provider alone (lws: charts/lws/values.yaml has none).",
     .check = CheckConflictingLabels},
    {.id = "MG058",
     .name = "pod-rescheduling-placement",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAibrixKinds,
     .summary = "pod-rescheduling is not set on AIBrix roles with a podGroupSize above 1.",
     .why = "Their pods form one instance: the ranks of a PodSet cannot continue without the "
            "missing one. The scheduler, asked to move a single pod, tries exactly that for up to "
            "twelve sessions before it widens the scope.",
     .fix =
         "Remove the label there. Set it on roles with podGroupSize 1, whose pods are independent.",
     .source = "mind-cluster: docs of vLLM best practice, "
               "component/ascend-for-volcano/internal/rescheduling/job.go. aibrix: PodSet "
               "ReplaceUnhealthy. LeaderWorkerSets are another matter: without gang scheduling in "
               "their controller (lws: charts/lws/values.yaml leaves it empty) all leaders share "
               "one PodGroup, so that without the label one fault deletes the leaders of all "
               "groups; with it only the faulty pod goes, and LWS recreates its group.",
     .check = CheckPodReschedulingPlacement},
    {.id = "MG060",
     .name = "recover-policy-without-pod-rescheduling",
     .severity = Severity::kInfo,
     .default_mode = Mode::kAudit,
     .kinds = schemas::kWorkloads,
     .summary = "huawei.com/recover_policy_path is used together with pod-rescheduling: \"on\".",
     .why = "The code limits deletion to the faulty pod by the annotation alone, but it decides by "
            "pod-rescheduling when that deletion counts as finished, so recovery may wait for pods "
            "that were never meant to be deleted.",
     .fix = "Add the label pod-rescheduling: \"on\".",
     .source = "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go; the "
               "documents name both together. Recorded only: single-pod deletion works either way.",
     .check = CheckRecoverPolicyAlone},
    {.id = "MG064",
     .name = "external-fault-scheduling",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kScheduled - schemas::kInferOperatorKinds,
     .summary = "external-force and external-grace are used only for what infer-operator runs.",
     .why = "With these values the scheduler deletes nothing: it only marks the faulty pod with "
            "huawei.com/pod-status and leaves the rest to infer-operator, which handles no other "
            "kind. The pod stays on its broken card.",
     .fix = "Write force or grace.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/rescheduling/reschedule.go and "
               "component/infer-operator/pkg/controller/rescheduling. Your own controller may act "
               "on the mark: hence a warning.",
     .check = CheckExternalScheduling},
    {.id = "MG069",
     .name = "redundant-pod-rescheduling",
     .severity = Severity::kInfo,
     .default_mode = Mode::kAudit,
     .kinds = schemas::kAscendJobs,
     .summary = "MindIE controllers and coordinators do not need pod-rescheduling.",
     .why = "The scheduler limits them to pod level by their app label and never escalates, "
            "whatever other labels say. The documents describe a fallback to the whole job, but "
            "the code has none.",
     .fix = "Remove the label, or keep it as a note.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go, "
               "setReScheduleLimit. Recorded only: the label is harmless.",
     .check = CheckRedundantPodRescheduling},
};

}  // namespace

Family RecoveryRules() { return kRecoveryRules; }

namespace {

using json::Value;

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
