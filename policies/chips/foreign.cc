#include "schemas/foreign.h"

#include <string>

#include "base/text.h"
#include "policies/families.h"
#include "policies/places.h"
#include "schemas/names.h"

// NPUs that others than MindCluster hand out: one line an object, and no other rule reports them.
namespace mindgate::policies::chips {
namespace {

using schemas::ContainerView;
using schemas::ForeignSign;
using schemas::NpuRequest;
using schemas::PodTemplateView;
using Where = ForeignSign::Where;

// The request that shows the sign; null pointer when none of the template does.
const NpuRequest* RequestWith(const PodTemplateView& pod, const ForeignSign& sign) {
  for (const ContainerView& container : pod.containers) {
    for (const NpuRequest& npu : container.npus) {
      if (npu.count != int64_t{0} && schemas::SignOfResource(npu.resource) == &sign) return &npu;
    }
  }
  return nullptr;
}

// Where the sign stands, and how people call it.
struct Shown {
  std::string path;
  std::string what;
};

Shown Show(const PodTemplateView& pod, const ForeignSign& sign) {
  switch (sign.where) {
    case Where::kScheduler:
      return {pod.pod_spec.path.Child("schedulerName"), "scheduler " + Quote(sign.text)};
    case Where::kAnnotation:
      return {pod.annotations.path.Child(sign.text), "annotation " + std::string(sign.text)};
    case Where::kClaim:
      return {pod.pod_spec.path.Child("resourceClaims"), "a resource claim for NPUs"};
    case Where::kAmount:
    case Where::kResource:
      break;
  }
  const NpuRequest* npu = RequestWith(pod, sign);
  return npu == nullptr ? Shown{std::string(pod.path), std::string(sign.text)}
                        : Shown{npu->Path(), std::string(npu->resource)};
}

// The first template of the object that is another product's.
const PodTemplateView* FirstForeign(const RuleContext& context) {
  if (context.view.controller_injected) return nullptr;
  for (const PodTemplateView& pod : context.view.templates) {
    if (pod.foreign != nullptr && !pod.foreign->owner.empty()) return &pod;
  }
  return nullptr;
}

constexpr std::string_view kLeftAlone =
    ": mindgate injects nothing into these pods and does not count their chips";

void CheckForeignPods(const RuleContext& context, Findings& findings) {
  const PodTemplateView* pod = FirstForeign(context);
  if (pod == nullptr || pod->foreign->where == Where::kResource) return;
  const Shown shown = Show(*pod, *pod->foreign);
  findings.Violate(shown.path,
                   shown.what + " belongs to " + std::string(pod->foreign->owner) +
                       ", not to MindCluster" + std::string(kLeftAlone),
                   "leave it so where " + std::string(pod->foreign->owner) +
                       " serves these NPUs; else request whole cards of MindCluster alone");
}

void CheckForeignNames(const RuleContext& context, Findings& findings) {
  const PodTemplateView* pod = FirstForeign(context);
  if (pod == nullptr || pod->foreign->where != Where::kResource) return;
  const Shown shown = Show(*pod, *pod->foreign);
  findings.Violate(shown.path,
                   shown.what + " is a name of " + std::string(pod->foreign->owner) +
                       ", and MindCluster serves no NPUs under it" + std::string(kLeftAlone),
                   "write " + std::string(schemas::kResourcePrefix) +
                       std::string(pod->foreign->ours) +
                       " where MindCluster serves the NPUs; else list the name under npuResources "
                       "in mindgate.yaml");
}

constexpr Rule kForeignRules[] = {
    {.id = "MG182",
     .name = "foreign-npus",
     .severity = Severity::kInfo,
     .default_mode = schemas::Mode::kAudit,
     .kinds = schemas::kWorkloads,
     .summary = "NPUs are handed out by MindCluster.",
     .why = "HAMi, the virtual NPUs of Volcano that build on it, and DRA drivers share out the "
            "same chips in ways of their own: they choose the scheduler, and the annotation that "
            "ASCEND_VISIBLE_DEVICES reads under MindCluster holds something else there. What "
            "mindgate writes would break such pods, and its rules about chips are not true of "
            "them. It leaves them alone, and reports that once.",
     .fix = "Leave it so where that product serves the NPUs.",
     .source = "HAMi: charts/hami/templates/scheduler/device-configmap.yaml; volcano: "
               "pkg/scheduler/api/devices/ascend/hami, docs/user-guide/how_to_use_vnpu.md; "
               "mind-cluster: component/ascend-dynamic-resource-allocation. Such pods work: "
               "therefore it is only recorded.",
     .check = CheckForeignPods},
    {.id = "MG183",
     .name = "foreign-npu-resource",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "NPUs are requested under names that MindCluster serves.",
     .why = "HAMi and Huawei Cloud's CCE name resources after products: huawei.com/Ascend910B3, "
            "huawei.com/ascend-1980. Ascend Device Plugin of MindCluster offers the same chips as "
            "huawei.com/Ascend910, so pods with such a name stay Pending on its nodes. Where "
            "another product serves it, mindgate leaves the pods alone.",
     .fix = "Write the name of MindCluster, or list the name under npuResources in mindgate.yaml "
            "with the one who serves it.",
     .source = "HAMi: charts/hami/templates/scheduler/device-configmap.yaml; documents of Huawei "
               "Cloud CCE (AI Suite for Ascend NPU); mind-cluster: component/ascend-common/api. "
               "Other products may serve it: therefore a warning.",
     .check = CheckForeignNames},
};

}  // namespace

Family ForeignRules() { return kForeignRules; }

}  // namespace mindgate::policies::chips
