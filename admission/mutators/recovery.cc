#include <algorithm>
#include <array>

#include "admission/mutators/families.h"
#include "base/text.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::mutators {

using schemas::FieldView;
using schemas::PodTemplateView;

void RecoverPolicy(const MutationContext& context, Edits& edits) {
  const schemas::WorkloadView& view = context.view;
  if (schemas::kOmeKinds.Has(view.kind)) return;
  for (const schemas::PodGroupView& group : view.pod_groups) {
    // The plugin takes the annotation from one arbitrary pod: all of the group get it, or none.
    const bool injected =
        std::any_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
          const FieldView& labels = view.templates[index].labels;
          return json::AsString(edits.Pending(labels, schemas::kPodRescheduling)) == "on";
        });
    if (!injected) continue;
    for (size_t index : group.templates) {
      const PodTemplateView& pod = view.templates[index];
      if (!IsInjected(context, pod) || !MayEdit(context, pod)) continue;
      if (edits.Annotation(pod, schemas::kRecoverPolicyPath)) continue;
      edits.Set(
          pod.annotations, schemas::kRecoverPolicyPath, "pod",
          "keeps recovery at pod level: without it a second fault deletes the whole PodGroup");
    }
  }
}

void RestartPolicy(const MutationContext& context, Edits& edits) {
  if (!schemas::kAibrixKinds.Has(context.view.kind)) return;
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.RequestsNpus() || pod.pod_spec.value == nullptr || !MayEdit(context, pod)) continue;
    if (!UsesFaultScheduling(context, edits, pod)) continue;
    const auto retries = edits.Label(pod, schemas::kFaultRetryTimes);
    if (!retries || ParseGoInt(*retries).value_or(0) <= 0) continue;
    if (pod.pod_spec.Find("restartPolicy") != nullptr) continue;
    edits.Set(
        pod.pod_spec, "restartPolicy", "Never",
        "retries count failed pods, and a container that restarts in place never fails its pod");
  }
}

// Where a fault may be limited to the faulty pod.

namespace {

using json::Value;
using schemas::KindSet;
using schemas::PodGroupOwner;
using schemas::PodGroupView;
using schemas::WorkloadView;

// Kinds of Kubernetes itself and of mindgate.yaml, and pods whose controller we do not handle.
constexpr KindSet kPlainKinds =
    schemas::kPlainSets | schemas::kBatchJobs | schemas::kPods | KindSet{schemas::Kind::kSite};

// "rank-table", "global_ranktable".
bool NamesRankTable(std::string_view text) {
  std::string word;
  for (char c : ToLower(text.substr(0, 256))) {
    if (c != '-' && c != '_' && c != '.') word += c;
  }
  return word.find("ranktable") != std::string::npos;
}

// A volume with the addresses of all ranks: the job's ConfigMap rings-config-*, or a shared file.
bool HoldsRankTable(const Value& volume) {
  const auto map = json::FindString(json::Find(volume, "configMap"), "name");
  const auto path = json::FindString(json::Find(volume, "hostPath"), "path");
  return (map && map->starts_with(schemas::kRankTablePrefix)) || (path && NamesRankTable(*path)) ||
         NamesRankTable(json::FindString(volume, "name").value_or(""));
}

bool SharesRankTable(const WorkloadView& view, const PodTemplateView& pod) {
  if (pod.Label(schemas::kDeployName) || view.Label(schemas::kDeployName)) return true;
  const Value* volumes = pod.pod_spec.Find("volumes");
  return json::IsArray(volumes) && std::any_of(volumes->begin(), volumes->end(), HoldsRankTable);
}

}  // namespace

bool IsPlain(const WorkloadView& view) { return kPlainKinds.Has(view.kind); }

bool HasIndependentPods(const WorkloadView& view, const PodGroupView& group) {
  if (schemas::kOmeKinds.Has(view.kind)) {
    // The plugin assumes the pod limit for OME anyway; the documents ask for the label in both
    // shapes.
    return !view.templates[group.templates.front()].router;
  }
  if (group.owner == PodGroupOwner::kRoleSet) return true;
  if (group.owner == PodGroupOwner::kSiteGang) return false;
  // The leaders of a LeaderWorkerSet share one PodGroup unless gang scheduling is configured in its
  // controller, and it recreates the group of a deleted pod by itself.
  if (!IsPlain(view) && !schemas::kLeaderWorkerSets.Has(view.kind)) return false;
  return std::none_of(group.templates.begin(), group.templates.end(),
                      [&](size_t index) { return SharesRankTable(view, view.templates[index]); });
}

namespace {

constexpr json::Member kNameOfGate = {"name", Value::OfText(schemas::kScalingGate)};
constexpr Value kGate = Value::OfMembers({&kNameOfGate, 1});

// Why a pod under a rule gets no gate; empty when it gets one.
std::string WhyOpen(const PodTemplateView& pod) {
  for (std::string_view key : {schemas::kJobId, schemas::kGroupName}) {
    if (pod.Label(key).value_or("").empty()) {
      return "the pod has no label " + std::string(key) +
             ", so the watcher could not know when to let it start";
    }
  }
  if (json::Find(*pod.pod_spec.value, "nodeName") != nullptr) {
    return "spec.nodeName is set, and the API server then refuses scheduling gates";
  }
  return "";
}

}  // namespace

bool IsGated(const MutationContext& context, const Edits& edits, const PodTemplateView& pod) {
  return context.config.elastic_scaling.mode == schemas::EnforcementMode::kEnforce &&
         edits.Label(pod, schemas::kScalingRule).has_value();
}

// Gates can be added to pods at their creation only, and to templates not without a rollout: so it
// is the pods that get them.
void ScalingGate(const MutationContext& context, Edits& edits) {
  if (!schemas::kPods.Has(context.view.kind) ||
      context.request.operation != schemas::Operation::kCreate) {
    return;
  }
  for (const PodTemplateView& pod : context.view.templates) {
    if (!IsGated(context, edits, pod) || pod.pod_spec.value == nullptr) continue;
    schemas::FieldView gates;
    gates.path = {pod.path, "/spec/schedulingGates"};  // of a Pod
    gates.value = pod.pod_spec.Find("schedulingGates");
    gates.wrong_type = gates.value != nullptr && !gates.value->is_array();
    if (schemas::IndexOfScalingGate(gates.value)) continue;
    if (const std::string why = WhyOpen(pod); !why.empty()) {
      edits.Withhold(gates.path, why);
      continue;
    }
    edits.Append(gates, kGate,
                 "the scaling rule says when its instance may start; the watcher opens the gate");
  }
}

}  // namespace mindgate::mutators
