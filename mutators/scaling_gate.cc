
#include "mutators/families.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::mutators {
namespace {

using json::Value;
using schemas::PodTemplateView;

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
    schemas::Place gates;
    gates.path = {pod.path, "/spec/schedulingGates"};  // of a Pod
    gates.value = pod.pod_spec.Find("schedulingGates");
    gates.wrong_type = gates.value != nullptr && !gates.value->is_array();
    if (schemas::PlaceOfScalingGate(gates.value)) continue;
    if (const std::string why = WhyOpen(pod); !why.empty()) {
      edits.Withhold(gates.path, why);
      continue;
    }
    edits.Append(gates, kGate,
                 "the scaling rule says when its instance may start; the watcher opens the gate");
  }
}

}  // namespace mindgate::mutators
