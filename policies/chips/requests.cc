#include <algorithm>
#include <string>

#include "base/text.h"
#include "policies/chips/chips.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/children.h"
#include "schemas/names.h"
#include "schemas/npu.h"
#include "schemas/workload.h"

namespace mindgate::policies::chips {

// NPUs that others than MindCluster hand out: one line an object, and no other rule reports them.

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

constexpr std::string_view kUntouched =
    ": mindgate injects nothing into these pods and does not count their chips";

void CheckForeignPods(const RuleContext& context, Findings& findings) {
  const PodTemplateView* pod = FirstForeign(context);
  if (pod == nullptr || pod->foreign->where == Where::kResource) return;
  const Shown shown = Show(*pod, *pod->foreign);
  findings.Violate(shown.path,
                   shown.what + " belongs to " + std::string(pod->foreign->owner) +
                       ", not to MindCluster" + std::string(kUntouched),
                   "leave it so where " + std::string(pod->foreign->owner) +
                       " serves these NPUs; else request whole cards of MindCluster alone");
}

void CheckForeignNames(const RuleContext& context, Findings& findings) {
  const PodTemplateView* pod = FirstForeign(context);
  if (pod == nullptr || pod->foreign->where != Where::kResource) return;
  const Shown shown = Show(*pod, *pod->foreign);
  findings.Violate(shown.path,
                   shown.what + " is a name of " + std::string(pod->foreign->owner) +
                       ", and MindCluster serves no NPUs under it" + std::string(kUntouched),
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

// Requests of NPUs in templates that controllers count before there is a Pod.

namespace {

// ascend-operator fills one for these (component/ascend-operator/pkg/ranktable/plugins.go).
constexpr schemas::KindSet kWithRankTables = schemas::kDeployments | schemas::kStatefulSets;

// OME fills what a service leaves out with what its runtime has.
bool IsInRuntime(const PodTemplateView& pod, const ContainerView& container,
                 std::string_view resource) {
  const ContainerView* twin = schemas::RuntimeTwin(pod, container);
  return twin != nullptr && std::any_of(twin->npus.begin(), twin->npus.end(), [&](const auto& npu) {
           return npu.resource == resource && npu.request != nullptr;
         });
}

// Nothing can be written into a template that is frozen, and its pods are made.
bool IsSettledBefore(const RuleContext& context) {
  return context.view.controller_injected || IsWrittenNoMore(context);
}

// Reports the NPUs of the template that only limits name; `effect` continues "stands under limits
// alone, and ".
void ReportLimitedOnly(const PodTemplateView& pod, std::string_view effect, Findings& findings) {
  for (const ContainerView& container : pod.containers) {
    if (container.role == ContainerView::Role::kInit) continue;
    for (const NpuRequest& npu : container.npus) {
      if (!npu.IsLimitedOnly() || IsInRuntime(pod, container, npu.resource)) continue;
      const schemas::Pointer requests{container.path, "/resources/requests"};
      findings.Violate(
          requests.Child(npu.resource),
          std::string(npu.resource) + " stands under limits alone, and " + std::string(effect),
          "write " + std::string(npu.resource) + ": " + std::to_string(*npu.count) +
              " under requests too");
    }
  }
}

// Whether its PodGroup asks for what the template requests.
bool IsCountedByRequests(const RuleContext& context, const PodTemplateView& pod) {
  return pod.pod_group &&
         context.view.pod_groups[*pod.pod_group].facts().counts == schemas::Counts::kRequests;
}

void CheckCounted(const RuleContext& context, Findings& findings) {
  if (IsSettledBefore(context)) return;
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.own_npus) continue;
    if (IsCountedByRequests(context, pod)) {
      if (!IsPlacedByVolcano(context, pod)) continue;
      ReportLimitedOnly(pod,
                        "Volcano's Job controller counts requests: the PodGroup asks for no NPUs, "
                        "no chips are chosen, and the pods never start",
                        findings);
    } else if (schemas::kAscendJobs.Has(context.view.kind)) {
      ReportLimitedOnly(pod,
                        "ascend-operator counts requests: it sees a job without NPUs, sets no "
                        "WORLD_SIZE, RANK or MASTER_ADDR, and the pods never train together",
                        findings);
    } else if (kWithRankTables.Has(context.view.kind) && schemas::WantsRankTable(context.view)) {
      ReportLimitedOnly(pod,
                        "ascend-operator counts requests: it never fills the rank table that the "
                        "pods wait for",
                        findings);
    }
  }
}

void CheckCountedByGroup(const RuleContext& context, Findings& findings) {
  if (IsSettledBefore(context)) return;
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.own_npus || !IsCountedByRequests(context, pod) || !IsPlacedByVolcano(context, pod)) {
      continue;
    }
    ReportLimitedOnly(pod,
                      "LeaderWorkerSet counts requests: with gang scheduling the PodGroup asks for "
                      "no NPUs, no chips are chosen, and the pods never start",
                      findings);
  }
}

