#include "base/text.h"
#include "policies/chips/chips.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"
#include "schemas/placement.h"
#include "schemas/workload.h"

// Who places pods with NPUs, and what is missing where injection was declined.
namespace mindgate::policies::common {
namespace {

using json::Value;
using schemas::ContainerView;
using schemas::NpuResource;
using schemas::PodTemplateView;

constexpr std::string_view kSchedulerName = "schedulerName";

// Where the name stands that counts: the template's, else the job's.
std::string SchedulerPath(const RuleContext& context, const PodTemplateView& pod) {
  if (pod.job_scheduler.empty() || pod.pod_spec.Find(kSchedulerName) != nullptr) {
    return pod.pod_spec.path.Child(kSchedulerName);
  }
  return context.view.spec.path.Child(kSchedulerName);
}

void CheckMisspelled(const RuleContext& context, Findings& findings) {
  if (context.view.controller_injected) return;
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.RequestsNpus()) continue;
    const std::string_view scheduler = pod.SchedulerName();
    const auto meant = schemas::MeantScheduler(scheduler, context.config);
    if (!meant) continue;
    findings.Violate(SchedulerPath(context, pod),
                     "there is no scheduler " + Quote(scheduler) + ", did you mean " +
                         Quote(*meant) + "? No scheduler takes these pods, and they stay Pending",
                     WriteWord(kSchedulerName, *meant));
  }
}

void CheckScheduler(const RuleContext& context, Findings& findings) {
  if (context.view.controller_injected) return;
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.RequestsNpus()) continue;
    if (IsPlacedByVolcano(context, pod)) continue;
    // Its pods are made, and nobody may change that any more.
    if (IsWrittenNoMore(context) && IsLeftToDefault(context, pod)) continue;
    const std::string_view scheduler = pod.SchedulerName();
    if (scheduler.empty() && context.view.LacksRuntime()) {
      findings.Skip(std::string(kNeedsRuntime));
      continue;
    }
    const std::string_view shown = scheduler.empty() ? schemas::kDefaultScheduler : scheduler;
    findings.Violate(
        SchedulerPath(context, pod),
        "scheduler " + Quote(shown) +
            " places these NPU pods: no gang, no chip topology, no rescheduling after faults",
        "write schedulerName: " + context.config.scheduler);
  }
}

// The whole-card resource that the container asks for; empty when it asks for none, or for slices.
std::string_view WholeCardOf(const ContainerView& container) {
  std::string_view resource;
  for (const schemas::NpuRequest& npu : container.npus) {
    if (!npu.IsNpu()) continue;
    if (npu.kind != NpuResource::kWholeCard) return {};
    resource = npu.resource;
  }
  return resource;
}

void CheckMissingVariable(const RuleContext& context, Findings& findings) {
  const auto& view = context.view;
  if (view.controller_injected || !IsInjectionOff(context, "visible-devices")) return;
  for (const PodTemplateView& pod : view.templates) {
    if (!IsPlacedByVolcano(context, pod)) continue;
    if (chips::IsSoftShare(context, pod)) continue;
    for (const ContainerView& container : pod.containers) {
      const std::string_view resource = WholeCardOf(container);
      if (resource.empty() || container.visible_devices != nullptr) continue;
      // ascend-operator sets it in its main container, except in jobs of MindIE.
      if (view.framework == schemas::Framework::kAscendJob &&
          container.name == schemas::kAscendContainer) {
        continue;
      }
      const ContainerView* twin = schemas::RuntimeTwin(pod, container);
      if (twin != nullptr && twin->visible_devices != nullptr) continue;
      if (view.LacksRuntime()) {
        findings.Skip(std::string(kNeedsRuntime));
        continue;
      }
      findings.Violate(container.env.path.Text(),
                       "container " + Quote(container.name) +
                           " asks for NPUs but lacks ASCEND_VISIBLE_DEVICES: unless Ascend Device "
                           "Plugin sets it, Ascend Docker Runtime mounts no chips",
                       "write in env: {name: ASCEND_VISIBLE_DEVICES, valueFrom: {fieldRef: "
                       "{fieldPath: \"metadata.annotations['" +
                           std::string(resource) + "']\"}}}");
    }
  }
}

constexpr Rule kSchedulerRules[] = {
    {.id = "MG004",
     .name = "scheduler-misspelled",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "The scheduler of NPU pods is not a misspelling of Volcano's name.",
     .why = "Kubernetes accepts any name. Pods that name a scheduler that does not exist are "
            "seen by no scheduler: they stay Pending, without an Event.",
     .fix = "Write schedulerName: volcano, or the scheduler that mindgate.yaml names.",
     .source = "Kubernetes documentation: Configure Multiple Schedulers. Only near misses such as "
               "Volcano and vocano are refused; names that begin with volcano may be another "
               "instance, and scheduler-not-volcano reports the others.",
     .check = CheckMisspelled},
    {.id = "MG009",
     .name = "missing-visible-devices",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary =
         "Where Volcano places the pods and mindgate does not inject it, containers that ask "
         "for NPUs set ASCEND_VISIBLE_DEVICES themselves.",
     .why = "Ascend Docker Runtime mounts the chips that the variable names. Ascend Device Plugin "
            "sets it only when it runs with useAscendDocker, and only by reading the variable does "
            "it learn after a restart which chips a running pod holds.",
     .fix = "Write an entry ASCEND_VISIBLE_DEVICES in env with valueFrom.fieldRef.fieldPath: "
            "metadata.annotations['<requested resource>'], or let mindgate inject it.",
     .source =
         "mind-cluster: docs/zh/scheduling (whole-card scheduling), "
         "component/ascend-device-plugin/pkg/server/plugin.go (Allocate, "
         "GetRealAllocateDevicesFromEnv). The plugin's default works without: therefore a "
         "warning. Under other schedulers nobody writes the annotation, and the documents leave "
         "the variable out.",
     .check = CheckMissingVariable},
    {.id = "MG105",
     .name = "scheduler-not-volcano",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "Pods that ask for NPUs are placed by Volcano.",
     .why = "Gangs, chip topology, super pods and rescheduling after faults all live in Volcano's "
            "NPU plugin. Another scheduler counts chips and nothing else: after a fault nothing "
            "moves the pods.",
     .fix = "Write schedulerName: volcano, or leave it out for mindgate to fill in.",
     .source = "mind-cluster: component/ascend-for-volcano. Device plugin and runtime work with "
               "other schedulers: therefore a warning.",
     .check = CheckScheduler},
};

}  // namespace

Family SchedulerRules() { return kSchedulerRules; }

}  // namespace mindgate::policies::common
