#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/infer_operator/infer_operator.h"

// The label infer.huawei.com/gang-schedule, where infer-operator reads it.
namespace mindgate::policies::infer_operator {
namespace {

using json::Value;
using schemas::PartView;

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