// The plugin takes a job for one with NPUs by either, by the annotation from 26.1 on.
constexpr std::string_view kSchedulePlugin = "volcano.sh/schedule.plugin";
constexpr std::string_view kMinResources = "minResources";

void CheckMinResources(const RuleContext& context, Findings& findings) {
  const schemas::WorkloadView& view = context.view;
  const bool reads_plugin =
      !context.config.versions.IsBefore(schemas::Component::kMindCluster, {26, 1});
  if (!view.RequestsNpus() || (reads_plugin && view.annotations.Find(kSchedulePlugin) != nullptr)) {
    return;
  }
  const json::Value* scheduling =
      json::FindPath(*view.object, {"spec", "runPolicy", "schedulingPolicy"});
  const json::Value* resources = json::Find(scheduling, kMinResources);
  if (!json::IsObject(resources) || schemas::NamesNpus(resources)) return;
  const auto npu = std::ranges::find_if(view.templates, [&](const PodTemplateView& pod) {
    return pod.own_npus && !pod.chips.resource.empty() && IsPlacedByVolcano(context, pod);
  });
  if (npu == view.templates.end()) return;
  findings.Violate("/spec/runPolicy/schedulingPolicy/minResources",
                   "minResources names no NPUs, so Volcano handles these pods as pods without "
                   "NPUs: no chips are chosen, and the pods never start",
                   "write " + std::string(npu->chips.resource) +
                       " of all pods there, or leave minResources out for ascend-operator to fill "
                       "in");
}

constexpr Rule kStoredRequestRules[] = {
    {.id = "MG180",
     .name = "npu-requests-missing",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kVolcanoJobs | schemas::kAscendJobs | kWithRankTables,
     .summary =
         "Templates of Volcano Jobs and AscendJobs, and of Deployments and StatefulSets with "
         "a rank table, name their NPUs under requests too.",
     .why =
         "Kubernetes copies limits to requests in Pods alone. A template keeps what was written, "
         "and these controllers count its requests: the PodGroup of a Volcano Job asks for no "
         "NPUs, so the NPU plugin leaves the job alone; pods of an AscendJob get no WORLD_SIZE, "
         "and "
         "two of them the rank 0; the rank table of a Deployment is never filled. mindgate writes "
         "the requests where it injects.",
     .fix = "Write the same number under requests as under limits.",
     .source = "volcano: pkg/controllers/job/job_controller_util.go (CalcPGMinResources), "
               "pkg/controllers/util/util.go (CalTaskRequests); mind-cluster: "
               "component/ascend-operator/pkg/controllers/v1 (utils.go, pod.go, "
               "ascendjob_controller.go), component/ascend-for-volcano/plugin/job.go.",
     .check = CheckCounted},
    {.id = "MG181",
     .name = "npu-requests-missing-in-group",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kLeaderWorkerSets | schemas::kOmeKinds,
     .summary = "Leaders and workers name their NPUs under requests too.",
     .why = "With gang scheduling LeaderWorkerSet adds up the requests of the templates for the "
            "PodGroup, and nothing has copied limits to requests yet. A PodGroup that asks for no "
            "NPUs is left alone by the NPU plugin: no chips are chosen, and the device plugin "
            "refuses the pods. mindgate writes the requests where it injects.",
     .fix = "Write the same number under requests as under limits.",
     .source =
         "lws: pkg/utils/utils.go (CalculatePGMinResources); mind-cluster: "
         "component/ascend-for-volcano/plugin/job.go. Without a gang scheduler Volcano counts "
         "real Pods: therefore a warning.",
     .check = CheckCountedByGroup},
    {.id = "MG190",
     .name = "min-resources-without-npus",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "minResources of an AscendJob names the NPUs of its pods.",
     .why = "The NPU plugin takes a job for one with NPUs by minResources of its PodGroup, or by "
            "the annotation volcano.sh/schedule.plugin. ascend-operator copies minResources as the "
            "job has it: without NPUs there and without the annotation no chips are chosen, no "
            "fault is handled, and the device plugin refuses the pods.",
     .fix = "Leave minResources out, name the NPUs in it, or write the annotation.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go, "
               "docs/zh/scheduling/06_api/01_volcano.md (volcano.sh/schedule.plugin). "
               "MindCluster before 26.1 knows minResources alone.",
     .check = CheckMinResources},
};

}  // namespace

Family StoredRequestRules() { return kStoredRequestRules; }

}  // namespace mindgate::policies::chips
