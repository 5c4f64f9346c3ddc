#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/infer_operator/infer_operator.h"
#include "policies/text_entries.h"
#include "schemas/names.h"

namespace mindgate::policies::infer_operator {

// Each role's workload and services
// (component/infer-operator/pkg/controller/{v1/instanceset_controller.go,workload}).

namespace {

using json::Value;
using schemas::PartView;

constexpr int64_t kMaxInstances = 256;
std::string_view WorkloadKind(const PartView& role) {
  return json::FindString(json::Find(*role.value, "workload"), "kind").value_or("");
}

const schemas::PodTemplateView* TemplateOf(const RuleContext& context, const PartView& role) {
  return context.view.TemplateOf(role.index.value_or(0));
}

// The operator copies a role's labels to the InstanceSet and reads the gang label there.
bool IsGang(const RuleContext& context, const PartView& role) {
  const Value* labels =
      role.index ? json::FindPath(*role.value, {"metadata", "labels"}) : context.view.labels.value;
  return json::FindString(labels, kGangLabel) == "true";
}

bool IsEmptyObject(const Value* value) { return !json::IsObject(value) || value->empty(); }

// A label of the selector that the pods will not carry; empty when they carry all.
std::string_view MissingLabel(const Value* selector, const Value* labels) {
  const Value* wanted = json::Find(selector, "matchLabels");
  if (!json::IsObject(wanted)) return {};
  for (const auto& [key, value] : wanted->members()) {
    // The operator adds its own labels to the pods.
    if (key.starts_with("infer.huawei.com/")) continue;
    const Value* carried = json::Find(labels, key);
    if (carried == nullptr || *carried != value) return key;
  }
  return {};
}

void CheckSelector(const PartView& role, const Value& spec, Findings& findings) {
  const Value* selector = json::Find(spec, "selector");
  const std::string path = role.Path("/spec/selector");
  const Value* expressions = json::Find(selector, "matchExpressions");
  if (IsEmptyObject(json::Find(selector, "matchLabels")) &&
      (!json::IsArray(expressions) || expressions->empty())) {
    findings.Violate(path,
                     "the workload of " + Title(role) +
                         " has no selector, which Kubernetes requires: it is never created",
                     "write selector.matchLabels with labels of the pod template");
    return;
  }
  const std::string_view missing =
      MissingLabel(selector, json::FindPath(spec, {"template", "metadata", "labels"}));
  if (missing.empty()) return;
  findings.Violate(json::Child(path + "/matchLabels", missing),
                   "the pod template of " + Title(role) + " does not carry the selector's label " +
                       Quote(missing) + ": Kubernetes refuses the workload",
                   "write the same label in spec.template.metadata.labels");
}

void CheckWorkloadKind(const RuleContext& context, Findings& findings) {
  for (const PartView& role : context.view.parts) {
    const Value* workload = json::Find(*role.value, "workload");
    if (workload != nullptr && !workload->is_object()) continue;
    const auto version = json::FindString(workload, "apiVersion");
    const auto kind = json::FindString(workload, "kind");
    if (version == "apps/v1" && (kind == "Deployment" || kind == "StatefulSet")) continue;
    findings.Violate(
        role.Path("/workload"),
        "the workload of " + Title(role) + " is " +
            Quote(std::string(version.value_or("")) + " " + std::string(kind.value_or(""))) +
            ": infer-operator knows Deployment and StatefulSet of apps/v1 only and creates nothing",
        "write workload: {apiVersion: apps/v1, kind: StatefulSet}");
  }
}

void CheckWorkloadSpec(const RuleContext& context, Findings& findings) {
  for (const PartView& role : context.view.parts) {
    const Value* spec = json::Find(*role.value, "spec");
    if (spec != nullptr && !spec->is_object()) continue;
    if (spec == nullptr) {
      findings.Violate(role.Path("/spec"),
                       Title(role) + " has no spec: infer-operator cannot create a workload",
                       "write the spec of a Deployment or StatefulSet, with selector and template");
      continue;
    }
    const Value* pod_template = json::Find(*spec, "template");
    if (pod_template == nullptr) {
      findings.Violate(
          role.Path("/spec/template"),
          "the workload of " + Title(role) + " has no pod template: Kubernetes refuses it",
          "write template with metadata.labels and spec.containers");
    } else if (pod_template->is_object()) {
      CheckSelector(role, *spec, findings);
    }
  }
}

void CheckRoleReplicas(const RuleContext& context, Findings& findings) {
  for (const PartView& role : context.view.parts) {
    const Value* raw = json::Find(*role.value, "replicas");
    const auto replicas = json::AsInt(raw);
    if (raw == nullptr) {
      findings.Violate(
          role.Path("/replicas"),
          Title(role) + " has no replicas: infer-operator refuses it and creates no instance",
          "write replicas: 1, or the number of instances");
    } else if (replicas && *replicas < 0) {
      findings.Violate(role.Path("/replicas"),
                       "replicas of " + Title(role) + " is " + std::to_string(*replicas) +
                           ": infer-operator refuses it and creates no instance",
                       "write replicas: 0 or more");
    }
  }
}

void CheckRoleReplicasLimit(const RuleContext& context, Findings& findings) {
  for (const PartView& role : context.view.parts) {
    const auto replicas = json::AsInt(json::Find(*role.value, "replicas"));
    if (!replicas || *replicas <= kMaxInstances) continue;
    findings.Violate(role.Path("/replicas"),
                     Title(role) + " has " + std::to_string(*replicas) +
                         " instances, more than the 256 that infer-operator is specified for",
                     "write replicas: 256 or less, or split the role");
  }
}

void CheckWorkloadReplicas(const RuleContext& context, Findings& findings) {
  for (const PartView& role : context.view.parts) {
    const bool gang = IsGang(context, role);
    if (!gang && WorkloadKind(role) != "StatefulSet") continue;
    const Value* spec = json::Find(*role.value, "spec");
    if (!json::IsObject(spec) || json::Find(*spec, "replicas") != nullptr) continue;
    findings.Violate(role.Path("/spec/replicas"),
                     "the workload of " + Title(role) + " has no replicas: infer-operator cannot " +
                         (gang ? "size the gang" : "make the StatefulSet") + " and retries forever",
                     "write the number of pods of one instance, for example replicas: 1");
  }
}

void CheckGangOrder(const RuleContext& context, Findings& findings) {
  for (const PartView& role : context.view.parts) {
    if (!IsGang(context, role) || WorkloadKind(role) != "StatefulSet") continue;
    const Value* spec = json::Find(*role.value, "spec");
    const schemas::PodTemplateView* pod = TemplateOf(context, role);
    const auto pods = json::AsInt(json::Find(spec, "replicas"));
    if (pod == nullptr || pod->SchedulerName().empty() || !IsPlacedByVolcano(context, *pod) ||
        !pods || *pods <= 1 || json::FindString(spec, "podManagementPolicy") == "Parallel") {
      continue;
    }
    findings.Violate(role.Path("/spec/podManagementPolicy"),
                     "the gang of " + Title(role) + " needs all " + std::to_string(*pods) +
                         " pods at once, but an ordered StatefulSet creates the second only when "
                         "the first is ready: none starts",
                     "write podManagementPolicy: Parallel");
  }
}

void CheckScalingPolicy(const RuleContext& context, Findings& findings) {
  for (const PartView& role : context.view.parts) {
    const Value* policy = json::Find(*role.value, "scalingPolicy");
    const Value* type = json::Find(policy, "type");
    if (!json::IsObject(policy) || (type != nullptr && !type->is_string()) ||
        json::AsString(type) == "HPA") {
      continue;
    }
    findings.Violate(role.Path("/scalingPolicy/type"),
                     "scaling policy " + Quote(json::AsString(type).value_or("")) + " of " +
                         Title(role) +
                         " does nothing in released versions of infer-operator, and the role never "
                         "becomes ready",
                     "write type: HPA, or remove scalingPolicy");
  }
}

// What Kubernetes has against the HorizontalPodAutoscaler of this spec, as the end of a sentence.
std::optional<std::string> FaultOfHpa(const Value* spec) {
  if (!json::IsObject(spec)) return "has no spec";
  const Value* raw_max = json::Find(*spec, "maxReplicas");
  if (raw_max == nullptr) return "has no maxReplicas";
  const auto most = json::AsInt(raw_max);
  if (!most) return "has a maxReplicas that is not a whole number";
  if (*most < 1) return "has maxReplicas " + std::to_string(*most);
  const auto least = json::AsInt(json::Find(*spec, "minReplicas"));
  if (!least || *least <= *most) return std::nullopt;
  return "has minReplicas " + std::to_string(*least) + " above maxReplicas " +
         std::to_string(*most);
}

void CheckHpa(const RuleContext& context, Findings& findings) {
  for (const PartView& role : context.view.parts) {
    const Value* policy = json::Find(*role.value, "scalingPolicy");
    if (json::FindString(policy, "type") != "HPA") continue;
    const auto fault = FaultOfHpa(json::Find(*policy, "spec"));
    if (!fault) continue;
    // What it has now, and what the autoscaler would keep.
    const int64_t now =
        std::max(json::AsInt(json::Find(*role.value, "replicas")).value_or(1),
                 json::AsInt(json::FindPath(*policy, {"spec", "minReplicas"})).value_or(1));
    findings.Violate(
        role.Path("/scalingPolicy/spec/maxReplicas"),
        "the HorizontalPodAutoscaler of " + Title(role) + " " + *fault +
            ": infer-operator cannot make it, and the role is never scaled",
        "write maxReplicas: " + std::to_string(std::max<int64_t>(now, 1)) + " or more");
  }
}

void CheckFaultScheduling(const RuleContext& context, Findings& findings) {
  for (const PartView& role : context.view.parts) {
    const schemas::PodTemplateView* pod = TemplateOf(context, role);
    if (pod == nullptr || !pod->RequestsNpus()) continue;
    const auto value = pod->Label(schemas::kFaultScheduling);
    const std::string path = pod->labels.path.Child(schemas::kFaultScheduling);
    if (value == "force" || value == "grace") {
      findings.Violate(path,
                       "fault-scheduling " + std::string(*value) + " of " + Title(role) +
                           " lets Volcano replace pods; infer-operator's own recovery of whole "
                           "instances stays off",
                       "write fault-scheduling: \"external-" + std::string(*value) +
                           "\" for recovery by instance");
    }
  }
}

constexpr Rule kRoleRules[] = {
    {.id = "MG145",
     .name = "infer-workload-kind",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "The workload of a role is a Deployment or a StatefulSet of apps/v1.",
     .why = "The operator has handlers for these two only. For anything else it writes an Event "
            "and creates nothing.",
     .fix = "Write workload: {apiVersion: apps/v1, kind: Deployment} or StatefulSet.",
     .source =
         "mind-cluster: component/infer-operator/pkg/controller/workload/workload_reconciler.go",
     .check = CheckWorkloadKind},
    {.id = "MG146",
     .name = "infer-workload-spec",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "The spec of a role is a complete Deployment or StatefulSet spec, with a selector "
                "that matches its pod template.",
     .why = "The CRD has no schema for it, so every mistake is accepted and appears later, when "
            "the operator decodes the spec or Kubernetes refuses the workload.",
     .fix = "Write selector.matchLabels, and a template with the same labels and its containers.",
     .source = "mind-cluster: "
               "component/infer-operator/pkg/controller/workload/"
               "{deployment,statefulset}_handler.go; Kubernetes API reference, DeploymentSpec",
     .check = CheckWorkloadSpec},
    {.id = "MG147",
     .name = "infer-role-replicas",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "Each role says how many instances it has, 0 or more.",
     .why = "Neither CRD nor operator fill in a default. The InstanceSet's validation fails with "
            "an Event and is not even retried.",
     .fix = "Write replicas beside the role's name; spec.replicas counts pods of one instance.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/v1/instanceset_controller.go",
     .check = CheckRoleReplicas},
    {.id = "MG148",
     .name = "infer-role-replicas-limit",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "A role has at most 256 instances.",
     .why = "The operator is specified for 256 instances of a role. It does not check the number, "
            "so more may work, slowly.",
     .fix = "Split the role.",
     .source = "mind-cluster: component/infer-operator/pkg/common/constant.go (MaxRoleReplicas); "
               "the code does not compare it with replicas, hence a warning",
     .check = CheckRoleReplicasLimit},
    {.id = "MG154",
     .name = "infer-workload-replicas",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "A gang and a StatefulSet say how many pods one instance has.",
     .why = "The operator computes the PodGroup from spec.replicas and refuses to make a "
            "StatefulSet without it. The object looks accepted, and no pod appears.",
     .fix = "Write spec.replicas of the role.",
     .source =
         "mind-cluster: "
         "component/infer-operator/pkg/controller/workload/{statefulset,deployment}_handler.go; "
         "some versions count a missing value as 1, hence a warning",
     .check = CheckWorkloadReplicas},
    {.id = "MG155",
     .name = "infer-gang-order",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "A StatefulSet under infer.huawei.com/gang-schedule starts its pods in parallel.",
     .why = "The PodGroup wants all pods of the instance. An ordered StatefulSet makes the second "
            "pod when the first is ready, and the first waits for the gang: neither ever starts.",
     .fix = "Write podManagementPolicy: Parallel. The field cannot be changed later.",
     .source =
         "mind-cluster: component/infer-operator/pkg/controller/workload/podgroup_manager.go; "
         "Kubernetes documentation, StatefulSet pod management policies",
     .check = CheckGangOrder},
    {.id = "MG156",
     .name = "infer-scaling-policy",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "scalingPolicy.type is HPA.",
     .why = "Released versions create a HorizontalPodAutoscaler for HPA and know no other type: "
            "with another one nothing scales and the status stays not ready.",
     .fix = "Write type: HPA, or remove scalingPolicy.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/scaling/scaling_manager.go; "
               "development versions add types, hence a warning",
     .check = CheckScalingPolicy},
    {.id = "MG157",
     .name = "infer-fault-scheduling",
     .severity = Severity::kInfo,
     .default_mode = Mode::kAudit,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "Roles that should recover by instance use fault-scheduling external-force or "
                "external-grace.",
     .why = "With force or grace Volcano deletes pods by itself, which is fine for instances of "
            "one pod. infer-operator makes an instance again when a pod of its gang is gone, but "
            "its recovery with the order of priorities starts only for the external values, and "
            "for failed processes only while fault-retry-times lasts.",
     .fix = "Write fault-scheduling: \"external-force\" in the labels of the pod template "
            "(mindgate injects it), and fault-retry-times beside it if failed processes count.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/rescheduling; force also "
               "works, hence only recorded",
     .check = CheckFaultScheduling},
    {.id = "MG178",
     .name = "infer-hpa-bounds",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "A scalingPolicy of type HPA has a spec with maxReplicas, not below minReplicas.",
     .why = "The operator passes spec on to a HorizontalPodAutoscaler as it is, and the CRD has no "
            "schema for it. Kubernetes refuses an autoscaler without maxReplicas. The role then "
            "keeps its replicas, with an Event at each attempt.",
     .fix = "Write maxReplicas in scalingPolicy.spec.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/scaling/scaling_manager.go "
               "(reconcileHPA); Kubernetes API reference, HorizontalPodAutoscalerSpec. The "
               "instances run all the same, hence a warning",
     .check = CheckHpa},
};

}  // namespace

Family RoleRules() { return kRoleRules; }

// The label infer.huawei.com/gang-schedule, where infer-operator reads it.

namespace {

constexpr std::string_view kGangEffect =
    ": the pods of an instance start one by one, and are not recovered together";

// The metadata that the operator reads: that of a role, or of the InstanceSet which it became.
struct ReadLabels {
  const Value* value = nullptr;
  std::string path;
};

ReadLabels LabelsOf(const RuleContext& context, const PartView& role) {
  if (context.view.kind == schemas::Kind::kInstanceSet) {
    return {context.view.labels.value, "/metadata/labels"};
  }
  return {json::FindPath(*role.value, {"metadata", "labels"}), role.Path("/metadata/labels")};
}

void CheckGangValue(const Value& value, const PartView& role, std::string path,
                    Findings& findings) {
  const auto text = json::AsString(&value);
  if (!text || *text == "true" || *text == "false") return;
  findings.Violate(std::move(path),
                   std::string(kGangLabel) + " of " + Title(role) + " is " + Quote(*text) +
                       ", and infer-operator knows \"true\" alone" + std::string(kGangEffect),
                   WriteText(kGangLabel, "true", EqualIgnoreCase(*text, "true")));
}

void CheckGangLabel(const RuleContext& context, Findings& findings) {
  for (const PartView& role : context.view.parts) {
    const ReadLabels read = LabelsOf(context, role);
    if (const Value* value = json::Find(read.value, kGangLabel)) {
      CheckGangValue(*value, role, json::Child(read.path, kGangLabel), findings);
      continue;
    }
    const schemas::PodTemplateView* pod = context.view.TemplateOf(role.index.value_or(0));
    if (pod == nullptr || !pod->Label(kGangLabel) || pod->Label(kGangLabel) == "false") continue;
    findings.Violate(pod->labels.path.Child(kGangLabel),
                     std::string(kGangLabel) + " is on the pod template of " + Title(role) +
                         ", where infer-operator does not read it" + std::string(kGangEffect),
                     "move it to " + json::FieldPath(*context.view.object, read.path));
  }
}

constexpr Rule kGangLabelRules[] = {
    {.id = "MG192",
     .name = "infer-gang-label",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "infer.huawei.com/gang-schedule is \"true\" in the metadata of a role.",
     .why = "The operator compares the label of the role's metadata, which it copies to the "
            "InstanceSet, with \"true\". With another value, or on the pod template, it makes no "
            "PodGroup: nothing holds the pods of an instance together when they start or when one "
            "of them fails.",
     .fix = "Write infer.huawei.com/gang-schedule: \"true\" in metadata.labels of the role.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/workload/"
               "statefulset_handler.go, pkg/controller/v1/inferservice_controller.go. Nothing "
               "refuses it: therefore a warning.",
     .check = CheckGangLabel},
};

}  // namespace

Family GangLabelRules() { return kGangLabelRules; }

}  // namespace mindgate::policies::infer_operator
